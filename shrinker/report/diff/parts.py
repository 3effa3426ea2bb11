"""Distributions, data tables and kernels that differ."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shrinker.program.nodes import NATIVE_SUFFIXES, suffix
from shrinker.report.diff.difference import Pair, Side, compared, fate
from shrinker.report.diff.values import Change
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.values.upstream import module_name

_TABLES = frozenset({"json", "jsonl", "csv", "tsv", "yaml", "yml", "jinja", "jinja2", "txt", "pkl", "npy"})
_DEPTH = 4
"""Folders of a path by which lines are told: `python/sglang/srt/layers`."""
_PLACES = re.compile(r" at \S+:\d+|:\d+")
_TRITON = re.compile(rb"^[ \t]*@[\w.]*\bjit\b", re.MULTILINE)


def growth(pair: Pair) -> tuple[Change, ...]:
    """Lines of both trees by folder, where they differ."""
    before, after = Counter[str](), Counter[str]()
    for side, counted in ((pair.old, before), (pair.new, after)):
        for file in side.manifest.files:
            counted["/".join(file.path.split("/")[:-1][:_DEPTH])] += file.lines_after
    moved = sorted(before.keys() | after.keys(), key=lambda folder: (-abs(after[folder] - before[folder]), folder))
    return tuple(
        Change(folder, f"{after[folder] - before[folder]:+,}", f"{before[folder]:,}", f"{after[folder]:,}")
        for folder in moved
        if before[folder] != after[folder]
    )


def dependency_changes(pair: Pair) -> tuple[Change, ...]:
    """Distributions that only one generated package requires, or with another requirement, and packages newly imported."""
    old, new = pair.old.report("dependencies.json"), pair.new.report("dependencies.json")
    if not old or not new:
        return ()
    one, other = old["distributions"], new["distributions"]
    rows: list[Change] = []
    for name, before, after in compared(_required(one), _required(other)):
        reason = other[name]["reason"] if name in other else "upstream declares it no more"
        if name not in one:
            reason = f"upstream declares it now; {reason}"
        rows.append(Change(name, fate(before, after), before or "", after or "", reason=reason))
    imported = _imported(pair.new, "external")
    for name in sorted(imported.keys() - _imported(pair.old, "external").keys() if pair.old.graph else ()):
        path = imported[name].rpartition(":")[0]
        rows.append(Change(name, "import added", where=path, reason=_upstream(pair, path)))
    return tuple(rows)


def _imported(side: Side, kind: str) -> dict[str, str]:
    """Nodes of a kind that kept code imports (packages from outside, names of kernel libraries), each with the first place that does."""
    nodes, paths = side.graph.get("nodes", ()), side.graph.get("paths", ())
    found: dict[str, str] = {}
    for _, target, _, path, line in side.graph.get("edges", ()):
        if nodes[target].startswith(f"{kind}:"):
            found.setdefault(nodes[target].partition(":")[2], f"{paths[path]}:{line}")
    return found


def uncertain_changes(pair: Pair) -> tuple[Change, ...]:
    """Places that only one side keeps because they could not be decided; lines alone make no difference."""
    if not pair.old.graph or not pair.new.graph:
        return ()
    one, other = (
        {(path, _PLACES.sub("", reason)): (line, reason) for path, line, reason in side.graph["uncertain"]}
        for side in (pair.old, pair.new)
    )
    rows: list[Change] = []
    for path, text in sorted(one.keys() ^ other.keys()):
        new = (path, text) in other
        line, reason = (other if new else one)[path, text]
        rows.append(
            Change(path, "added" if new else "removed", where=f"{path}:{line}" if line else path, reason=reason)
        )
    return tuple(rows)


def decision_changes(pair: Pair) -> tuple[Change, ...]:
    """Conditions, imports and table rows of files of both trees that were decided otherwise; lines alone make no difference."""
    sides = [side.graph.get("decisions", {}) for side in (pair.old, pair.new)]
    rows: list[Change] = []
    for path in sorted(pair.old.files.keys() & pair.new.files.keys()):
        old, new = (_decided(side.get(path, ())) for side in sides)
        was, now = (Counter({key: len(lines) for key, lines in side.items()}) for side in (old, new))
        told: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
        for at, some in enumerate((was - now, now - was)):
            for kind, text, outcome in some:
                told.setdefault((kind, text), (set(), set()))[at].add(outcome)
        for (kind, text), (gone, come) in sorted(told.items()):
            outcome = min(come or gone)
            line = (new if come else old)[kind, text, outcome][-1]
            before, after = (", ".join(sorted(outcomes)) for outcomes in (gone, come))
            rows.append(Change(text, fate(gone, come), before, after, f"{path}:{line}", _upstream(pair, path)))
    return tuple(rows)


def _decided(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, str, str], list[int]]:
    """Lines of each decision of a file, by its kind, its text, and what it became by which rule."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for line, rule, kind, text, outcome, *_ in rows:
        found.setdefault((kind, text, f"{outcome} by {rule}"), []).append(line)
    return found


