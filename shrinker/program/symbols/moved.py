"""What a search of symbols found, where some modules differ from those that it looked at by nothing but lines.

Nothing in a search depends on where something stands, but for which unit holds a line. So if the units of today's texts name
what they named, in the same order, a search today would find the same, at the lines of today.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shrinker.program.symbols.program import Module
from shrinker.program.symbols.removed_code import Site, merged_sites, module_sites, without_unit
from shrinker.program.symbols.saved import SymbolData, qualified
from shrinker.program.written import Written
from shrinker.values.edits import Span
from shrinker.values.folded import DynamicSite, FoldedModule, StringSite
from shrinker.values.units import Named, Unit
from shrinker.values.upstream import UpstreamTree

_MODULE = -1
"""What loading a module names."""
_NOWHERE = Span(0, 0, 0, 0)
_LINED = ("uses", "texts", "patterns", "lookups", "enumerates")
"""Fields of a unit that say where something is named."""


@dataclass(frozen=True, slots=True)
class Text:
    """One module as it was searched, and as it is."""

    before: FoldedModule
    now: FoldedModule


def moved_symbols(
    found: SymbolData, texts: Mapping[str, Text], tree: UpstreamTree, written: Written
) -> SymbolData | None:
    """What a search would find today.

    Args:
        found: by the search.
        texts: the modules whose texts differ, by path; the file graph follows the same from each.
        tree: upstream, with today's texts.
        written: imports of all of upstream.

    Returns:
        None where a search may find something else, or at a line that only a search can tell.
    """
    numbers = {name: number for number, (name, _) in enumerate(found.data["modules"])}
    others = {text: len(found.data["units"]) + number for number, text in enumerate(found.data["others"])}
    lines: dict[int, dict[int, int]] = {}
    for text in texts.values():
        name = text.now.module
        if name in numbers:
            moved = _moved_lines(text)
            if moved is None:
                return None
            start = _first_unit(found, numbers[name])
            lines |= {start + number: there for number, there in moved.items() if number != _MODULE}
            if f"module:{name}" in others:
                lines[others[f"module:{name}"]] = moved.get(_MODULE, {})
    data = dict(found.data)
    edges, data["best"] = _with_lines(found.edges, 4, 3, lines), _with_lines(data["best"], 3, 2, lines)
    if edges is None or data["best"] is None:
        return None
    data |= {"units": list(data["units"]), "gone": dict(data["gone"]), "inner": dict(data["inner"])}
    fresh: dict[str, list[tuple[str, Site]]] = {}
    for path, text in texts.items():
        name = text.now.module
        if name not in numbers:
            continue
        module = Module(text.now)
        names = {(name, n): qualified(module, n) for n in range(len(module.units))}
        start = _first_unit(found, numbers[name])
        live: list[str] = []
        for n, unit in enumerate(module.units):
            at, kind, _, _, _, parent, state = found.data["units"][start + n]
            data["units"][start + n] = [at, kind, names[name, n], unit.span.line, unit.span.end_line, parent, state]
            live.append(f"{name}.{names[name, n]}" if state else "")
        gone, inner = without_unit(tree, module, {path: text.now}, names)
        if [row[0] for row in gone] != [row[0] for row in data["gone"].get(name, ())]:
            # What sites are looked for of is another one everywhere.
            return None
        for table, rows in (("gone", gone), ("inner", inner)):
            data[table].pop(name, None)
            if rows:
                data[table][name] = rows
        fresh[path] = list(module_sites(tree, module, live, text.now, found.words, written))
    return replace(found, data=data, edges=edges, sites=merged_sites(found.sites, fresh))


def _first_unit(found: SymbolData, module: int) -> int:
    """Number of the first unit of a module; modules come in their order."""
    units = found.data["units"]
    low, high = 0, len(units)
    while low < high:
        middle = (low + high) // 2
        if units[middle][0] < module:
            low = middle + 1
        else:
            high = middle
    return low


def _moved_lines(text: Text) -> dict[int, dict[int, int]] | None:
    """Earlier lines to today's, by the unit that an edge starts from or `_MODULE`; None where the texts differ by more than lines."""
    before, now = text.before.units, text.now.units
    if (before.exports, before.fixed) != (now.exports, now.fixed) or len(before.units) != len(now.units):
        return None
    if [name for name, _ in before.entries] != [name for name, _ in now.entries]:
        return None
    pairs: dict[int, list[tuple[int, int]]] = {}
    for number, (was, unit) in enumerate(zip(before.units, now.units, strict=True)):
        if _without_lines(was) != _without_lines(unit):
            return None
        rows = list(zip(_lines(was), _lines(unit), strict=True))
        pairs.setdefault(number, []).extend(rows)
        if unit.kind == "base":
            # In a chain, it is the class that names its bases.
            pairs.setdefault(unit.parent, []).extend(rows)
        elif unit.kind == "import":
            pairs.setdefault(_MODULE, []).append((was.span.line, unit.span.line))
    for old, new in zip(_sites(text.before), _sites(text.now), strict=True):
        around = [n for n, unit in enumerate(before.units) if unit.span.line <= old <= unit.span.end_line]
        if around != [n for n, unit in enumerate(now.units) if unit.span.line <= new <= unit.span.end_line]:
            return None
        if (old <= 1) != (new <= 1):
            return None
        for number in around:
            pairs[number].append((old, new))
    lines: dict[int, dict[int, int]] = {}
    for source, rows in pairs.items():
        lines[source] = dict(rows)
        if any(lines[source][old] != new for old, new in rows):
            # What stood on one line stands on two: which of them an edge means only a search tells.
            return None
    return lines


def _without_lines(unit: Unit) -> tuple[object, ...]:
    named = (tuple(name for name, _ in _named(unit, field)) for field in _LINED)
    empty: dict[str, Any] = dict.fromkeys(_LINED, ())
    bare = replace(unit, span=_NOWHERE, lines=0, imports=(), **empty)
    return bare, *named, tuple(row[:2] for row in unit.imports)


def _lines(unit: Unit) -> Iterator[int]:
    yield unit.span.line
    for field in _LINED:
        yield from (line for _, line in _named(unit, field))
    yield from (line for _, _, line in unit.imports)


def _named(unit: Unit, field: str) -> tuple[Named, ...]:
    found: tuple[Named, ...] = getattr(unit, field)
    return found


def _sites(module: FoldedModule) -> list[int]:
    """Lines from which the file graph leads a search to a module; imports are units of their own."""
    sites: tuple[StringSite | DynamicSite, ...] = (*module.strings, *module.dynamic)
    return [site.line for site in sites]


def _with_lines(rows: Sequence[int], width: int, line: int, lines: Mapping[int, Mapping[int, int]]) -> list[int] | None:
    """Rows of numbers, a node first, with the lines of today; None where one is not known. 0 is no line."""
    out = list(rows)
    for at in range(0, len(out), width):
        there = lines.get(out[at])
        if there is not None and out[at + line]:
            new = there.get(out[at + line])
            if new is None:
                return None
            out[at + line] = new
    return out
