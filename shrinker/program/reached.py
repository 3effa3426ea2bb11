"""What a profile is for, and what it takes away, asked of a generated tree: every kernel that a
`[[reach]]` rule names, with the chain from the definition that it starts at, and what `[[remove]]`
rules left.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shrinker.program.symbols.why import Symbols
from shrinker.program.ways import Ways, cost_of
from shrinker.ruleset.models import Reach, Remove
from shrinker.syntax.walk import Function, definitions, statements, walk
from shrinker.values.errors import InputError
from shrinker.values.graph import Edge
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

_MODULE = 10
"""What an edge to a module that is loaded counts."""


@dataclass(frozen=True, slots=True)
class Reached:
    """One name that must be reached."""

    rule: str
    name: str
    places: int
    """Definitions and statements of the tree that define, import or read it."""
    steps: tuple[Edge, ...]
    """From the start to the nearest of them; empty when none is reached."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one `[[remove]]` rule left."""

    rule: str
    feature: str
    removed: int
    """Files that went by it."""
    rescued: tuple[str, ...]
    """Paths that stay because every run needs a helper of theirs; `uncertain.txt` says which."""
    left: tuple[str, ...]
    """Paths that stay without such a reason."""


def reached(out: Path, symbols: Symbols, rules: Iterable[Reach]) -> list[Reached]:
    """Return each name of the rules, in their order, in a generated tree and the search of the same
    run.

    Raises InputError when the definition that a rule starts at is not in the tree.
    """
    wanted = list(rules)
    places = _places(out, frozenset(name for rule in wanted for name in rule.names))
    found: list[Reached] = []
    for rule in wanted:
        starts = [number for number in symbols.find(rule.start) if symbols.units[number].live]
        if not starts:
            raise InputError(
                f"{rule.start} is not in the generated tree", f"mend `start` of rule {rule.id}"
            )
        ways = _ways(symbols, starts)
        for name in rule.names:
            units = sorted(
                {
                    n
                    for place in places.get(name, ())
                    for n in symbols.named(place)
                    if symbols.units[n].live
                }
            )
            chains = [tuple(ways.to(n)) for n in units if n in ways.costs]
            best = min(
                chains, key=lambda chain: (len(chain), [step.dst for step in chain]), default=()
            )
            found.append(Reached(rule.id, name, len(units), best))
    return found


def absent_names(tree: UpstreamTree, names: Iterable[str]) -> frozenset[str]:
    """Return names that no module of an upstream defines, imports or reads: what the rules were
    written for has another name there, or is gone.
    """
    asked = frozenset(names)
    return asked.difference(_places(tree.root, asked)) if asked else asked


def _ways(symbols: Symbols, starts: Iterable[int]) -> Ways[int, Edge]:
    """Yield the cheapest ways from some units to each node that they reach; with a class its live
    members are reached.
    """
    leaving = grouped((edge[0], edge) for edge in symbols.live_edges)
    live = ((number, unit) for number, unit in enumerate(symbols.units) if unit.live)
    members = grouped((unit.owner, number) for number, unit in live if unit.kind == "member")

    def out(node: int) -> Iterator[tuple[int, int, Edge]]:
        for number in members.get(node, ()):
            line = symbols.units[number].line
            yield (
                number,
                1,
                Edge(
                    symbols.node(node), symbols.node(number), "member", symbols.path(number), line
                ),
            )
        edges = leaving.get(node, ())
        for edge in edges:
            step = symbols.step(edge)
            # What a module does when it is loaded explains less than what names it.
            loads = _MODULE if step.dst.startswith("module:") else 0
            yield edge[1], loads or cost_of(step.kind, step.src, len(edges)), step

    return Ways(dict.fromkeys(starts, 0), out)


def taken(data: Mapping[str, Any], rules: Iterable[Remove]) -> list[Taken]:
    """Return what each rule left of the modules that it names, by the saved graph of a run."""
    stays_by_need = rescued(data)
    kept = {path: name for path in data["kept"] if (name := module_name(path)) is not None}
    removed = Counter(rule for rule, _ in data["removed"].values())
    out: list[Taken] = []
    for each in rules:
        stays = sorted(path for path, name in kept.items() if each.takes_module(name))
        needed = tuple(path for path in stays if path in stays_by_need)
        left = tuple(path for path in stays if path not in stays_by_need)
        out.append(Taken(each.id, each.feature, removed[each.id], needed, left))
    return out


def rescued(data: Mapping[str, Any]) -> dict[str, str]:
    """Return path of each file that a rule removes and that stays, to what needs it, by the saved
    graph of a run.
    """
    return {
        path: reason
        for path, line, reason in data["uncertain"]
        if not line and " would remove it, but " in reason
    }


def _places(out: Path, names: frozenset[str]) -> dict[str, set[str]]:
    """Return dotted definition (or imported name) of all places that define, import or read each
    name.
    """
    found = defaultdict[str, set[str]](set)
    word = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, names))) + r")\b")
    for path in sorted((out / "python").rglob("*.py")):
        module = module_name(path.relative_to(out).as_posix())
        text = path.read_text("utf-8")
        if module is None or word.search(text) is None:
            continue
        for name, where in _named(ast.parse(text), names):
            found[name].add(f"{module}.{where}")
    return found


def _named(tree: ast.Module, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield each name, with the definition that says it, or with what an import at module level
    binds.
    """
    for where, node in definitions(tree):
        if node.name in names:
            yield node.name, where
        for part in walk(node) if isinstance(node, Function) else ():
            said = [part.attr] if isinstance(part, ast.Attribute) else []
            said += [alias.name for alias in part.names] if isinstance(part, ast.ImportFrom) else []
            yield from ((name, where) for name in said if name in names)
    for statement in statements(tree):
        for alias in statement.names if isinstance(statement, ast.ImportFrom) else ():
            if alias.name in names:
                yield alias.name, alias.asname or alias.name
