"""The form in which a search is saved for `why`: tables of strings, and flat rows of numbers.

Nodes are numbered: units first, then modules, then names that are looked up by name, then roots.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from shrinker.graph.symbols.costs import cost_of
from shrinker.graph.symbols.dead import Searched
from shrinker.graph.symbols.program import Key, Module
from shrinker.graph.symbols.reasons import Node
from shrinker.graph.symbols.result import trace
from shrinker.graph.written import Written
from shrinker.values.edits import DropStatement
from shrinker.values.folded import Decision, FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import UpstreamTree

FORMAT = 2
LIVE, DEAD = 1, 0
_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNED = re.compile(r"^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST = 4
"""Places in one file where removed code names one removed symbol."""

Site = tuple[str, int, str, str, int]
"""Path and line of code of upstream that named a removed symbol, what became of it, the kept symbol around it, and 1 where what is
defined elsewhere may be meant: the file imports the name, or reads it from something."""


NO_SYMBOLS: tuple[dict[str, Any], list[int]] = ({"format": FORMAT, "units": []}, [])
"""Of a run that looked at modules only."""
_ROOTS = {"root:other files": 20, "root:entry point": 10, "root:code outside": 40}
"""The same of a root: modules that people run come first, what only unknown code may call last."""


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
    words: frozenset[str]
    """Last parts of the names of all that is dead or was folded away: what sites are looked for of."""


def symbol_data(found: SymbolData, graph: Graph, written: Written) -> tuple[dict[str, Any], list[int]]:
    """What `shrinker.graph.symbols.why` reads, ready for JSON: units and best chains, and all edges.

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
    earlier: SymbolData | None = None,
    alike: Collection[str] = (),
) -> SymbolData:
    """What a search found.

    Args:
        searched: the search, after it ran.
        tree: upstream.
        written: imports of all of upstream.
        earlier: what another search found.
        alike: dotted names of the modules that this one looked at, too, and that were the same then.
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
    edges = {**trace(search), **search.edges}
    others = sorted({n for pair in edges for n in pair if isinstance(n, str)})
    for text in others:
        numbers[text] = len(numbers)
    kinds = sorted({reason.kind for reason in edges.values()})
    rows: list[int] = []
    for (source, target), reason in sorted(edges.items(), key=lambda item: (numbers[item[0][0]], numbers[item[0][1]])):
        rows += (numbers[source], numbers[target], kinds.index(reason.kind), reason.line)
    dead = {key for key in names if key not in search.live}
    nested = {
        name: (earlier.data["gone"].get(name, []), earlier.data["inner"].get(name, []))
        if earlier is not None and name in alike
        else without_unit(tree, search.program.modules[name], folded, names)
        for name in modules
    }
    gone = {name: rows for name, (rows, _) in nested.items() if rows}
    data = {
        "format": FORMAT,
        "modules": [[name, search.program.modules[name].path] for name in modules],
        "units": units,
        "others": others,
        "kinds": kinds,
        "best": _best(rows, [bool(unit[6]) for unit in units], _classes(units), others, kinds),
        "gone": gone,
        "inner": {name: inner for name, (_, inner) in nested.items() if inner},
    }
    words = {name for key in dead for name in search.program.unit(key).names}
    targets = {f"{key[0]}.{names[key]}": name for key in dead for name in search.program.unit(key).names}
    folded_away = {f"{name}.{row[0]}": row[0].rpartition(".")[2] for name, found in gone.items() for row in found}
    words |= set(folded_away.values())
    targets |= folded_away
    found: dict[str, list[Site]] = {}
    for name in modules:
        module = search.program.modules[name]
        live = [f"{name}.{names[name, n]}" if (name, n) in search.live else "" for n in range(len(module.units))]
        for word, site in module_sites(tree, module, live, folded[module.path], words, written):
            found.setdefault(word, []).append(site)
    return SymbolData(data, rows, found, targets, dict(search.asked), frozenset(words))


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
    rows: Sequence[int], live: Sequence[bool], classes: Sequence[int], others: Sequence[str], kinds: Sequence[str]
) -> list[int]:
    """Source, kind and line of the last edge of the best chain from a root to each node; -1 for a root or what is not live.

    A member is there once its class is: before that has its chain, no chain goes by way of the member.
    """
    size = len(live)
    out: dict[int, list[tuple[int, int, int]]] = {}
    for at in range(0, len(rows), 4):
        source, target, kind, line = rows[at : at + 4]
        if (source >= size or live[source]) and (target >= size or live[target]):
            out.setdefault(source, []).append((target, kind, line))
    known = {size + n: _ROOTS.get(name, 0) for n, name in enumerate(others) if name.startswith("root:")}
    queue = [(cost, node, -1, 0, 0) for node, cost in known.items()]
    heapify(queue)
    best = [-1, 0, 0] * (size + len(others))
    settled: set[int] = set()
    waiting: dict[int, list[tuple[int, int, int, int, int]]] = {}
    while queue or waiting:
        if not queue:
            # Nothing else names these classes: their members do.
            queue = [row for rows in waiting.values() for row in rows]
            heapify(queue)
            waiting.clear()
            classes = [-1] * size
        cost, node, *last = heappop(queue)
        if node in settled:
            continue
        around = classes[node] if node < size else -1
        if around >= 0 and around not in settled:
            waiting.setdefault(around, []).append((cost, node, last[0], last[1], last[2]))
            continue
        settled.add(node)
        best[3 * node : 3 * node + 3] = last
        for held in waiting.pop(node, ()):
            heappush(queue, (max(cost, held[0]), *held[1:]))
        edges = out.get(node, ())
        for target, kind, line in edges:
            if target in settled:
                continue
            whole = cost + cost_of(kinds[kind], others[node - size] if node >= size else "", len(edges))
            # Node numbers follow the names, and so does the choice between equals.
            if whole < known.get(target, whole + 1):
                known[target] = whole
                heappush(queue, (whole, target, node, kind, line))
    return best


def qualified(module: Module, number: int) -> str:
    """Name of a unit in its module, with the classes around it; its line where it binds nothing, ``Class(Base)`` for a base."""
    base = module.units[number]
    if base.kind == "base":
        return f"{qualified(module, base.parent)}({','.join(base.value)})"
    parts: list[str] = []
    while number >= 0:
        unit = module.units[number]
        if unit.kind != "if" or not parts:
            parts.append(str(unit.span.line) if unit.kind == "main" else ",".join(unit.names) or str(unit.span.line))
        number = unit.parent
    return ".".join(reversed(parts))


def without_unit(
    tree: UpstreamTree, module: Module, folded: Mapping[str, FoldedModule], names: Mapping[Key, str]
) -> tuple[list[list[Any]], list[str]]:
    """Definitions of a kept module that are no units.

    Returns:
        Those that folding or a rule removed: name, line, last line, rule and what was decided; and the names of those that
        stay or go with the unit around them: a class in the body of a class, and what that defines.
    """
    known = {names[module.name, n] for n in range(len(module.units))}
    gone: list[list[Any]] = []
    inner: list[str] = []
    cut = [e.span for e in folded[module.path].edits if isinstance(e, DropStatement)]
    decisions = folded[module.path].decisions
    text = tree.read(module.path).decode("utf-8", "replace")
    for name, line, nested in _definitions(text):
        if name in known:
            continue
        if nested and name.partition(".")[0] in known and not any(s.line <= line <= s.end_line for s in cut):
            inner.append(name)
        elif (near := _deciding(decisions, line)) is not None:
            gone.append([name, line, near.last if near.line == line else line, *_decided(near)])
    if decisions:
        # A text over several lines may hold what looks like an assignment: only what is gone is one.
        for name, line in _assigned(text):
            if name not in known and (around := _around_line(decisions, line)) is not None:
                gone.append([name, line, line, *_decided(around)])
    return gone, sorted(set(inner))


def _decided(decision: Decision) -> tuple[str, str]:
    return decision.rule, f"`{decision.text}` is {decision.outcome} (line {decision.line})"


def _assigned(text: str) -> Iterator[tuple[str, int]]:
    """Names and lines of what is assigned at the start of a line."""
    line, at = 1, 0
    for match in _ASSIGNED.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match[1], line


def _definitions(text: str) -> Iterator[tuple[str, int, bool]]:
    """Qualified names, lines and whether a class in a class is around it or meant, but for definitions inside functions."""
    around: list[tuple[int, str, str]] = []
    line, at = 1, 0
    for match in _DEFINITION.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        indent, kind, name = len(match[1].expandtabs()), match[2], match[3]
        while around and around[-1][0] >= indent:
            around.pop()
        if all(k == "class" for _, k, _ in around):
            classes = len(around) + (kind == "class")
            yield ".".join([*(n for _, _, n in around), name]), line, classes > 1
        around.append((indent, kind, name))


def _deciding(decisions: Sequence[Decision], line: int) -> Decision | None:
    """The decision that removed a line: around it, or else the last at or above it."""
    return _around_line(decisions, line) or _near(decisions, line)


def _around_line(decisions: Sequence[Decision], line: int) -> Decision | None:
    """Of the decisions by which a line went, the one by which the fewest did."""
    around = (d for d in decisions if d.first <= line <= d.last)
    return min(around, key=lambda d: (d.last - d.first, d.line), default=None)


def _near(decisions: Sequence[Decision], line: int) -> Decision | None:
    """The last decision at or above a line."""
    rows = sorted(decisions, key=lambda d: d.line)
    at = bisect_right([d.line for d in rows], line) - 1
    return rows[at] if at >= 0 else None


def module_sites(
    tree: UpstreamTree, module: Module, live: Sequence[str], before: FoldedModule, words: Set[str], written: Written
) -> Iterator[tuple[str, Site]]:
    """Code of a kept module that named a removed symbol in upstream, and that is gone.

    Args:
        tree: upstream.
        module: the module.
        live: dotted name of each of its units, empty for one that is not live.
        before: the folded module, before anything was dropped from it.
        words: last parts of the names of removed symbols.
        written: imports of all of upstream.

    Yields:
        The last part of a name, and the site.
    """
    if not before.edits:
        return
    imported = {dotted.rpartition(".")[2] for _, dotted in written.get(module.path, ())}
    counts: Counter[str] = Counter()
    for number, content in _cut_lines(tree.read(module.path).decode("utf-8", "replace"), before):
        asked = words & set(_WORD.findall(content))
        counts.update(asked)
        asked = {word for word in asked if counts[word] <= _MOST}
        if not asked:
            continue
        near = _deciding(before.decisions, number)
        fate = f"folded away by {near.rule}: `{near.text}` is {near.outcome}" if near else "folded away"
        around = _around(module, live, number)
        for word in asked:
            elsewhere = int(word in imported or f".{word}" in content)
            yield word, (module.path, number, fate, around, elsewhere)


def _cut_lines(text: str, folded: FoldedModule) -> Iterator[tuple[int, str]]:
    """Number and text of the lines that folding touched, but for comments."""
    removed = {n for e in folded.edits for n in range(e.span.line, e.span.end_line + 1)}
    for number, content in enumerate(text.split("\n"), 1):
        if number in removed and not content.lstrip().startswith("#"):
            yield number, content


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


def spelled(text: str, folded: FoldedModule) -> str:
    """All that `found_symbols` reads in the text of a file, in one text.

    Args:
        text: of a kept module.
        folded: that module, before anything was dropped from it.
    """
    return repr((list(_definitions(text)), list(_assigned(text)), list(_cut_lines(text, folded))))


def _around(module: Module, live: Sequence[str], line: int) -> str:
    """The innermost live unit around a line."""
    inner = ""
    for unit, name in zip(module.units, live, strict=True):
        if unit.span.line <= line <= unit.span.end_line and name:
            inner = name
    return inner


__all__ = ["FORMAT", "NO_SYMBOLS", "SymbolData", "found_symbols", "spelled", "symbol_data"]
