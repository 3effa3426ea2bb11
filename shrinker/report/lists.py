"""``keep.txt``, ``remove.txt``, ``uncertain.txt``, ``errors.txt``, ``tuning.txt`` and ``lines.txt``: one line a file, columns separated by tabs, sorted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shrinker.report.measure import CODE, Measured, tally
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph


def keep_list(graph: Graph, files: Iterable[Measured]) -> str:
    """Path, lines before, lines after, first reason."""
    rows = [
        f"{file.path}\t{file.before}\t{file.after}\t{graph.kept.get(file.path, 'written by a rule')}"
        for file in files
        if file.kept
    ]
    return _text("path\tlines before\tlines after\tfirst reason", rows)


def remove_list(graph: Graph, files: Iterable[Measured]) -> str:
    """Path, lines, rule, reason."""
    rows = [
        f"{file.path}\t{file.before}\t{removal.rule}\t{removal.reason}"
        for file in files
        if (removal := graph.removed.get(file.path)) is not None
    ]
    return _text("path\tlines\trule\treason", rows)


def uncertain_list(graph: Graph) -> str:
    """Path (with the line, where it is not the whole file), reason."""
    rows = [f"{u.path}{f':{u.line}' if u.line else ''}\t{_one_line(u.reason)}" for u in graph.uncertain]
    return _text("path\treason", rows)


def errors_list(folded: Mapping[str, FoldedModule]) -> str:
    """Path and line in upstream, rule, and the statement that became the named error of a removed feature."""
    rows = [
        f"{path}:{decision.line}\t{decision.rule}\t{_one_line(decision.text)}"
        for path, module in sorted(folded.items())
        for decision in sorted(module.decisions, key=lambda d: d.line)
        if decision.outcome == "raises"
    ]
    return _text("path\trule\tstatement that is now the named error", rows)


def tuning_list(graph: Graph) -> str:
    """Card, shape and what else the name says, and rule, of each tuning table that is gone: the kernel then takes its default there."""
    rows: set[str] = set()
    for path, removal in graph.removed.items():
        shape, found, rest = path.rpartition("/")[2].removesuffix(".json").partition(",device_name=")
        if found:
            card, _, more = rest.partition(",")
            rows.add(f"{card}\t{shape}\t{more}\t{removal.rule}")
    return _text("card\tshape\ttype\trule", sorted(rows))


def lines_list(files: Iterable[Measured]) -> str:
    """Folder, language, files and lines before and after; first the sums: of a language, and of Python, C++ and CUDA together."""
    files = [*files]
    code = [file for file in files if file.language in CODE]
    groups = (
        tally(code, lambda file: f"all\t{', '.join(CODE)}"),
        tally(files, lambda file: f"all\t{file.language}"),
        sorted(tally(files, lambda file: f"{file.area}\t{file.language}"), key=lambda row: row.name),
    )
    rows = [
        f"{row.name}\t{row.files_before}\t{row.files_after}\t{row.lines_before}\t{row.lines_after}"
        for group in groups
        for row in group
    ]
    return _text("folder\tlanguage\tfiles before\tfiles after\tlines before\tlines after", rows)


def _text(head: str, rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in (f"# {head}", *rows))


def _one_line(text: str) -> str:
    return " ".join(text.split())
