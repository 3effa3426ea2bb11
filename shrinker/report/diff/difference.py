"""Two generated trees that are compared, or their locks, with everything that their runs left, each part read when it is asked for; what both
have in common and what not, and the words in which a reason is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from shrinker.program.answers import SYMBOLS
from shrinker.program.reached import rescued
from shrinker.program.saved import load_graph
from shrinker.program.symbols.why import Symbols, load_symbols
from shrinker.program.why import Files
from shrinker.report.diff.values import Cause, Change, Reason
from shrinker.source.repository import Told
from shrinker.values.answers import Step
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import UpstreamTree

GRAPH = "graph.json"
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
_OTHERWISE = {"now": "before", "before": "any more"}


@dataclass
class Side:
    """A generated tree, or only its lock."""

    name: str
    """As it was asked for."""
    manifest: Manifest
    folder: Path | None
    """The tree; None when only its lock is there."""
    reports: Path | None
    """Reports of the same run; None when there are none."""
    upstream: UpstreamTree | None
    """What it was generated from; None when that cannot be read."""
    _lines: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> Mapping[str, EmittedFile]:
        """Files of the tree by path."""
        return {file.path: file for file in self.manifest.files}

    def read(self, path: str) -> bytes:
        """Bytes of a generated file; empty when the tree is not there or has no such file."""
        return (self.folder / path).read_bytes() if self.folder is not None and path in self.files else b""

    def read_upstream(self, path: str) -> bytes:
        """Bytes of upstream's file; empty where it has none or cannot be read."""
        return self.upstream.read(path) if self.upstream is not None and path in self.upstream.by_path else b""

    def upstream_hash(self, path: str) -> str | None:
        """SHA-256 of upstream's file; None when upstream has none or cannot be read."""
        if self.upstream is not None:
            file = self.upstream.by_path.get(path)
            return file.sha256 if file is not None else None
        kept = self.files.get(path)
        return kept.sha256 if kept is not None and not kept.changed else None

    def has_upstream(self, path: str) -> bool | None:
        """Whether upstream has the file; None when nothing tells."""
        if self.upstream is not None:
            return path in self.upstream.by_path
        if path in self.files:
            return self.files[path].lines_before > 0 or not self.files[path].changed
        return path in self.graph["removed"] if self.graph else None

    def upstream_lines(self, path: str) -> Sequence[str]:
        """Lines of upstream's file without the blanks around them; none where it cannot be read."""
        found = self._lines.get(path)
        if found is None:
            text = self.read_upstream(path).decode("utf-8", "replace")
            found = self._lines[path] = [row.strip() for row in text.split("\n")]
        return found

    @cached_property
    def graph(self) -> dict[str, Any]:
        """The saved graph; empty without reports."""
        return load_graph(self.reports / GRAPH) if self.reports is not None else {}

    @cached_property
    def symbols(self) -> Symbols | None:
        """The saved search of symbols; None without one."""
        return load_symbols(self.reports / SYMBOLS) if self.reports is not None else None

    @cached_property
    def chains(self) -> Files | None:
        """Chains to kept files."""
        return Files(self.graph) if self.graph else None

    @cached_property
    def live_nodes(self) -> frozenset[str]:
        """Ends of the edges of the file graph and of that of symbols, there without lines in the names of statements."""
        nodes = self.graph.get("nodes", ())
        files = {nodes[end] for edge in self.graph.get("edges", ()) for end in edge[:2]}
        pairs = self.symbols.edges() if self.symbols is not None else ()
        return frozenset(files.union(unnumbered(end) for pair in pairs for end in pair))

    @cached_property
    def rescued(self) -> Mapping[str, str]:
        """Path of each file that a rule removes and that stays, to what needs it."""
        return rescued(self.graph) if self.graph else {}

    def report(self, name: str) -> Any:
        """A JSON report; None when it is not there or not JSON."""
        if self.reports is None:
            return None
        try:
            return json.loads((self.reports / name).read_text("utf-8"))
        except (OSError, ValueError):
            return None

    @cached_property
    def rules(self) -> dict[str, list[str]] | None:
        """Kind and hash of each rule; None for reports of an older shrinker."""
        found = self.report("rules.json")
        return found["rules"] if isinstance(found, dict) and isinstance(found.get("rules"), dict) else None


