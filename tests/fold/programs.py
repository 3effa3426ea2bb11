"""Small programs as text archives: prose, files, and the files that folding must make of them.

An archive starts with prose; `-- path --` starts a file, `-- want path --` what becomes of it. A
file without a `want` must stay as it is, byte for byte. With a section `-- rounds --` propagation
runs, too, as if every module of the archive that no rule removes were reachable.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from shrinker.cache import Cache
from shrinker.emit.rewrite import rewrite_file
from shrinker.facts.environment import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.program.propagation import find_needed, propagate_attributes
from shrinker.program.symbols.liveness import Outside
from shrinker.program.symbols.program import Program as Symbols
from shrinker.program.symbols.types import Types
from shrinker.ruleset import Ruleset
from shrinker.ruleset.load import load_rules
from shrinker.values.folded import FoldedModule
from shrinker.values.upstream import UpstreamTree, module_name
from tests.program.small_tree import tree_of
from tests.small import read_archive, write

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"

PREDICATES = """import os
from functools import lru_cache

import torch


@lru_cache(maxsize=1)
def is_cuda():
    return torch.cuda.is_available() and torch.version.cuda


@lru_cache(maxsize=1)
def is_hip() -> bool:
    return torch.version.hip is not None


@lru_cache(maxsize=1)
def is_npu() -> bool:
    return hasattr(torch, "npu")


def get_bool_env_var(name, default="false"):
    return os.getenv(name, default) in ("true", "1")
"""


@dataclass(frozen=True, slots=True)
class Program:
    """One archive."""

    name: str
    files: dict[str, str]
    wanted: dict[str, str]
    rescued: tuple[str, ...]
    rounds: bool


def read_program(path: Path) -> Program:
    """Parse an archive."""
    sections = {name: text.replace("<BOM>", "\ufeff") for name, text in read_archive(path).items()}
    rescued, rounds = (
        tuple(sections.pop("rescued", "").split()),
        sections.pop("rounds", None) is not None,
    )
    files, wanted = (
        {
            f"python/{name.removeprefix('want ')}": text
            for name, text in sections.items()
            if name.startswith("want ") is want
        }
        for want in (False, True)
    )
    return Program(path.stem, files, wanted, rescued, rounds)


def make_tree(folder: Path, files: dict[str, str]) -> UpstreamTree:
    """An upstream tree of these files, with the predicates of `PREDICATES` beside them."""
    package = {"__init__.py": "", "srt/__init__.py": "", "srt/utils.py": PREDICATES}
    return tree_of(
        write(folder, {f"python/sglang/{path}": text for path, text in package.items()} | files)
    )


@lru_cache(maxsize=1)
def program_rules() -> Ruleset:
    """The rules of the test world, read once: nothing changes them."""
    return load_rules([PROGRAMS / "rules.toml"])


def fold_tree(
    tree: UpstreamTree, rules: Ruleset, cache: Cache | None = None, *, rounds: bool = False
) -> tuple[dict[str, FoldedModule], tuple[str, ...]]:
    """Fold every module that no rule removes, in rounds if asked, as if all were kept; also the
    modules that were rescued.
    """
    environment = build_environment(tree, rules, jobs=1, cache=cache)
    with FoldEngine(tree, environment, jobs=1, cache=cache) as engine:
        while True:
            paths = [
                p for p in sorted(tree.by_path) if module_name(p) in engine.environment.outlines
            ]
            folded = {m.path: m for m in engine.fold(paths)}
            if engine.rescue(paths):
                continue
            if rounds:
                engine.refold(dict(find_needed(folded.values(), engine.refinements)))
                folded = {m.path: m for m in engine.fold(paths)}
                program = Symbols(folded.values(), ())
                live = [
                    (name, n)
                    for name, module in program.modules.items()
                    for n in range(len(module.units))
                ]
                propagate_attributes(
                    engine.refold, engine.refinements, folded, Types(program), Outside(rules), live
                )
                folded = {m.path: m for m in engine.fold(paths)}
            return folded, tuple(sorted(engine.rescued))


def rewrite(tree: UpstreamTree, module: FoldedModule) -> str:
    """The file as `emit` writes it, without its header line."""
    data = tree.read(module.path)
    return (rewrite_file(data, module.edits) if module.edits else data).decode()
