"""Bases that kept classes lost: nothing that kept code looks up may have come from one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from shrinker.check.families import Families
from shrinker.check.resolve import Modules
from shrinker.check.symbols import ClassSymbols, ModuleSymbols
from shrinker.values.outcome import Finding

_Place = tuple[ModuleSymbols, ClassSymbols]


def lost_bases(
    kept: Collection[ModuleSymbols], before: Mapping[str, ModuleSymbols], upstream: Modules, families: Families
) -> tuple[int, list[Finding]]:
    """Compare what the classes of both trees inherit from.

    Args:
        kept: every file of the generated tree.
        before: by path, upstream's symbols of each of these files that is not as upstream wrote it.
        upstream: its modules, where the bases are looked for.
        families: of `kept`.

    Returns:
        How many bases of the tree went from classes that stay, and what kept code would miss.
    """
    count = 0
    found: list[Finding] = []
    for symbols in kept:
        theirs = before.get(symbols.path)
        if theirs is None:
            continue
        there = {each.name: each for each in symbols.classes}
        for each in theirs.classes:
            ours = there.get(each.name)
            if ours is None:
                continue
            for base in each.bases:
                if not base or base in ours.bases or base in each.foreign:
                    continue
                count += 1
                if base in symbols.bound:
                    message = f"class {each.name} lost its base {base}, which is still there"
                    found.append(Finding("bases", symbols.path, 0, message))
                    continue
                own = {name for name, _ in ours.members}
                for file, origin in _defined(theirs, base, upstream):
                    found += _missed(symbols.path, each, own, file, origin, families)
    return count, found


def _missed(
    path: str, heir: ClassSymbols, own: Collection[str], file: ModuleSymbols, base: ClassSymbols, families: Families
) -> Iterator[Finding]:
    for name, line in base.members:
        if name in own:
            continue
        where = f"{file.path}:{line}"
        if name.startswith("__") and name.endswith("__"):
            yield Finding("bases", path, 0, f"class {heir.name} lost base {base.name}, which gave it {name} ({where})")
        elif missed := families.look_up(name, heir.name.rpartition(".")[2]):
            message = f"looks up {name!r}, which class {heir.name} had from its base {base.name} ({where})"
            yield Finding("bases", missed[0], missed[1].line, message)


def _defined(file: ModuleSymbols, name: str, upstream: Modules) -> Iterator[_Place]:
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
