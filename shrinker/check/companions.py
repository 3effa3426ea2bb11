"""Packages that travel beside the served one: what kept code imports of them is there."""

from __future__ import annotations

from collections.abc import Iterable

from shrinker.check.registry import Seen
from shrinker.check.resolve import Modules
from shrinker.check.trees import Trees
from shrinker.syntax.imports import absolute, package_of
from shrinker.values.upstream import PACKAGE_PREFIX

_INIT = "/__init__.py"


def lost_imports(trees: Trees, seen: Seen) -> None:
    """Imports of these packages that find nothing here and do in upstream."""
    here, there = _dotted(trees.python), _dotted(trees.source.by_path)
    ours = Modules(trees.out, here, {symbols.path: symbols for symbols in trees.kept}, here.get)
    theirs = Modules(trees.source.root, there, dotted=there.get)
    packages = {name.partition(".")[0] for name in here.values()}
    for symbols in trees.kept:
        own = here.get(symbols.path)
        for line, level, written, name in symbols.outside:
            module = written
            if level:
                if own is None:
                    continue
                module = absolute(written, level, package_of(own, symbols.path.endswith(_INIT)))
            if module.partition(".")[0] in packages and module in theirs:
                seen.look()
                if not ours.imports(module, name) and theirs.imports(module, name):
                    what = module if name is None else f"{module}.{name}"
                    seen.find(symbols.path, line, f"nothing in this tree is {what}")


def _dotted(paths: Iterable[str]) -> dict[str, str]:
    """Dotted name of each module of such a package; files in folders that are no packages belong to none."""
    python = [path for path in paths if path.endswith(".py") and not path.startswith(PACKAGE_PREFIX)]
    packages = {path.removesuffix(_INIT) for path in python if path.endswith(_INIT)}
    found: dict[str, str] = {}
    for path in python:
        top = folder = path.rpartition("/")[0]
        while top.rpartition("/")[0] in packages:
            top = top.rpartition("/")[0]
        if folder in packages:
            around = top.rpartition("/")[0]
            found[path] = path.removesuffix(_INIT).removesuffix(".py").removeprefix(f"{around}/").replace("/", ".")
    return found
