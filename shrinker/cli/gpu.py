"""`shrinker verify --level gpu`: both servers on this machine's GPUs; `shrinker gpu-bundle`: what they need, to carry there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

GPU_LEVEL = "gpu"
"""Not among the levels that run on every machine: it takes GPUs, checkpoints and an environment."""


def verify_on_gpus(out: Path, upstream: str | None, reports: Path | None, options: Sequence[str]) -> int:
    """Run `python -m equivalence.gpu` for a generated tree and the upstream that it was made from.

    Args:
        options: those of that command; `--upstream`, `--generated` and `--out` (`OUT.gpu`) are given already.

    Returns:
        The exit code.
    """
    from equivalence.gpu.__main__ import main
    from shrinker.cli.places import open_recorded, read_manifest

    if {"-h", "--help"} & set(options):
        main(["--help"])
    manifest = read_manifest(out)
    tree = open_recorded(out, manifest.upstream, upstream, lambda text: print(text, file=sys.stderr))
    given = ["--upstream", str(tree.root / "python"), "--generated", str(out.absolute() / "python")]
    given += ["--out", str(out.absolute().with_name(out.name + ".gpu"))]
    given += ["--reports", str(reports)] if reports else []
    return main([*given, *options])


def gpu_bundle(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORDS", help="pack or unpack, and its options behind `--`: `-- pack --help` tells them."
        ),
    ],
) -> None:
    """Pack wheels and folders for a machine without network into pieces, or unpack them there.

    Exit 1 when no wheel is found or a piece is not what was packed.
    """
    from equivalence.gpu.bundle import main

    raise typer.Exit(main(words))
