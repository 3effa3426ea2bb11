"""The form in which a search is saved for `why`, with what of upstream's text is no unit:
definitions that folding or a rule removed, and code that is gone and named something.

Nodes are numbered: units first, then modules, then names that are looked up by name, then roots.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from shrinker.facts.outline import Outline
from shrinker.program.decided import around, deciding, folded_away, told
from shrinker.program.symbols.liveness import Node
from shrinker.program.symbols.program import Module
from shrinker.program.symbols.search import Search
from shrinker.program.symbols.units import Unit, each_name
from shrinker.program.symbols.why import FORMAT
from shrinker.program.ways import Ways, cost_of
from shrinker.program.written import Written
from shrinker.ruleset import Ruleset
from shrinker.values.folded import Folded, FoldedModule, Symbol
from shrinker.values.graph import Graph
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, enclosing

_ASIDE, _API = 60, 40
_ROOTS = {"root:other files": 20, "root:entry point": 10, "root:code outside": _API}
"""What a chain costs before its first step: modules that people run come first, then what only
unknown code may call, then programs beside the server.
"""

_BOUND = re.compile(
    r"^(?:(?P<indent>[ \t]*)(?:async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>\w+)|"
    r"(?P<assigned>[A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST = 4
"""Places in one file where removed code names one removed symbol."""

Gone = tuple[str, str, int, int, str, str]
"""Module, name in it, line, last line, rule, and what was decided."""
Site = tuple[str, int, str, str, str]
"""Path and line of code of upstream that named a removed symbol, what became of it, the kept symbol
around it, and by which name something that is defined elsewhere may be meant: as the file imports
it, ``.`` where it is read from something.
"""


def found_symbols(
    search: Search,
    folded: Folded,
    tree: UpstreamTree,
    graph: Graph,
    written: Written,
    outlines: Mapping[str, Outline],
) -> tuple[Mapping[str, Any], Sequence[tuple[int, ...]]]:
    """Return what a search found that ran, ready for JSON (units, best chains, and what of the text
    is no unit), and what names what: source, target, kind and line, sorted. From here on it knows
    of what removed code names, too. `folded` has every module that it was made in, by path, with
    its units: before anything was dropped; the graph is of files that stay, the outlines are of
    modules that no rule removes.
    """
    live = frozenset(search.live)
    reasons = {**search.edges, **search.from_removed()}
    modules = dict(sorted(search.program.modules.items()))
    numbers: dict[Node, int] = {}
    units: list[Unit] = []
    for at, (name, module) in enumerate(modules.items()):
        for key, unit in module.keyed:
            numbers[key] = len(units)
            owner, place = (
                numbers.get((name, unit.parent), -1),
                (unit.span.line, unit.span.end_line),
            )
            units.append(
                Unit(
                    at, unit.kind, f"{name}.{_qualified(module, unit)}", *place, owner, key in live
                )
            )
    others = sorted({node for pair in reasons for node in pair if isinstance(node, str)})
    numbers |= {node: len(units) + n for n, node in enumerate(others)}
    kinds = sorted({reason.kind for reason in reasons.values()})
    kind_at = {kind: number for number, kind in enumerate(kinds)}
    edges = sorted(
        (numbers[source], numbers[target], kind_at[reason.kind], reason.line)
        for (source, target), reason in reasons.items()
    )
    known = {name for unit in units for name in each_name(unit.name)}
    texts = [
        (tree.read(m.path).decode("utf-8", "replace"), folded[m.path]) for m in modules.values()
    ]
    besides = [_without_unit(text, before, known) for text, before in texts]
    gone = [one for found, _ in besides for one in found]
    dropped = {name for unit in units if not unit.live for name in each_name(unit.name)}
    dropped |= {f"{module}.{name}" for module, name, *_ in gone}
    words = {name.rpartition(".")[2] for name in dropped}
    own = grouped((unit.module, unit) for unit in units)
    inside = (
        _module_sites(*text, own.get(at, ()), words, written) for at, text in enumerate(texts)
    )
    sites = grouped(chain(*inside, _outside_sites(graph, written, dropped, search.asked)))
    data = {
        "format": FORMAT,
        "modules": [(name, module.path) for name, module in modules.items()],
        "units": units,
        "others": others,
        "kinds": kinds,
        "best": _best(units, others, kinds, edges, _ROOTS | root_costs(search.outside.rules)),
        "gone": gone,
        "imports": {name: _imports(outlines[name]) for name in modules if name in outlines},
        "inner": {name: unit for _, inner in besides for name, unit in inner.items()},
        "sites": dict(sorted(sites.items())),
    }
    return data, edges


def root_costs(rules: Ruleset) -> dict[str, int]:
    """Return what a chain costs that begins at a root which is not what the tree is for."""
    asides = {f"root:{rule.id}": _ASIDE for rule in rules.roots if rule.aside}
    return asides | {f"root:{rule.id}": _API for rule in rules.apis}


def _imports(outline: Outline) -> list[tuple[str, int, str]]:
    """Name, line and dotted origin of what a module of upstream imports for itself, in whichever
    branch; ``*`` for a star.
    """
    bound = [
        (name, b)
        for name, found in outline.names.items()
        for b in found
        if b.module not in ("", "__future__")
    ]
    bound += [("*", star) for star in outline.stars]
    return [
        (name, b.line, ".".join(filter(None, (b.module, b.name.strip("*"))))) for name, b in bound
    ]


def _best(
    units: list[Unit],
    others: list[str],
    kinds: list[str],
    edges: Sequence[tuple[int, ...]],
    roots: Mapping[str, int],
) -> list[tuple[int, ...]]:
    """Yield source, kind and line of the last edge of the best chain from a root to each node;
    nothing for a root and what is not live. A member is there once its class is: before that has
    its chain, no chain goes by way of the member.
    """
    size = len(units)
    dead = {number for number, unit in enumerate(units) if not unit.live}
    leaving = grouped((edge[0], edge[1:]) for edge in edges if dead.isdisjoint(edge[:2]))

    def out(node: int) -> Iterator[tuple[int, int, tuple[int, int]]]:
        found = leaving.get(node, ())
        name = others[node - size] if node >= size else ""
        for target, kind, line in found:
            yield target, cost_of(kinds[kind], name, len(found)), (kind, line)

    def around(node: int) -> int | None:
        return units[node].owner if node < size and units[node].kind == "member" else None

    starts = {
        size + n: roots.get(name, 0) for n, name in enumerate(others) if name.startswith("root:")
    }
    last = Ways(starts, out, around).last
    return [
        (last[node][0], *last[node][1]) if node in last else ()
        for node in range(size + len(others))
    ]


def _qualified(module: Module, unit: Symbol) -> str:
    """Name of a unit in its module, with the classes around it; its line where it binds nothing."""
    names = "" if unit.kind == "main" else ",".join(unit.names)
    parts = [names or str(unit.span.line)]
    while unit.parent >= 0:
        unit = module.units[unit.parent]
        parts += [",".join(unit.names)] if unit.kind != "if" else []
    return ".".join(reversed(parts))


def _without_unit(
    text: str, folded: FoldedModule, known: Collection[str]
) -> tuple[list[Gone], dict[str, str]]:
    """Return definitions of a kept module that are no units, since none of the `known` names is
    theirs: those that folding or a rule removed; and the names of those that stay or go with the
    unit around them, to that unit: a class in the body of a class, and what that defines.
    """
    gone: list[Gone] = []
    inner: dict[str, str] = {}
    for name, line, kind in _bound(text):
        near = around(folded.decisions, line)
        whole = f"{folded.module}.{name}"
        # A text over several lines may hold what looks like an assignment: only what is gone is
        # one.
        if whole in known or (near is None and kind == "assigned"):
            continue
        unit = next((each for each in enclosing(whole) if each in known), None)
        if near is None and kind == "nested" and unit is not None:
            inner[whole] = unit
        elif (near := near or deciding(folded.decisions, line)) is not None:
            gone.append(
                (
                    folded.module,
                    name,
                    line,
                    near.last if near.line == line else line,
                    near.rule,
                    told(near),
                )
            )
    return gone, inner


def _bound(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield qualified names and lines of definitions, but for those inside functions, and of what
    is assigned at the start of a line; with ``defined``, ``assigned``, or ``nested`` where a class
    in a class is around it or meant.
    """
    outer: list[tuple[int, str, str]] = []
    line, at = 1, 0
    for match in _BOUND.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        if match["assigned"]:
            yield match["assigned"], line, "assigned"
            continue
        indent = len(match["indent"].expandtabs())
        while outer and outer[-1][0] >= indent:
            outer.pop()
        if all(kind == "class" for _, kind, _ in outer):
            classes = len(outer) + (match["kind"] == "class")
            yield (
                ".".join([*(name for *_, name in outer), match["name"]]),
                line,
                "nested" if classes > 1 else "defined",
            )
        outer.append((indent, match["kind"], match["name"]))


