"""Reports of one line a row, columns separated by tabs: ``keep.txt``, ``remove.txt``, ``uncertain.txt``, ``errors.txt``, ``tuning.txt``, ``lines.txt``, all
sorted, and ``questionable.txt``: what stays, and rules that are there, for little or no reason; by lines.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shrinker.report.summary import CODE, Measured, tally
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph

_NAMED = "by name"
_DEFINITIONS = ("function", "class", "member")
_ROOTS = ("root", "keep", "api")
"""Kinds of rules that keep something by naming it."""

Row = tuple[str, int, str]
"""A definition or rule, lines, and why to ask."""


def file_lists(graph: Graph, folded: Mapping[str, FoldedModule], files: Sequence[Measured]) -> dict[str, str]:
    """By file name the lists of what stays and what goes: ``keep.txt``, ``remove.txt``, ``uncertain.txt``, whose paths have a line where it is
    not the whole file, and ``errors.txt``, which has the statements that became the named error of a removed feature, by upstream's lines.
    """
    kept = ((f.path, f.before, f.after, graph.kept.get(f.path, "written by a rule")) for f in files if f.kept)
    gone = ((f.path, f.before, graph.removed[f.path]) for f in files if f.path in graph.removed)
    removed = ((path, lines, removal.rule, removal.reason) for path, lines, removal in gone)
    uncertain = ((f"{u.path}:{u.line}" if u.line else u.path, _one_line(u.reason)) for u in graph.uncertain)
    errors = (
        (f"{path}:{decision.line}", decision.rule, _one_line(decision.text))
        for path, module in sorted(folded.items())
        for decision in sorted(module.decisions, key=lambda d: d.line)
        if decision.outcome == "raises"
    )
    return {
        "keep.txt": _text("path\tlines before\tlines after\tfirst reason", kept),
        "remove.txt": _text("path\tlines\trule\treason", removed),
        "uncertain.txt": _text("path\treason", uncertain),
        "errors.txt": _text("path\trule\tstatement that is now the named error", errors),
    }


def tuning_list(graph: Graph) -> str:
    """Card, shape and what else the name says, and rule, of each tuning table that is gone: the kernel then takes its default there."""
    rows: set[tuple[str, ...]] = set()
    for path, removal in graph.removed.items():
        shape, found, rest = path.rpartition("/")[2].removesuffix(".json").partition(",device_name=")
        if found:
            card, _, more = rest.partition(",")
            rows.add((card, shape, more, removal.rule))
    return _text("card\tshape\ttype\trule", sorted(rows))


def lines_list(files: Sequence[Measured]) -> str:
    """Folder, language, files and lines before and after; first the sums: of a language, and of Python, C++ and CUDA together."""
    groups = (
        *tally((file for file in files if file.language in CODE), lambda file: f"all\t{', '.join(CODE)}"),
        *tally(files, lambda file: f"all\t{file.language}"),
        *sorted(tally(files, lambda file: f"{file.area}\t{file.language}"), key=lambda row: row.name),
    )
    rows = ((row.name, *row.counts.values()) for row in groups)
    return _text("folder\tlanguage\tfiles before\tfiles after\tlines before\tlines after", rows)


def _text(head: str, rows: Iterable[Iterable[object]]) -> str:
    return "".join(f"{line}\n" for line in (f"# {head}", *("\t".join(map(str, row)) for row in rows)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def questionable(symbols: Mapping[str, Any], rules: Mapping[str, Any]) -> list[Row]:
    """Rules without effect, and rules that are wider than what they hit; then definitions that stay for nothing but an
    attribute of their name that is read somewhere. Each by lines; from the saved search and the content of ``rules.json``.
    """
    found = (_rules(symbols, rules), _named(symbols))
    return [row for rows in found for row in sorted(rows, key=lambda row: (-row[1], row[0], row[2]))]


def questionable_list(folder: Path) -> str:
    """The text of the report, by the other reports of the run in its folder."""
    symbols, rules = (json.loads((folder / name).read_text("utf-8")) for name in ("symbols.json", "rules.json"))
    return _text("definition or rule\tlines\twhy to ask", questionable(symbols, rules))


def _named(symbols: Mapping[str, Any]) -> Iterator[Row]:
    for (_, kind, name, first, last, _, live), edge in zip(symbols["units"], symbols["best"], strict=False):
        if live and edge and symbols["kinds"][edge[1]] == _NAMED and kind in _DEFINITIONS:
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
        why = f"a [[{kinds[rule]}]] rule that names modules which upstream has not: {', '.join(patterns)}"
        yield rule, effects.get(rule, {}).get("lines", 0), why
