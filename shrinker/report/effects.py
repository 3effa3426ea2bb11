"""What each rule did: decisions, files removed, lines removed, nodes kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from shrinker.report.measure import Measured
from shrinker.ruleset import Companion, Rule, Ruleset, Walk
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import modules_of


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
    """Files that it removed."""
    lines: int
    """Lines of those files."""
    kept: int
    """Nodes that it names as a root, keep, asset, walk target or module of a companion."""
    wide: tuple[str, ...] = ()
    """Patterns over modules, among others of it, that no module of upstream matches."""

    @property
    def idle(self) -> bool:
        """True when it did nothing at all."""
        return not (self.decisions or self.files or self.kept)


def rule_effects(
    rules: Ruleset, graph: Graph, folded: Mapping[str, FoldedModule], files: Iterable[Measured]
) -> list[RuleEffect]:
    """Effects of all rules, in the order of the kinds and files."""
    decisions: Counter[str] = Counter()
    folded_lines: Counter[str] = Counter()
    for module in folded.values():
        for decision in module.decisions:
            for rule in set(decision.rules):
                decisions[rule] += 1
                folded_lines[rule] += decision.lines
    removed: Counter[str] = Counter()
    removed_lines: Counter[str] = Counter()
    for file in files:
        if (removal := graph.removed.get(file.path)) is not None:
            removed[removal.rule] += 1
            removed_lines[removal.rule] += file.before
    named = Counter(edge.src.partition(":")[2] for edge in graph.edges if edge.src.startswith(("root:", "asset:")))
    walked = {edge.dst.partition(":")[2] for edge in graph.edges if edge.kind == "walk"}

    def kept(rule: Rule) -> int:
        match rule:
            case Walk():
                return sum(name.startswith(rule.package + ".") for name in walked)
            case Companion():
                return sum(path.startswith(rule.folder + "/") for path in folded)
        return named[rule.id]

    modules = {part for name in modules_of((*graph.kept, *graph.removed)) for part in _with_packages(name)}
    return [
        RuleEffect(
            id=rule.id,
            kind=type(rule).__name__.lower(),
            why=rule.why,
            decisions=decisions[rule.id],
            folded_lines=folded_lines[rule.id],
            files=removed[rule.id],
            lines=removed_lines[rule.id],
            kept=kept(rule),
            wide=tuple(p for p in getattr(rule, "modules", ()) if not _matches(p, modules)),
        )
        for rule in rules.all_rules()
    ]


def _with_packages(module: str) -> Iterator[str]:
    yield module
    while module := module.rpartition(".")[0]:
        yield module


def _matches(pattern: str, modules: Set[str]) -> bool:
    return any(name_matches(pattern, name) for name in modules) if "*" in pattern else pattern in modules
