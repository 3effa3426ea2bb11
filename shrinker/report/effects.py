"""What each rule did: decisions, files removed, lines removed, nodes kept; and of rules that did
nothing, whether upstream speaks of what they name at all. ``questionable.txt``: what stays, and
rules that are there, for little or no reason; by lines.

What only unreachable or removed modules ask is never folded, so that no decision rests on its rule.
The rule has its match all the same: it is a rule without one only when upstream has lost the names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from shrinker.report.summary import Measured, tally, total
from shrinker.ruleset import Absent, Companion, Fact, Leftover, Pure, Rule, Ruleset, Walk
from shrinker.ruleset.match import name_matches
from shrinker.ruleset.models import Refusal
from shrinker.syntax.imports import with_packages
from shrinker.values.edits import Cut
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name, modules_of

_WORD = re.compile(r"\w+")
_NAMES: dict[type[Rule], tuple[str, ...]] = {
    Fact: ("calls", "names", "attributes", "environment"),
    Absent: ("modules", "attributes"),
    Pure: ("calls",),
    Leftover: ("words",),
    Refusal: ("functions",),
}
"""Fields that hold patterns over qualified names."""
QUESTIONABLE = "questionable.txt"
_ROOTS = ("root", "keep", "api")
"""Kinds of rules that keep something by naming it."""
Row = tuple[str, int, str]
"""A definition or rule, lines, and why to ask."""


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """One rule and what it did in this tree."""

    id: str
    kind: str
    why: str
    decisions: int
    """Conditions, imports and table rows in kept files that rest on it (alone or together with
    others).
    """
    folded_lines: int
    """Lines those decisions delete; nested decisions count twice."""
    files: int
    """That it removed."""
    lines: int
    """Of those files."""
    kept: int
    """Nodes that it names as a root, keep, walk target or module of a companion."""
    wide: tuple[str, ...] = ()
    """Patterns over modules, among others of it, that no module of upstream matches."""

    @property
    def idle(self) -> bool:
        """True when it did nothing at all."""
        return not (self.decisions or self.files or self.kept)


def rule_effects(
    rules: Ruleset,
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    files: Iterable[Measured],
    cuts: Mapping[str, Iterable[Cut]],
) -> list[RuleEffect]:
    """Effects of all rules, in the order of the kinds and files; `cuts`: lines that go of files
    that are no Python, by path.
    """
    decided = [(d.rules, d.lines) for module in folded.values() for d in module.decisions]
    decided += [(cut.rules, cut.last - cut.first + 1) for cut in chain.from_iterable(cuts.values())]
    took = grouped((rule, lines) for ids, lines in decided for rule in set(ids))
    gone = [file for file in files if file.path in graph.removed]
    removed = {row.name: row for row in tally(gone, lambda file: graph.removed[file.path].rule)}
    named = Counter(
        edge.src.partition(":")[2] for edge in graph.edges if edge.src.startswith("root:")
    )
    walked = {edge.dst.partition(":")[2] for edge in graph.edges if edge.kind == "walk"}
    modules = with_packages(modules_of((*graph.kept, *graph.removed)))
    found: list[RuleEffect] = []
    for rule in rules.all_rules():
        match rule:
            case Walk():
                kept = sum(name.startswith(rule.package + ".") for name in walked)
            case Companion():
                kept = sum(path.startswith(rule.folder + "/") for path in folded)
            case _:
                kept = named[rule.id]
        size = removed.get(rule.id, total(()))
        patterns = (pattern for pattern in getattr(rule, "modules", ()) if pattern not in modules)
        wide = tuple(
            pattern
            for pattern in patterns
            if not any(name_matches(pattern, name) for name in modules)
        )
        lines = took.get(rule.id, [])
        counts = (len(lines), sum(lines), size.files_before, size.lines_before, kept)
        found.append(RuleEffect(rule.id, type(rule).__name__.lower(), rule.why, *counts, wide))
    return found


def occurring(tree: UpstreamTree, rules: Iterable[Rule]) -> frozenset[str]:
    """Ids of those facts, refusals, `absent`, `pure` and `leftover` rules that name something which
    a Python file of upstream writes, whether or not the graph reaches it.

    A qualified name occurs in a file when its last component is a word of the text, and each of the
    others is one too or a component of the module's name.
    """
    named = {rule.id: names_of(rule) for rule in rules}
    written = places_of(tree, chain.from_iterable(named.values())).keys()
    return frozenset(rule for rule, names in named.items() if not written.isdisjoint(names))


def places_of(tree: UpstreamTree, patterns: Iterable[str]) -> dict[str, str]:
    """Return those of some patterns over qualified names that a Python file of upstream writes,
    each with the first ``path:line``.
    """
    left, found = [*map(_sought, dict.fromkeys(patterns))], dict[str, str]()
    for path in (file.path for file in tree.files if file.path.endswith(".py")):
        if not left:
            break
        text = tree.read(path).decode("utf-8", "replace")
        parts = frozenset((module_name(path) or "").split("."))
        for pattern, plain, whole, words in left:
            # A plain search is many times as fast, and mostly the answer.
            at = whole.search(text) if plain in text else None
            if at is not None and all(
                word in parts or re.search(rf"\b{word}\b", text) for word in words
            ):
                line = text.count("\n", 0, at.start()) + 1
                found[pattern] = f"{path}:{line}"
        left = [sought for sought in left if sought[0] not in found]
    return found


def names_of(rule: Rule) -> list[str]:
    """Return patterns over qualified names of a fact, a refusal, an `absent`, a `pure` or a
    `leftover` rule; none of another.
    """
    return [name for field in _NAMES.get(type(rule), ()) for name in getattr(rule, field)]


def _sought(pattern: str) -> tuple[str, str, re.Pattern[str], list[str]]:
    """Return a pattern, with the beginning and the whole of its last component, and the words of
    the others.
    """
    *before, last = pattern.replace("()", "").strip(".").split(".")
    whole = re.compile(r"\b" + re.escape(last).replace(r"\*", r"\w*") + r"\b")
    return (
        pattern,
        last.partition("*")[0],
        whole,
        [part for part in before if _WORD.fullmatch(part)],
    )


def questionable(symbols: Mapping[str, Any], rules: Mapping[str, Any]) -> list[Row]:
    """Return rules without effect, and rules that are wider than what they hit; then definitions
    that stay for nothing but an attribute of their name that is read somewhere. Each by lines; from
    the saved search and the content of ``rules.json``.
    """
    found = (_rules(symbols, rules), _named(symbols))
    return [
        row for rows in found for row in sorted(rows, key=lambda row: (-row[1], row[0], row[2]))
    ]


def _named(symbols: Mapping[str, Any]) -> Iterator[Row]:
    for (_, kind, name, first, last, _, live), edge in zip(
        symbols["units"], symbols["best"], strict=False
    ):
        if (
            live
            and edge
            and symbols["kinds"][edge[1]] == "by name"
            and kind in ("function", "class", "member")
        ):
            yield name, last - first + 1, "by name only"


def _rules(symbols: Mapping[str, Any], rules: Mapping[str, Any]) -> Iterator[Row]:
    size, others = len(symbols["units"]), symbols["others"]
    used = {others[edge[0] - size] for edge in symbols["best"] if edge and edge[0] >= size}
    kinds, effects = {rule: row[0] for rule, row in rules["rules"].items()}, rules["effects"]
    for rule in rules["idle"]:
        yield rule, 0, f"a [[{kinds[rule]}]] rule that did nothing in this tree"
    for rule, kind in kinds.items():
        if kind in _ROOTS and rule in effects and used and f"root:{rule}" not in used:
            yield rule, 0, f"a [[{kind}]] rule: all that it names is kept for something else, too"
    for rule, patterns in rules["wide"].items():
        why = (
            f"a [[{kinds[rule]}]] rule that names modules which upstream has not: "
            f"{', '.join(patterns)}"
        )
        yield rule, effects.get(rule, {}).get("lines", 0), why
