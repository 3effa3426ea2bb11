"""The level *native* of `shrinker verify`: asked for by name alone, since it compiles for as long as a build takes to begin."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shrinker.pipeline import Progress
    from shrinker.values.manifest import Manifest
    from shrinker.values.outcome import LevelResult
    from shrinker.values.upstream import UpstreamTree

NATIVE_LEVEL = "native"


def verify_native(tree: UpstreamTree, out: Path, manifest: Manifest, jobs: int, progress: Progress) -> LevelResult:
    """Ask a compiler's front end about the kernel libraries of both trees.

    Raises:
        InputError: there is no nvcc, or no environment with torch's headers.
    """
    from equivalence.levels.native import NativeSetting, run
    from equivalence.native.frontend import Compiler, find_nvcc
    from equivalence.native.headers import torch_headers
    from shrinker.cache import Cache
    from shrinker.cache.identity import tool_identity
    from shrinker.cli.places import recorded_rules
    from shrinker.source.cache import default_folder
    from shrinker.values.errors import InputError

    nvcc = find_nvcc()
    if not nvcc:
        raise InputError("no nvcc was found", "install a CUDA toolkit, or put its bin folder on the search path")
    rules = recorded_rules(manifest)
    folders = tuple(dict.fromkeys(rule.sources for rule in (rules.companions if rules else ()) if rule.sources))
    with tempfile.TemporaryDirectory(prefix="shrinker-native-") as scratch:
        compiler = Compiler(nvcc, torch_headers(), Path(scratch))
        compiler.write_stubs()
        layer = Cache(default_folder().absolute()).layer("native", tool_identity("equivalence"))
        return run(tree.root, out.absolute(), NativeSetting(compiler, folders, layer, progress.note, jobs))