def _module_sites(
    text: str, before: FoldedModule, units: Sequence[Unit], words: Set[str], written: Written
) -> Iterator[tuple[str, Site]]:
    """Code of a kept module that named a removed symbol in upstream's `text`, and that is gone:
    which of the `words`, the last parts of their names, and the site. `before` is the module before
    anything was dropped from it.
    """
    imported = {dotted.rpartition(".")[2]: dotted for _, dotted in written.get(before.path, ())}
    touched = {n for e in before.edits for n in range(e.span.line, e.span.end_line + 1)}
    counts: Counter[str] = Counter()
    for number, content in enumerate(text.split("\n"), 1) if touched else ():
        if number not in touched or content.lstrip().startswith("#"):
            continue
        asked = words & set(_WORD.findall(content))
        counts.update(asked)
        for word in (word for word in asked if counts[word] <= _MOST):
            inside = [
                unit.name for unit in units if unit.live and unit.line <= number <= unit.end_line
            ]
            elsewhere = "." if f".{word}" in content else imported.get(word, "")
            yield (
                word,
                (
                    before.path,
                    number,
                    folded_away(before, number),
                    inside[-1] if inside else "",
                    elsewhere,
                ),
            )


def _outside_sites(
    graph: Graph,
    written: Written,
    dropped: Collection[str],
    asked: Mapping[str, tuple[str, int] | None],
) -> Iterator[tuple[str, Site]]:
    """Code of removed files that named one of the symbols that were dropped, as `_module_sites`;
    and of the public methods that nothing reached, those that such a file names first in upstream.
    """
    for path, removal in graph.removed.items():
        fate = f"imported by a removed file ({removal.rule})"
        for line, dotted in written.get(path, ()):
            if dotted in dropped:
                yield dotted.rpartition(".")[2], (path, line, fate, "", dotted)
    for name, place in asked.items():
        if place is not None and (found := graph.removed.get(place[0])) is not None:
            yield name, (*place, f"named by a removed file ({found.rule})", "", ".")
