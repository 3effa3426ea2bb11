"""Two generated trees that are compared: what both have in common and what not, and the words in which a reason is told."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from shrinker.report.diff.side import Side, unnumbered
from shrinker.report.diff.values import Cause, Reason, Row
from shrinker.report.pages import some
from shrinker.source.repository import Told
from shrinker.values.graph import Edge
from shrinker.values.outcome import EmittedFile

_MOST_COMMITS = 12
_TELLING = 6
"""Characters of a line that is more than a bracket."""
_NO_RULES = {
    "root:code outside": "only code outside the tree may still look it up by its name",
    "root:other files": "a file that is no module names it",
    "root:entry point": "an entry point of the package names it",
    "root:file graph": "the file graph needs it",
}
"""Roots of symbols that no rule makes."""
Has = TypeVar("Has")


@dataclass
class Pair:
    """The two sides."""

    old: Side
    new: Side
    told: tuple[Told, ...] = ()
    """Commits of upstream between them, the newest first."""

    def differing(self) -> Iterator[tuple[str, EmittedFile | None, EmittedFile | None]]:
        """Path of every file that is another one, or on one side only, and what each side has of it; sorted."""
        for path, one, other in compared(self.old.files, self.new.files):
            if one is None or other is None or one.sha256 != other.sha256:
                yield path, one, other

    @property
    def reported(self) -> bool:
        """Whether the reports of both sides are there."""
        return bool(self.old.graph and self.new.graph)

    def there(self, path: str) -> tuple[bool | None, bool | None]:
        """Whether upstream has a file, of both sides; None when nothing tells."""
        return self.old.has_upstream(path), self.new.has_upstream(path)

    def upstream_changed(self, path: str) -> bool | None:
        """Whether upstream's file differs; None when that cannot be said."""
        there = self.there(path)
        if None not in there and there[0] != there[1]:
            return True
        one, other = self.old.upstream_hash(path), self.new.upstream_hash(path)
        if one is None or other is None:
            return False if there == (False, False) else None
        return one != other

    @cached_property
    def _by_path(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for commit in self.told:
            for path in commit.paths:
                found[path].append(commit.number or commit.hash[:10])
        return found

    def commits(self, path: str) -> tuple[str, ...]:
        """Numbers of the commits that touched a file, the newest first."""
        return some(self._by_path.get(path, []), _MOST_COMMITS)

    @cached_property
    def changed_rules(self) -> tuple[Row, ...]:
        """Rules that only one side has, or that differ."""
        before, after = self.old.manifest, self.new.manifest
        if (before.rules_hash, before.profile) == (after.rules_hash, after.profile):
            return ()
        one, other = self.old.rules, self.new.rules
        if one is None or other is None:
            why = Reason("rule", "one side's reports have no rules.json")
            return (Row("(which ones is not recorded)", "changed", reason=why),)
        why = Reason("rule")
        found = ((name, fate(old, new), (new or old or [""])[0]) for name, old, new in compared(one, other))
        rows = tuple(Row(name, moved, after=kind, reason=why) for name, moved, kind in found)
        return rows or (Row("(comments or order)", "changed", reason=why),)

    @cached_property
    def moved_rules(self) -> frozenset[str]:
        """Ids of those rules."""
        return frozenset(row.subject for row in self.changed_rules)

    def is_rule(self, rules: str) -> bool:
        """True when a decision rests on a rule; ``unused`` and its like say that nothing names it."""
        return self.new.rules is None or not self.new.rules.keys().isdisjoint(rules.split("+"))

    def rule_cause(self, rules: str) -> tuple[Cause, str]:
        """What a decision by rules (joined by ``+``) on one side alone rests on."""
        moved = sorted(set(rules.split("+")) & self.moved_rules)
        if moved:
            return "rule", f"rule {', '.join(moved)} changed"
        return "reach", f"rule {rules}, which both sides have"

    def reached(self, steps: Sequence[Edge]) -> Reason:
        """Why a chain of the new side leads where the old one's did not."""
        return self._turned(steps, self.new, self.old, "now reaches {}", "names it now", "before")

    def unreached(self, steps: Sequence[Edge]) -> Reason:
        """Why what a chain of the old side kept is reached no more."""
        says, names = "reached {} and does not any more", "named it before"
        return self._turned(steps, self.old, self.new, says, names, "any more")

    def _turned(self, steps: Sequence[Edge], own: Side, other: Side, says: str, names: str, not_so: str) -> Reason:
        """The step at which the chain of one side leaves what the other keeps, and what changed there."""
        chain = tuple(map(str, steps))
        # Where it starts at something that the other side keeps, too. Not the first step that the other side does not have:
        # what comes behind it may be kept there by another way.
        shared = (s for s in reversed(steps) if s.src.startswith("root:") or unnumbered(s.src) in other.live_nodes)
        step = next(shared, steps[0] if steps else None)
        if step is None:
            return Reason("unknown", "no chain leads to it")
        source = step.src.partition(":")[2]
        kind, _, name = step.dst.partition(":")
        who = f"{source} {says.format(f'the name {name}' if kind == 'name' else name)} ({step.kind})"
        where = f"{step.path}:{step.line}" if step.line else step.path or "a rule"
        if step.src in _NO_RULES:
            return Reason("upstream", f"{_NO_RULES[step.src]}, which was not so {not_so}", chain)
        if step.src.startswith("root:"):
            root, text = self.rule_cause(source)
            return Reason(root, f"root {source} {names}: {text}", chain)
        changed = self.upstream_changed(step.path) if step.path else None
        line = "".join(own.upstream_lines(step.path)[step.line - 1 : step.line]) if changed and step.line else ""
        if len(line) > _TELLING and line in other.upstream_lines(step.path):
            side = "the old upstream" if other is self.old else "the new upstream"
            text = f"{who}, at {where}: {side} has that line, too, and it was decided otherwise there"
            return Reason("rule" if self.moved_rules else "reach", text, chain)
        if changed:
            what = "removed" if self.new.has_upstream(step.path) is False else "changed"
            return Reason("upstream", f"{who}: upstream {what} {where}{self.by(step.path)}", chain)
        if self.moved_rules:
            return Reason("rule", f"{who}: rules changed ({', '.join(some(sorted(self.moved_rules)))})", chain)
        if changed is None:
            return Reason("unknown", f"{who}, at {where}", chain)
        return Reason("reach", f"{who}, at {where}, in a file that upstream did not change", chain)

    def changed_by(self, path: str) -> Reason:
        """Whether upstream changed a file; nothing where that cannot be said."""
        changed = self.upstream_changed(path)
        if not changed:
            return Reason() if changed is None else Reason("reach", "upstream did not change the file")
        return Reason("upstream", f"upstream {fate(*self.there(path))} the file{self.by(path)}")

    def by(self, path: str) -> str:
        """The commits that touched a file, in brackets; empty where none is known."""
        rows = self.commits(path)
        return f" ({', '.join(rows)})" if rows else ""


def compared(old: Mapping[str, Has], new: Mapping[str, Has]) -> Iterator[tuple[str, Has | None, Has | None]]:
    """Each key of which the two sides have something else, or one has nothing, and what each has; sorted."""
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before != after:
            yield key, before, after


def fate(before: object, after: object) -> str:
    """What became of a thing that the sides have, or one of them."""
    return "changed" if before and after else "added" if after else "removed"
