"""Two generated trees that are compared, each with all that its run left, every part read when it
is asked for; and the words in which a reason is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from shrinker.program.answers import SavedRun
from shrinker.program.reached import rescued
from shrinker.program.symbols.why import Symbols
from shrinker.report.diff.values import Cause, Reason, Row
from shrinker.report.place import GRAPH, document, some
from shrinker.source.repository import Told
from shrinker.syntax.bindings import lines_of
from shrinker.syntax.parsing import parsed
from shrinker.values.graph import Edge
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

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
_COME = ("now reaches {}", "names it now", "before")
_GONE = ("reached {} and does not any more", "named it before", "any more")
Has = TypeVar("Has")


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
    _defined: dict[tuple[str, bool], dict[str, int]] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> Mapping[str, EmittedFile]:
        """Files of the tree by path."""
        return {file.path: file for file in self.manifest.files}

    def read(self, path: str) -> bytes:
        """Return bytes of a generated file; empty when the tree is not there or has no such
        file.
        """
        return (
            (self.folder / path).read_bytes()
            if self.folder is not None and path in self.files
            else b""
        )

    def read_upstream(self, path: str) -> bytes:
        """Return bytes of upstream's file; empty where it has none or cannot be read."""
        return (
            self.upstream.read(path)
            if self.upstream is not None and path in self.upstream.by_path
            else b""
        )

    def upstream_hash(self, path: str) -> str | None:
        """SHA-256 of upstream's file; None when upstream has none or cannot be read."""
        if self.upstream is not None:
            file = self.upstream.by_path.get(path)
            return file.sha256 if file is not None else None
        kept = self.files.get(path)
        return kept.sha256 if kept is not None and not kept.changed else None

    def has_upstream(self, path: str) -> bool | None:
        """Tell whether upstream has the file; None when nothing tells."""
        if self.upstream is not None:
            return path in self.upstream.by_path
        if path in self.files:
            return self.files[path].lines_before > 0 or not self.files[path].changed
        return path in self.graph["removed"] if self.graph else None

    def upstream_lines(self, path: str) -> list[str]:
        """Return lines of upstream's file without the blanks around them; none where it cannot be
        read.
        """
        if path not in self._lines:
            text = self.read_upstream(path).decode("utf-8", "replace")
            self._lines[path] = [row.strip() for row in text.split("\n")]
        return self._lines[path]

    def line_of(self, path: str, name: str, *, generated: bool = False) -> int:
        """Return where upstream's file, or the generated one, binds a dotted name; 0 where it does
        not, or cannot be read.
        """
        if (path, generated) not in self._defined:
            tree = parsed(self.read(path) if generated else self.read_upstream(path))
            self._defined[path, generated] = (
                lines_of(tree, imports=False) if tree is not None else {}
            )
        module = module_name(path) or path.removesuffix(".py").replace("/", ".")
        return self._defined[path, generated].get(name.removeprefix(f"{module}."), 0)

    @cached_property
    def _run(self) -> SavedRun | None:
        return SavedRun(self.reports / GRAPH) if self.reports is not None else None

    @property
    def graph(self) -> dict[str, Any]:
        """The saved graph; empty without reports."""
        return self._run.data if self._run is not None else {}

    @property
    def symbols(self) -> Symbols | None:
        """The saved search of symbols; None without one."""
        return self._run.symbols if self._run is not None and self._run.symbols.units else None

    def chain(self, path: str) -> tuple[Edge, ...]:
        """Return the best chain to a kept file; empty where there is none."""
        return self._run.files.to(path) if self._run is not None else ()

    @cached_property
    def live_nodes(self) -> frozenset[str]:
        """Ends of the edges of the file graph and of that of symbols, there without lines in the
        names of statements.
        """
        nodes = self.graph.get("nodes", ())
        files = {nodes[end] for edge in self.graph.get("edges", ()) for end in edge[:2]}
        pairs = self.symbols.edges() if self.symbols is not None else ()
        return frozenset(files.union(_unnumbered(end) for pair in pairs for end in pair))

    @cached_property
    def rescued(self) -> Mapping[str, str]:
        """Path of each file that a rule removes and that stays, to what needs it."""
        return rescued(self.graph) if self.graph else {}

    def report(self, name: str) -> dict[str, Any]:
        """Return a JSON report; empty when it is not there or not JSON."""
        return document(self.reports / name) if self.reports is not None else {}

    @cached_property
    def rules(self) -> dict[str, list[str]]:
        """Kind and hash of each rule; none where that is not reported."""
        found: dict[str, list[str]] = self.report("rules.json").get("rules", {})
        return found