def unnumbered(node: str) -> str:
    """A node's name; a statement that binds nothing is named by its line, which moves."""
    head, _, last = node.rpartition(".")
    return f"{head}.#" if last.isdigit() else node


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

    def upstream_changed(self, path: str) -> bool | None:
        """Whether upstream's file differs; None when that cannot be said."""
        there = self.old.has_upstream(path), self.new.has_upstream(path)
        if there[0] is not None and there[1] is not None and there[0] != there[1]:
            return True
        one, other = self.old.upstream_hash(path), self.new.upstream_hash(path)
        if one is None or other is None:
            return False if there == (False, False) else None
        return one != other

    @cached_property
    def _by_path(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for commit in self.told:
            for path in commit.paths:
                found.setdefault(path, []).append(commit.number or commit.hash[:10])
        return found

    def commits(self, path: str) -> tuple[str, ...]:
        """Numbers of the commits that touched a file, the newest first."""
        rows = self._by_path.get(path, [])
        more = (f"and {len(rows) - _MOST_COMMITS} more",) if len(rows) > _MOST_COMMITS else ()
        return (*rows[:_MOST_COMMITS], *more)

    def changed_rules(self) -> tuple[Change, ...]:
        """Rules that only one side has, or that differ."""
        before, after = self.old.manifest, self.new.manifest
        if (before.rules_hash, before.profile) == (after.rules_hash, after.profile):
            return ()
        one, other = self.old.rules, self.new.rules
        if one is None or other is None:
            return (Change("(which ones is not recorded)", "changed", reason="one side's reports have no rules.json"),)
        rows = (Change(name, fate(old, new), where=(new or old or [""])[0]) for name, old, new in compared(one, other))
        return tuple(rows) or (Change("(comments or order)", "changed"),)

    @cached_property
    def moved_rules(self) -> frozenset[str]:
        """Ids of those rules."""
        return frozenset(row.subject for row in self.changed_rules())

    def is_rule(self, rules: str) -> bool:
        """True when a decision rests on a rule; ``unused`` and its like say that nothing names it."""
        known = self.new.rules
        return known is None or any(name in known for name in rules.split("+"))

    def rule_cause(self, rules: str) -> tuple[Cause, str]:
        """What a decision by rules (joined by ``+``) on one side alone rests on."""
        moved = sorted(set(rules.split("+")) & self.moved_rules)
        if moved:
            return "rule", f"rule {', '.join(moved)} changed"
        return "reach", f"rule {rules}, which both sides have"

    def reached(self, steps: Sequence[Step]) -> Reason:
        """Why a chain of the new side leads where the old one's did not."""
        return self._turned(steps, self.new, self.old, "now reaches {}", "names it", "now")

    def unreached(self, steps: Sequence[Step]) -> Reason:
        """Why what a chain of the old side kept is reached no more."""
        return self._turned(steps, self.old, self.new, "reached {} and does not any more", "named it", "before")

    def _turned(self, steps: Sequence[Step], own: Side, other: Side, says: str, names: str, when: str) -> Reason:
        """The step at which the chain of one side leaves what the other keeps, and what changed there."""
        chain = shown(steps)
        # Where it starts at something that the other side keeps, too. Not the first step that the other side does not have:
        # what comes behind it may be kept there by another way.
        shared = (s for s in reversed(steps) if s.src.startswith("root:") or unnumbered(s.src) in other.live_nodes)
        step = next(shared, steps[0] if steps else None)
        if step is None:
            return Reason("unknown", "no chain leads to it")
        source = step.src.partition(":")[2]
        who = f"{source} {says.format(_name(step.dst))} ({step.kind})"
        if step.src in _NO_RULES:
            return Reason("upstream", f"{_NO_RULES[step.src]}, which was not so {_OTHERWISE[when]}", chain)
        if step.src.startswith("root:"):
            root, text = self.rule_cause(source)
            return Reason(root, f"root {source} {names} {when}: {text}", chain)
        changed = self.upstream_changed(step.path) if step.path else None
        if changed and (line := _line(own, step.path, step.line)) and line in other.upstream_lines(step.path):
            side = "the old upstream" if other is self.old else "the new upstream"
            cause: Cause = "rule" if self.moved_rules else "reach"
            text = f"{who}, at {_place(step)}: {side} has that line, too, and it was decided otherwise there"
            return Reason(cause, text, chain)
        if changed:
            gone = self.new.has_upstream(step.path) is False
            what = "removed" if gone else "changed"
            return Reason("upstream", f"{who}: upstream {what} {_place(step)}{self.by(step.path)}", chain)
        if self.moved_rules:
            return Reason("rule", f"{who}: rules changed ({some(sorted(self.moved_rules))})", chain)
        if changed is None:
            return Reason("unknown", f"{who}, at {_place(step)}", chain)
        return Reason("reach", f"{who}, at {_place(step)}, in a file that upstream did not change", chain)

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


def shown(steps: Sequence[Step]) -> tuple[str, ...]:
    """A chain as `why` prints it."""
    return tuple(map(str, steps))


def _line(side: Side, path: str, line: int) -> str:
    """A line of upstream's file; empty where it cannot be read, or says nothing by itself."""
    rows = side.upstream_lines(path)
    text = rows[line - 1] if 0 < line <= len(rows) else ""
    return text if len(text) > _TELLING else ""


def _name(node: str) -> str:
    kind, _, name = node.partition(":")
    return f"the name {name}" if kind == "name" else name


def _place(step: Step) -> str:
    return f"{step.path}:{step.line}" if step.line else step.path or "a rule"


def some(names: Sequence[str], most: int = 4) -> str:
    """The first ones, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
