"""Bases that kept classes lost: nothing that kept code looks up may have come from one."""

from __future__ import annotations

from collections.abc import Iterator

from shrinker.check.registry import Seen
from shrinker.check.resolve import Modules
from shrinker.check.symbols import ClassSymbols, ModuleSymbols
from shrinker.check.trees import Trees


def lost_bases(trees: Trees, seen: Seen) -> None:
    """Compare what the classes of both trees inherit from."""
    for symbols, upstream in trees.pairs():
        there = {each.name: each for each in symbols.classes}
        for each in upstream.classes:
            ours = there.get(each.name)
            if ours is None:
                continue
            for base in each.bases:
                if not base or base in ours.bases or base in each.foreign:
                    continue
                seen.look()
                if base in symbols.bound:
                    seen.find(symbols.path, 0, f"class {each.name} lost its base {base}, which is still there")
                    continue
                own = {name for name, _ in ours.members}
                for file, origin in _defined(upstream, base, trees.source_modules):
                    for name, line in origin.members:
                        if name not in own:
                            _miss(trees, seen, symbols.path, each.name, origin.name, name, f"{file.path}:{line}")


def _miss(trees: Trees, seen: Seen, path: str, heir: str, base: str, name: str, where: str) -> None:
    """What a class had from a base that is gone."""
    if name.startswith("__") and name.endswith("__"):
        seen.find(path, 0, f"class {heir} lost base {base}, which gave it {name} ({where})")
    elif missed := trees.families.look_up(name, heir.rpartition(".")[2]):
        seen.find(
            missed[0], missed[1].line, f"looks up {name!r}, which class {heir} had from its base {base} ({where})"
        )


def _defined(file: ModuleSymbols, name: str, upstream: Modules) -> Iterator[tuple[ModuleSymbols, ClassSymbols]]:
    """Classes of upstream that a base may be, by its last name, and what these inherit from."""
    seen: set[tuple[str, str]] = set()
    stack = [(file, name)]
    while stack:
        at, wanted = stack.pop()
        if (at.path, wanted) in seen:
            continue
        seen.add((at.path, wanted))
        for each in at.classes:
            if each.name == wanted:
                yield at, each
                stack += [(at, base) for base in each.bases if base]
        for _, module, imported in at.imports:
            if imported in (wanted, "*") and (source := upstream.symbols(module)) is not None:
                stack.append((source, wanted))
