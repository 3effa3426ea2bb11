"""The levels of `shrinker verify` that are asked for by name alone: *native*, which compiles for as long as a build takes to begin,
and *gpu*, which takes GPUs, checkpoints and an environment. `shrinker gpu-bundle`: what the latter needs, to carry there.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from shrinker.check.trees import Trees
    from shrinker.pipeline import Progress
    from shrinker.values.outcome import LevelResult

GPU_LEVEL, NATIVE_LEVEL = "gpu", "native"
_WORDS = "pack or unpack, and its options behind `--`: `-- pack --help` tells them."


def verify_on_gpus(out: Path, upstream: str | None, reports: Path | None, options: Sequence[str]) -> int:
    """Run `python -m equivalence.gpu`, with further options, for a tree and the upstream that it was made from; returns the exit code."""
    from equivalence.gpu.__main__ import main
    from shrinker.report.place import open_recorded, read_manifest

    if {"-h", "--help"} & set(options):
        main(["--help"])
    tree = open_recorded(out, read_manifest(out).upstream, upstream, lambda text: print(text, file=sys.stderr))
    given = ["--upstream", str(tree.root / "python"), "--generated", str(out.absolute() / "python")]
    given += ["--out", str(out.absolute().with_name(out.name + ".gpu"))]
    given += ["--reports", str(reports)] if reports else []
    return main([*given, *options])


def gpu_bundle(words: Annotated[list[str], typer.Argument(metavar="WORDS", help=_WORDS)]) -> None:
    """Pack wheels and folders for a machine without network into pieces, or unpack them there.

    Exit 1 when no wheel is found or a piece is not what was packed.
    """
    from equivalence.gpu.bundle import main

    raise typer.Exit(main(words))


def verify_native(trees: "Trees", progress: "Progress") -> "LevelResult":
    """Ask a compiler's front end about the kernel libraries of both trees. Raises InputError without nvcc, or without torch's headers."""
    from equivalence.levels.native import NativeSetting, run
    from equivalence.native.build import torch_headers
    from equivalence.native.frontend import Compiler, find_nvcc
    from shrinker.cache import Cache
    from shrinker.cache.identity import tool_identity
    from shrinker.source.cache import default_folder

    nvcc = find_nvcc()
    if not nvcc:
        raise InputError("no nvcc was found", "install a CUDA toolkit, or put its bin folder on the search path")
    folders = tuple(dict.fromkeys(rule.sources for rule in trees.stated.companions if rule.sources))
    with tempfile.TemporaryDirectory(prefix="shrinker-native-") as scratch:
        compiler = Compiler(nvcc, torch_headers(), Path(scratch))
        compiler.write_stubs()
        layer = Cache(default_folder().absolute()).layer("native", tool_identity("equivalence"))
        setting = NativeSetting(compiler, folders, layer, progress.note, trees.jobs)
        return run(trees.source.root, trees.out.absolute(), setting)