@dataclass
class Pair:
    """The two sides."""

    old: Side
    new: Side
    told: tuple[Told, ...] = ()
    """Commits of upstream between them, the newest first."""

    def differing(self) -> Iterator[tuple[str, EmittedFile | None, EmittedFile | None]]:
        """Yield path of every file that is another one, or on one side only, and what each side has
        of it; sorted.
        """
        for path, one, other in compared(self.old.files, self.new.files):
            if one is None or other is None or one.sha256 != other.sha256:
                yield path, one, other

    @property
    def reported(self) -> bool:
        """Whether the reports of both sides are there."""
        return bool(self.old.graph and self.new.graph)

    def there(self, path: str) -> tuple[bool | None, bool | None]:
        """Tell whether upstream has a file, of both sides; None when nothing tells."""
        return self.old.has_upstream(path), self.new.has_upstream(path)

    def upstream_changed(self, path: str) -> bool | None:
        """Tell whether upstream's file differs; None when that cannot be said."""
        there = self.there(path)
        if None not in there and there[0] != there[1]:
            return True
        one, other = self.old.upstream_hash(path), self.new.upstream_hash(path)
        if one is None or other is None:
            return False if there == (False, False) else None
        return one != other

    @cached_property
    def _by_path(self) -> dict[str, list[str]]:
        return grouped(
            (path, each.number or each.hash[:10]) for each in self.told for path in each.paths
        )

    def commits(self, path: str) -> tuple[str, ...]:
        """Numbers of the commits that touched a file, the newest first."""
        return some(self._by_path.get(path, []), _MOST_COMMITS)

    def by(self, path: str) -> str:
        """Return the commits that touched a file, in brackets; empty where none is known."""
        rows = self.commits(path)
        return f" ({', '.join(rows)})" if rows else ""

    @cached_property
    def changed_rules(self) -> tuple[Row, ...]:
        """Rules that only one side has, or that differ."""
        before, after = self.old.manifest, self.new.manifest
        if (before.rules_hash, before.profile) == (after.rules_hash, after.profile):
            return ()
        if not (self.old.rules and self.new.rules):
            why = Reason("rule", "one side's reports have no rules.json")
            return (Row("(which ones is not recorded)", "changed", reason=why),)
        why, rows = Reason("rule"), compared(self.old.rules, self.new.rules)
        found = tuple(
            Row(name, fate(old, new), after=(new or old or [""])[0], reason=why)
            for name, old, new in rows
        )
        return found or (Row("(comments or order)", "changed", reason=why),)

    @cached_property
    def moved_rules(self) -> frozenset[str]:
        """Ids of those rules."""
        return frozenset(row.subject for row in self.changed_rules)

    def is_rule(self, rules: str) -> bool:
        """Tell whether a decision rests on a rule; ``unused`` and its like say that nothing
        names it.
        """
        return not self.new.rules or not self.new.rules.keys().isdisjoint(rules.split("+"))

    def rule_cause(self, rules: str) -> tuple[Cause, str]:
        """Return what a decision by rules (joined by ``+``) on one side alone rests on."""
        moved = sorted(self.moved_rules.intersection(rules.split("+")))
        if moved:
            return "rule", f"rule {', '.join(moved)} changed"
        return "reach", f"rule {rules}, which both sides have"

    def turned(self, steps: Sequence[Edge], *, gone: bool = False) -> Reason:
        """Return why a chain of the new side leads where the old one's did not; where it is `gone`,
        why what a chain of the old side kept is reached no
        more: the step at which it leaves what the other side keeps, and what changed there.
        """
        own, other = (self.old, self.new) if gone else (self.new, self.old)
        says, names, not_so = _GONE if gone else _COME
        chain = tuple(map(str, steps))
        # Where it starts at something that the other side keeps, too. Not the first step that the
        # other side does not have: what comes behind it may be kept there by another way.
        shared = (
            s
            for s in reversed(steps)
            if s.src.startswith("root:") or _unnumbered(s.src) in other.live_nodes
        )
        step = next(shared, steps[0] if steps else None)
        if step is None:
            return Reason("unknown", "no chain leads to it")
        source = step.src.partition(":")[2]
        kind, _, name = step.dst.partition(":")
        who = (
            f"{source} {says.format(f'the name {name}' if kind == 'name' else name)} ({step.kind})"
        )
        where = f"{step.path}:{step.line}" if step.line else step.path or "a rule"
        if step.src in _NO_RULES:
            return Reason("upstream", f"{_NO_RULES[step.src]}, which was not so {not_so}", chain)
        if step.src.startswith("root:"):
            root, text = self.rule_cause(source)
            return Reason(root, f"root {source} {names}: {text}", chain)
        changed = self.upstream_changed(step.path) if step.path else None
        line = (
            "".join(own.upstream_lines(step.path)[step.line - 1 : step.line])
            if changed and step.line
            else ""
        )
        if len(line) > _TELLING and line in other.upstream_lines(step.path):
            side = "the old upstream" if other is self.old else "the new upstream"
            text = (
                f"{who}, at {where}: {side} has that line, too, and it was decided otherwise there"
            )
            return Reason("rule" if self.moved_rules else "reach", text, chain)
        if changed:
            what = "removed" if self.new.has_upstream(step.path) is False else "changed"
            return Reason("upstream", f"{who}: upstream {what} {where}{self.by(step.path)}", chain)
        if self.moved_rules:
            return Reason(
                "rule", f"{who}: rules changed ({', '.join(some(sorted(self.moved_rules)))})", chain
            )
        if changed is None:
            return Reason("unknown", f"{who}, at {where}", chain)
        return Reason("reach", f"{who}, at {where}, in a file that upstream did not change", chain)

    def changed_by(self, path: str) -> Reason:
        """Tell whether upstream changed a file; nothing where that cannot be said."""
        changed = self.upstream_changed(path)
        if not changed:
            return (
                Reason() if changed is None else Reason("reach", "upstream did not change the file")
            )
        return Reason("upstream", f"upstream {fate(*self.there(path))} the file{self.by(path)}")


def compared(
    old: Mapping[str, Has], new: Mapping[str, Has]
) -> Iterator[tuple[str, Has | None, Has | None]]:
    """Yield each key of which the two sides have something else, or one has nothing, and what each
    has; sorted.
    """
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before != after:
            yield key, before, after


def fate(before: object, after: object) -> str:
    """Return what became of a thing that the sides have, or one of them."""
    return "changed" if before and after else "added" if after else "removed"


def _unnumbered(node: str) -> str:
    """Return a node's name; a statement that binds nothing is named by its line, which moves."""
    head, _, last = node.rpartition(".")
    return f"{head}.#" if last.isdigit() else node
