"""The form in which a search is saved for `why`: tables of strings, and flat rows of numbers.

Nodes are numbered: units first, then modules, then names that are looked up by name, then roots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shrinker.facts.outline import Outline
from shrinker.program.symbols.costs import cost_of
from shrinker.program.symbols.dead import Searched
from shrinker.program.symbols.lookups import Touch
from shrinker.program.symbols.program import Key, Module
from shrinker.program.symbols.reasons import Node, Reason
from shrinker.program.symbols.removed_code import Site, module_sites, without_unit
from shrinker.program.symbols.search import Search
from shrinker.program.ways import Ways
from shrinker.program.written import Written
from shrinker.values.graph import Graph
from shrinker.values.upstream import UpstreamTree

FORMAT = 3
LIVE, DEAD = 1, 0


_ROOTS = {"root:other files": 20, "root:entry point": 10, "root:code outside": 40}
"""What a chain costs before its first step: modules that people run come first, what only unknown code may call last."""


@dataclass(frozen=True, slots=True)
class SymbolData:
    """What a search of symbols found, ready for JSON; what removed files say of it is added by `symbol_data`."""

    data: Mapping[str, Any]
    """Everything but the sites."""
    edges: list[int]
    sites: Mapping[str, list[Site]]
    """Last part of the name of each removed symbol to code of kept files that named it, and that is gone."""
    targets: Mapping[str, str]
    """Dotted name of each removed symbol to its last part."""
    asked: Mapping[str, tuple[str, int] | None]
    """Public methods that nothing reached, to the first place in upstream that names one."""


def symbol_data(found: SymbolData, graph: Graph, written: Written) -> tuple[dict[str, Any], list[int]]:
    """What `shrinker.program.symbols.why` reads, ready for JSON: units and best chains, and all edges.

    Args:
        found: by the search.
        graph: of the files that stay.
        written: imports of all of upstream.
    """
    return {**found.data, "sites": _all_sites(found, graph, written)}, found.edges


def found_symbols(
    searched: Searched,
    tree: UpstreamTree,
    written: Written,
    roots: Mapping[str, int],
    outlines: Mapping[str, Outline],
) -> SymbolData:
    """What a search found.

    Args:
        searched: the search, after it ran.
        roots: what a chain costs that begins at one of them.
        tree: upstream.
        written: imports of all of upstream.
        outlines: of the modules that no rule removes.
    """
    search, folded = searched.search, searched.folded
    modules = sorted(search.program.modules)
    numbers: dict[Node, int] = {}
    units: list[list[Any]] = []
    names: dict[Key, str] = {}
    for at, name in enumerate(modules):
        module = search.program.modules[name]
        for number, unit in enumerate(module.units):
            key = (name, number)
            numbers[key] = len(units)
            names[key] = qualified(module, number)
            state = LIVE if key in search.live and name in search.loaded else DEAD
            units.append([at, unit.kind, names[key], unit.span.line, unit.span.end_line, unit.parent, state])
    edges = {**_trace(search), **search.edges}
    others = sorted({node for pair in edges for node in pair if node.__class__ is str})
    for text in others:
        numbers[text] = len(numbers)
    kinds = sorted({reason.kind for reason in edges.values()})
    kind_numbers = {kind: number for number, kind in enumerate(kinds)}
    size = len(numbers)
    # One number for a pair: integers are compared faster than what they stand for.
    pairs = [
        (numbers[source] * size + numbers[target], kind_numbers[reason.kind], reason.line)
        for (source, target), reason in edges.items()
    ]
    pairs.sort()
    rows = [number for pair, kind, line in pairs for number in (*divmod(pair, size), kind, line)]
    dead = {key for key in names if key not in search.live}
    nested = {name: without_unit(tree, search.program.modules[name], folded, names) for name in modules}
    gone = {name: rows for name, (rows, _) in nested.items() if rows}
    data = {
        "format": FORMAT,
        "modules": [[name, search.program.modules[name].path] for name in modules],
        "units": units,
        "others": others,
        "kinds": kinds,
        "best": _best(rows, [bool(unit[6]) for unit in units], _classes(units), others, kinds, _ROOTS | dict(roots)),
        "gone": gone,
        "imports": {name: _imports(outlines[name]) for name in modules if name in outlines},
        "inner": {name: inner for name, (_, inner) in nested.items() if inner},
    }
    words = {name for key in dead for name in search.program.unit(key).names}
    targets = {f"{key[0]}.{names[key]}": name for key in dead for name in search.program.unit(key).names}
    folded_away = {f"{name}.{row[0]}": row[0].rpartition(".")[2] for name, found in gone.items() for row in found}
    words |= set(folded_away.values())
    targets |= folded_away
    sites: dict[str, list[Site]] = {}
    for name in modules:
        module = search.program.modules[name]
        live = [f"{name}.{names[name, n]}" if (name, n) in search.live else "" for n in range(len(module.units))]
        for word, site in module_sites(tree, module, live, folded[module.path], words, written):
            sites.setdefault(word, []).append(site)
    return SymbolData(data, rows, sites, targets, dict(search.asked))


def _trace(search: Search) -> dict[tuple[Node, Node], Reason]:
    """What each unit that is not live names, after the search."""
    found: dict[tuple[Node, Node], Reason] = {}
    for name, module in search.program.modules.items():
        for number, unit in enumerate(module.units):
            key = (name, number)
            if key in search.live:
                continue
            owner = search.owner(key)
            for path, line in unit.uses:
                for touch in search.types.follow(name, owner, path, number).touches:
                    target = _target(touch)
                    if target is not None:
                        found.setdefault((key, target), Reason(key, "name", line))
            for text, line in unit.texts:
                found.setdefault((key, f"name:{text}"), Reason(key, "string", line))
            for source, imported, line in unit.imports:
                for touch in search.types.imported(source, imported).touches if imported != "*" else ():
                    target = _target(touch)
                    if target is not None:
                        found.setdefault((key, target), Reason(key, "import", line))
    return found


def _target(touch: Touch) -> Node | None:
    match touch.kind:
        case "unit" | "member" | "borrowed":
            return touch.module, touch.unit
        case "name":
            return f"name:{touch.name}"
    return None


def _imports(outline: Outline) -> list[list[Any]]:
    """Name, line and dotted origin of what a module of upstream imports for itself, in whichever branch; ``*`` for a star."""
    origins = ("", "__future__")
    bound = [(name, b) for name, found in outline.names.items() for b in found if b.module not in origins]
    bound += [("*", star) for star in outline.stars]
    return [[name, b.line, ".".join(filter(None, (b.module, b.name.strip("*"))))] for name, b in bound]


def _classes(units: Sequence[Sequence[Any]]) -> list[int]:
    """Number of the class around each unit; -1 where there is none."""
    found: list[int] = []
    start = 0
    for number, (module, _, _, _, _, parent, _) in enumerate(units):
        if not number or units[number - 1][0] != module:
            start = number
        around = start + parent if parent >= 0 else -1
        found.append(around if around < 0 or units[around][1] == "class" else found[around])
    return found


def _best(
    rows: Sequence[int],
    live: Sequence[bool],
    classes: Sequence[int],
    others: Sequence[str],
    kinds: Sequence[str],
    roots: Mapping[str, int],
) -> list[int]:
    """Source, kind and line of the last edge of the best chain from a root to each node; -1 for a root or what is not live.

    A member is there once its class is: before that has its chain, no chain goes by way of the member.
    """
    size = len(live)
    edges: dict[int, list[tuple[int, int, int]]] = {}
    for at in range(0, len(rows), 4):
        source, target, kind, line = rows[at : at + 4]
        if (source >= size or live[source]) and (target >= size or live[target]):
            edges.setdefault(source, []).append((target, kind, line))

    def out(node: int) -> Iterator[tuple[int, int, tuple[int, int]]]:
        found = edges.get(node, ())
        name = others[node - size] if node >= size else ""
        for target, kind, line in found:
            yield target, cost_of(kinds[kind], name, len(found)), (kind, line)

    def around(node: int) -> int | None:
        return classes[node] if node < size and classes[node] >= 0 else None

    starts = {size + n: roots.get(name, 0) for n, name in enumerate(others) if name.startswith("root:")}
    ways = Ways(starts, out, around)
    lasts = (ways.last.get(node) for node in range(size + len(others)))
    return [number for last in lasts for number in ((last[0], *last[1]) if last is not None else (-1, 0, 0))]


def qualified(module: Module, number: int) -> str:
    """Name of a unit in its module, with the classes around it; its line where it binds nothing."""
    parts: list[str] = []
    while number >= 0:
        unit = module.units[number]
        if unit.kind != "if" or not parts:
            parts.append(str(unit.span.line) if unit.kind == "main" else ",".join(unit.names) or str(unit.span.line))
        number = unit.parent
    return ".".join(reversed(parts))


def _all_sites(found: SymbolData, graph: Graph, written: Written) -> dict[str, list[Site]]:
    """The sites of kept files, then those of removed ones."""
    sites = {word: list(rows) for word, rows in found.sites.items()}
    targets = found.targets
    for path, imports in written.items():
        removal = graph.removed.get(path)
        if removal is None:
            continue
        for line, dotted in imports:
            if dotted in targets:
                fate = f"imported by a removed file ({removal.rule})"
                sites.setdefault(targets[dotted], []).append((path, line, fate, "", 1))
    for name, place in found.asked.items():
        if place is not None and (removal := graph.removed.get(place[0])) is not None:
            sites.setdefault(name, []).append((*place, f"named by a removed file ({removal.rule})", "", 1))
    return dict(sorted(sites.items()))


__all__ = ["FORMAT", "SymbolData", "found_symbols", "symbol_data"]
