"""What would leave with something: `shrinker explain --retained`."""

from __future__ import annotations

from collections.abc import Iterable

from shrinker.report.explain.generated import Answer, Generated, several, without
from shrinker.report.retained import Retained
from shrinker.values.errors import InputError

_MOST = 12
"""Rows of a list."""


def leaving_rule(tree: Generated, rule: str) -> Answer:
    """What leaves with a rule that names roots.

    Raises:
        InputError: the rule names none.
    """
    found = Retained(tree.data, tree.lines)
    paths = found.with_rule(rule)
    if not paths:
        raise InputError(f"rule {rule} alone keeps no file", f"ask `shrinker ablate {rule}` what it does")
    return Answer(rule, "leaves", tuple(_files(tree, paths)), without(rule))


def leaving(tree: Generated, kept: Answer) -> Answer:
    """What leaves with something that is kept: a folder, a file, or a definition.

    Raises:
        InputError: it is something else, or the run looked at modules only.
    """
    place = kept.upstream
    if place.endswith("/") or place in tree.lines:
        inside = [path for path in tree.lines if path == place or (place.endswith("/") and path.startswith(place))]
        paths = Retained(tree.data, tree.lines).with_paths(inside)
        units = [n for n, _, _, path in tree.symbols.units() if path in set(paths)] if tree.symbols else []
        because = [*_files(tree, paths), *_units(tree, units, paths)]
        change = "a [[remove]] rule that names it, or taking out what is listed by `shrinker explain`"
        return Answer(kept.subject, "leaves", tuple(because), change, kept.upstream, kept.generated)
    if tree.symbols is None or not (found := [n for n in tree.symbols.find(kept.subject) if tree.symbols.is_live(n)]):
        raise InputError(f"{kept.subject} is no file, folder, rule or definition", "ask for what imports or defines it")
    because = [*_units(tree, found, ())]
    return Answer(kept.subject, "leaves", tuple(because), kept.change, kept.upstream, kept.generated)


def _files(tree: Generated, paths: list[str]) -> Iterable[str]:
    yield f"{several(len(paths), 'file')}, {several(sum(tree.lines[path] for path in paths), 'line')}"
    yield from _largest([(tree.lines[path], path) for path in paths] if len(paths) > 1 else [])


def _units(tree: Generated, cut: list[int], besides: Iterable[str]) -> Iterable[str]:
    """Definitions and statements, but for those of files that leave as a whole."""
    symbols, whole = tree.symbols, frozenset(besides)
    if symbols is None:
        return
    gone = set(symbols.leaving(cut))
    found = [
        (symbols.lines(n), f"{path}:{symbols.line(n)}  {name}")
        for n, kind, name, path in symbols.units()
        if n in gone and path not in whole and symbols.owner(n) not in gone and kind != "import"
    ]
    if found:
        where = "in files that stay, " if whole else ""
        lines = sum(count for count, _ in found)
        yield f"{where}{several(lines, 'line')} of upstream, {several(len(found), 'place')}"
        yield from _largest(found)


def _largest(rows: list[tuple[int, str]]) -> Iterable[str]:
    """Lines and what has them, the most first."""
    ordered = sorted(rows, key=lambda row: (-row[0], row[1]))
    yield from (f"{count:>7,}  {place}" for count, place in ordered[:_MOST])
    if len(rows) > _MOST:
        yield f"… {len(rows) - _MOST:,} more"
