"""What each rule did: decisions, files removed, lines removed, nodes kept; and of rules that did nothing, whether upstream speaks of what they
name at all.

What only unreachable or removed modules ask is never folded, so that no decision rests on its rule. The rule has its
match all the same: it is a rule without one only when upstream has lost the names.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from shrinker.report.summary import Measured, tally, total
from shrinker.ruleset import Absent, Companion, Fact, Leftover, Pure, Rule, Ruleset, Walk
from shrinker.ruleset.match import name_matches
from shrinker.ruleset.models import Refusal
from shrinker.syntax.imports import with_packages
from shrinker.values.edits import Cut
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
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


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """One rule and what it did in this tree."""

    id: str
    kind: str
    why: str
    decisions: int
    """Conditions, imports and table rows in kept files that rest on it (alone or together with others)."""
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
    """Effects of all rules, in the order of the kinds and files; `cuts`: lines that go of files that are no Python, by path."""
    decided = [(set(decision.rules), decision.lines) for module in folded.values() for decision in module.decisions]
    decided += [({*cut.rules}, cut.last - cut.first + 1) for cut in chain.from_iterable(cuts.values())]
    decisions, folded_lines = Counter[str](), Counter[str]()
    for ids, lines in decided:
        decisions.update(ids)
        folded_lines.update(dict.fromkeys(ids, lines))
    gone = [file for file in files if file.path in graph.removed]
    removed = {row.name: row for row in tally(gone, lambda file: graph.removed[file.path].rule)}
    named = Counter(edge.src.partition(":")[2] for edge in graph.edges if edge.src.startswith("root:"))
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
        wide = tuple(pattern for pattern in patterns if not any(name_matches(pattern, name) for name in modules))
        kind, counts = type(rule).__name__.lower(), (decisions[rule.id], folded_lines[rule.id])
        found.append(RuleEffect(rule.id, kind, rule.why, *counts, size.files_before, size.lines_before, kept, wide))
    return found


def occurring(tree: UpstreamTree, rules: Iterable[Rule]) -> frozenset[str]:
    """Ids of those facts, refusals, `absent`, `pure` and `leftover` rules that name something which a Python file of upstream writes, whether or
    not the graph reaches it.

    A qualified name occurs in a file when its last component is a word of the text, and each of the others is one too or
    a component of the module's name.
    """
    named = {rule.id: names_of(rule) for rule in rules}
    written = places_of(tree, chain.from_iterable(named.values())).keys()
    return frozenset(rule for rule, names in named.items() if not written.isdisjoint(names))


def places_of(tree: UpstreamTree, patterns: Iterable[str]) -> dict[str, str]:
    """Those of some patterns over qualified names that a Python file of upstream writes, each with the first ``path:line``."""
    left = {pattern: _finder(pattern) for pattern in patterns}
    found: dict[str, str] = {}
    for path in (file.path for file in tree.files if file.path.endswith(".py")):
        if not left:
            break
        text = tree.read(path).decode("utf-8", "replace")
        parts = frozenset((module_name(path) or "").split("."))
        found |= {pattern: f"{path}:{line}" for pattern, find in left.items() if (line := find(text, parts))}
        left = {pattern: find for pattern, find in left.items() if pattern not in found}
    return found


def names_of(rule: Rule) -> list[str]:
    """Patterns over qualified names of a fact, a refusal, an `absent`, a `pure` or a `leftover` rule; none of another."""
    return [name for field in _NAMES.get(type(rule), ()) for name in getattr(rule, field)]


def _finder(pattern: str) -> Callable[[str, frozenset[str]], int]:
    """What tells the line of the last component in the text of a module, whose own name has some parts, that writes a name; else 0."""
    *before, last = pattern.replace("()", "").strip(".").split(".")
    words = [part for part in before if _WORD.fullmatch(part)]
    plain, whole = last.partition("*")[0], re.compile(r"\b" + re.escape(last).replace(r"\*", r"\w*") + r"\b")

    def line_in(text: str, parts: frozenset[str]) -> int:
        # A plain search is many times as fast, and mostly the answer.
        found = whole.search(text) if plain in text else None
        if found is None or not all(word in parts or re.search(rf"\b{word}\b", text) for word in words):
            return 0
        return text.count("\n", 0, found.start()) + 1

    return line_in
