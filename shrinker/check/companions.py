"""Packages that travel beside the served one: what kept code imports of them is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shrinker.check.reader import read_symbols
from shrinker.check.registry import Seen
from shrinker.check.symbols import ModuleSymbols
from shrinker.check.trees import Trees
from shrinker.syntax.imports import absolute, package_of
from shrinker.values.upstream import PACKAGE_PREFIX

_INIT = "__init__.py"


@dataclass(frozen=True)
class Companions:
    """The modules of these packages in one tree.

    Symbols of a file are read when a question needs them.
    """

    root: Path
    files: Mapping[str, str]
    """Path by dotted name."""
    known: Mapping[str, ModuleSymbols]

    @staticmethod
    def of(root: Path, paths: Iterable[str], known: Iterable[ModuleSymbols] = ()) -> Companions:
        """Of all paths of a tree; files in folders that are no packages belong to none."""
        python = [path for path in paths if path.endswith(".py") and not path.startswith(PACKAGE_PREFIX)]
        packages = {path.rpartition("/")[0] for path in python if path.endswith(f"/{_INIT}")}
        files: dict[str, str] = {}
        for path in python:
            folder = path.rpartition("/")[0]
            if folder not in packages:
                continue
            top = folder
            while top.rpartition("/")[0] in packages:
                top = top.rpartition("/")[0]
            start = len(top.rpartition("/")[0]) + 1 if "/" in top else 0
            files[path[start:].removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = path
        return Companions(root, files, {symbols.path: symbols for symbols in known})

    @cached_property
    def names(self) -> frozenset[str]:
        """Of the packages themselves."""
        return frozenset(dotted.partition(".")[0] for dotted in self.files)

    def gives(self, module: str, name: str | None) -> bool:
        """True when an import of this name of this module finds something, as far as one can tell."""
        path = self.files.get(module)
        if path is None:
            return False
        if name is None or name == "*" or f"{module}.{name}" in self.files:
            return True
        symbols = self.known.get(path) or read_symbols(self.root / path, path)
        return name in symbols.bound or bool(symbols.stars or symbols.dynamic or symbols.open or symbols.error)

    def dotted(self, path: str) -> str | None:
        """Name of the module of a file; None for one of no such package."""
        return self._dotted.get(path)

    @cached_property
    def _dotted(self) -> dict[str, str]:
        return {path: dotted for dotted, path in self.files.items()}


def lost_imports(trees: Trees, seen: Seen) -> None:
    """Imports of these packages that find nothing here and do in upstream."""
    generated = Companions.of(trees.out, trees.python, trees.kept)
    upstream = Companions.of(trees.source.root, trees.source.by_path)
    for symbols in trees.kept:
        own = generated.dotted(symbols.path)
        for line, level, written, name in symbols.outside:
            module = written
            if level:
                if own is None:
                    continue
                module = absolute(written, level, package_of(own, symbols.path.endswith(f"/{_INIT}")))
            if module.partition(".")[0] in generated.names and module in upstream.files:
                seen.look()
                if not generated.gives(module, name) and upstream.gives(module, name):
                    what = module if name is None else f"{module}.{name}"
                    seen.find(symbols.path, line, f"nothing in this tree is {what}")
