"""Distributions, data tables and kernels that differ."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shrinker.program.nodes import NATIVE_SUFFIXES, suffix
from shrinker.report.diff.difference import Pair, compared, fate
from shrinker.report.diff.side import Side
from shrinker.report.diff.values import Reason, Row
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed

_TABLES = frozenset({"json", "jsonl", "csv", "tsv", "yaml", "yml", "jinja", "jinja2", "txt", "pkl", "npy"})
_DEPTH = 4
"""Folders of a path by which lines are told: `python/sglang/srt/layers`."""
_PLACES = re.compile(r" at \S+:\d+|:\d+")
_TRITON = re.compile(rb"^[ \t]*@[\w.]*\bjit\b", re.MULTILINE)


def growth(pair: Pair) -> Iterator[Row]:
    """Lines of both trees by folder, where they differ."""
    before, after = Counter[str](), Counter[str]()
    for side, counted in ((pair.old, before), (pair.new, after)):
        for file in side.manifest.files:
            counted["/".join(file.path.split("/")[:-1][:_DEPTH])] += file.lines_after
    grown = {folder: after[folder] - before[folder] for folder in before | after if before[folder] != after[folder]}
    for folder, lines in sorted(grown.items(), key=lambda row: (-abs(row[1]), row[0])):
        yield Row(folder, f"{lines:+,}", f"{before[folder]:,}", f"{after[folder]:,}", f"{folder}/")


def dependency_changes(pair: Pair) -> Iterator[Row]:
    """Distributions that only one generated package requires, or with another requirement, and packages newly imported."""
    old, new = pair.old.report("dependencies.json"), pair.new.report("dependencies.json")
    if not old or not new:
        return
    one, other = old["distributions"], new["distributions"]
    for name, before, after in compared(_required(one), _required(other)):
        why = Reason("upstream", "upstream declares it no more")
        if name in other:
            why = Reason("reach", other[name]["reason"])
        if name not in one:
            why = Reason("upstream", f"upstream declares it now; {why.text}")
        yield Row(name, fate(before, after), before or "", after or "", reason=why)
    known = _imported(pair.old, "external")
    for name, (path, _) in sorted(_imported(pair.new, "external").items() if pair.old.graph else ()):
        if name not in known:
            yield Row(name, "import added", path=path, reason=pair.changed_by(path))


def _required(distributions: Mapping[str, Any]) -> dict[str, str]:
    """How each distribution that is not dropped is declared."""
    return {
        name: "; ".join(f"{text} [{extra}]" if extra else text for extra, text in row["declared"]) or row["state"]
        for name, row in distributions.items()
        if row["state"] != "dropped"
    }


def _imported(side: Side, kind: str) -> dict[str, tuple[str, int]]:
    """Nodes of a kind that kept code imports (packages from outside, names of kernel libraries), each with the first place that does."""
    nodes, paths = side.graph.get("nodes", ()), side.graph.get("paths", ())
    found: dict[str, tuple[str, int]] = {}
    for _, target, _, path, line in side.graph.get("edges", ()):
        if nodes[target].startswith(f"{kind}:"):
            found.setdefault(nodes[target].partition(":")[2], (paths[path], line))
    return found


def uncertain_changes(pair: Pair) -> Iterator[Row]:
    """Places that only one side keeps because they could not be decided; lines alone make no difference."""
    if not pair.reported:
        return
    one, other = (
        {(path, _PLACES.sub("", reason)): (line, reason) for path, line, reason in side.graph["uncertain"]}
        for side in (pair.old, pair.new)
    )
    for key in sorted(one.keys() ^ other.keys()):
        kind, (line, reason) = ("added", other[key]) if key in other else ("removed", one[key])
        yield Row(key[0], kind, path=key[0], upstream=line, reason=Reason("reach", reason))


def decision_changes(pair: Pair) -> Iterator[Row]:
    """Conditions, imports and table rows of files of both trees that were decided otherwise; lines alone make no difference."""
    sides = [side.graph.get("decisions", {}) for side in (pair.old, pair.new)]
    for path in sorted(pair.old.files.keys() & pair.new.files.keys()):
        old, new = (_decided(side.get(path, ())) for side in sides)
        was, now = (Counter({key: len(lines) for key, lines in side.items()}) for side in (old, new))
        told: dict[tuple[str, str], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for at, some in enumerate((was - now, now - was)):
            for kind, text, outcome in some:
                told[kind, text][at].add(outcome)
        for (kind, text), (gone, come) in sorted(told.items()):
            outcome = min(come or gone)
            line = (new if come else old)[kind, text, outcome][-1]
            before, after = (", ".join(sorted(outcomes)) for outcomes in (gone, come))
            why = pair.changed_by(path)
            if gone and come:
                why = replace(why, cause="reach")
            yield Row(text, fate(gone, come), before, after, path, upstream=line, reason=why)


def _decided(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, str, str], list[int]]:
    """Lines of each decision of a file, by its kind, its text, and what it became by which rule."""
    found: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for line, rule, kind, text, outcome, *_ in rows:
        found[kind, text, f"{outcome} by {rule}"].append(line)
    return found


def data_changes(pair: Pair) -> Iterator[Row]:
    """Data files that differ."""
    return _file_changes(pair, _TABLES)


def kernel_changes(pair: Pair) -> Iterator[Row]:
    """Native sources, Triton functions and names of kernel libraries that differ."""
    yield from _file_changes(pair, NATIVE_SUFFIXES)
    old, new = _imported(pair.old, "kernel"), _imported(pair.new, "kernel")
    for name in sorted(old.keys() ^ new.keys()):
        path, line = (old | new)[name]
        kind = "import removed" if name in old else "import added"
        yield Row(name, kind, path=path, line=line, reason=pair.changed_by(path))
    yield from _triton_changes(pair)


def _file_changes(pair: Pair, suffixes: frozenset[str]) -> Iterator[Row]:
    for path, one, other in pair.differing():
        if suffix(path) in suffixes:
            before, after = (f"{side.lines_after:,} lines" if side is not None else "" for side in (one, other))
            yield Row(path, fate(before, after), before, after, path, reason=pair.changed_by(path))


def _triton_changes(pair: Pair) -> Iterator[Row]:
    for path in (path for path, _, _ in pair.differing() if path.endswith(".py")):
        for name, was, now in compared(_triton(pair.old.read(path)), _triton(pair.new.read(path))):
            if was is None or now is None or was[0] != now[0]:
                line = (now or was or ("", 0))[1]
                yield Row(name, f"Triton {fate(was, now)}", path=path, line=line, reason=pair.changed_by(path))


def _triton(data: bytes) -> dict[str, tuple[str, int]]:
    """Text without comments, and line, of each function under a ``jit`` decorator."""
    tree = parsed(data) if _TRITON.search(data) is not None else None
    return {
        node.name: (ast.unparse(node), node.lineno)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef)
        and any(last_name(d.func if isinstance(d, ast.Call) else d) == "jit" for d in node.decorator_list)
    }
