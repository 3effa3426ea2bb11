"""``keep.txt``, ``remove.txt`` and ``uncertain.txt``: one line a file, columns separated by tabs, sorted."""

from __future__ import annotations

from collections.abc import Iterable

from shrinker.report.measure import Measured
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


def _text(head: str, rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in (f"# {head}", *rows))


def _one_line(text: str) -> str:
    return " ".join(text.split())