def table_changes(pair: Pair) -> tuple[Change, ...]:
    """Data files that differ."""
    return tuple(_file_changes(pair, lambda path: module_name(path) is None and suffix(path) in _TABLES))


def kernel_changes(pair: Pair) -> tuple[Change, ...]:
    """Native sources, Triton functions and names of kernel libraries that differ."""
    rows = list(_file_changes(pair, lambda path: suffix(path) in NATIVE_SUFFIXES))
    old, new = _imported(pair.old, "kernel"), _imported(pair.new, "kernel")
    for name in sorted(old.keys() ^ new.keys()):
        kind = "removed" if name in old else "added"
        place = (old | new)[name]
        path = place.rpartition(":")[0]
        rows.append(Change(name, f"import {kind}", where=place, reason=_upstream(pair, path)))
    rows += _triton_changes(pair)
    return tuple(rows)


def _file_changes(pair: Pair, wanted: Any) -> Iterator[Change]:
    for path, one, other in pair.differing():
        if not wanted(path):
            continue
        before, after = (f"{side.lines_after:,} lines" if side is not None else "" for side in (one, other))
        yield Change(path, fate(before, after), before, after, reason=_upstream(pair, path))


def _upstream(pair: Pair, path: str) -> str:
    changed = pair.upstream_changed(path)
    if changed is None:
        return ""
    if not changed:
        return "upstream did not change the file"
    there = pair.old.has_upstream(path), pair.new.has_upstream(path)
    words = {(False, True): "added", (True, False): "removed"}.get((bool(there[0]), bool(there[1])), "changed")
    return f"upstream {words} the file{pair.by(path)}"


def _required(distributions: Mapping[str, Any]) -> dict[str, str]:
    """How each distribution that is not dropped is declared."""
    return {
        name: "; ".join(f"{text} [{extra}]" if extra else text for extra, text in row["declared"]) or row["state"]
        for name, row in distributions.items()
        if row["state"] != "dropped"
    }


def _triton_changes(pair: Pair) -> list[Change]:
    rows: list[Change] = []
    for path, _, _ in pair.differing():
        if not path.endswith(".py"):
            continue
        before, after = _triton(pair.old.read(path)), _triton(pair.new.read(path))
        for name, was, now in compared(before, after):
            if was is None or now is None or was[0] != now[0]:
                place = f"{path}:{(now or was or ('', 0))[1]}"
                rows.append(Change(name, f"Triton {fate(was, now)}", where=place, reason=_upstream(pair, path)))
    return rows


def _triton(data: bytes) -> dict[str, tuple[str, int]]:
    """Text without comments, and line, of each function under a ``jit`` decorator."""
    tree = parsed(data) if _TRITON.search(data) is not None else None
    if tree is None:
        return {}
    found: dict[str, tuple[str, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            plain = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
            if "jit" in map(last_name, plain):
                found[node.name] = (ast.unparse(node), node.lineno)
    return found
