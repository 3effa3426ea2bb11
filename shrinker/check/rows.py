"""Rows of tables, items of lists and registering calls whose value is still there, and rows of tables that are asked by what something is."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache as remembered

from shrinker.check.arms import dead_lines
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees
from shrinker.values.refusals import FILE as REFUSALS_FILE
from shrinker.values.upstream import PACKAGE_PREFIX


def lost_rows(trees: Trees, seen: Seen) -> None:
    """What looks where a row is gone finds another one, or none. A table that went as a whole is looked at by nobody.

    Rows may go whose key the tree refuses by name, that name members of enumerations which the rules remove, or that never run.
    """
    index, refused = trees.index, _read_refused(trees)

    @remembered
    def never_run(path: str) -> list[tuple[int, int]]:
        return dead_lines(trees.source.root, index, path) if index is not None else []

    for symbols, upstream in trees.pairs():
        there = Counter((where, key, value) for where, key, value, _ in symbols.rows)
        tables = {where for where, _, _, _ in symbols.rows}
        keys: dict[str, set[str]] = defaultdict(set)
        for where, key, _, _ in upstream.rows:
            keys[where].add(key.strip("'"))
        for where, key, value, line in upstream.rows:
            root = where.partition("(")[0].partition(".")[0]
            if where not in tables and not (where.endswith("()") and root in symbols.bound):
                continue
            seen.look()
            if there[where, key, value] > 0:
                there[where, key, value] -= 1
            elif index is not None and any(index.removes_member(symbols.module or "", text) for text in (key, value)):
                continue
            elif (
                value.partition(".")[0] in symbols.bound
                and not refused.has(key.strip("'"), keys[where])
                and not any(first <= line <= last for first, last in never_run(symbols.path))
            ):
                shown = f"{key}: {value}" if key else value
                seen.find(symbols.path, 0, f"{where} lost {shown}, which is still there (upstream: line {line})")


def lost_dispatches(trees: Trees, seen: Seen) -> None:
    """Classes that are still there, and that a table which is still there had a row for: what is made of them meets no handler."""
    classes = {each.name.rpartition(".")[2] for file in trees.kept for each in file.classes}
    for symbols, upstream in trees.pairs():
        left = [row for table in symbols.dispatches for row in table]
        asked = {kind for row in left for kind in row.kinds}
        stays = {(kind, row.value) for row in left for kind in row.kinds}
        for table in upstream.dispatches:
            if not any((kind, row.value) in stays for row in table for kind in row.kinds):
                continue
            seen.look(len(table))
            for row in table:
                lost = sorted(kind for kind in row.kinds if kind in classes and kind not in asked)
                if lost:
                    what = f"a table lost its row for {' and '.join(lost)}, of the kept classes"
                    seen.find(symbols.path, 0, f"{what} (upstream: line {row.line})")


@dataclass(frozen=True, slots=True)
class _Refused:
    """By which texts a generated tree ends a run."""

    values: frozenset[str] = frozenset()
    only: tuple[frozenset[str], ...] = ()
    """Each: all that something may be, so that every other text is refused."""

    def has(self, text: str, others: Collection[str]) -> bool:
        """True when a text is refused that stands in a table with others."""
        return text in self.values or any(text not in only and not only.isdisjoint(others) for only in self.only)


def _read_refused(trees: Trees) -> _Refused:
    """Of `removed_features.py`; nothing of one that does not parse, which the level *form* finds."""
    table = trees.out / f"{PACKAGE_PREFIX}{REFUSALS_FILE}"
    values: set[str] = set()
    only: list[frozenset[str]] = []
    try:
        tree = ast.parse(table.read_text("utf-8") if table.is_file() else "")
    except SyntaxError:
        return _Refused()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
            texts = [ast.literal_eval(argument) for argument in node.args]
            values.update(texts[2])
            only += [frozenset(texts[3])] if texts[3] else []
    return _Refused(frozenset(values), tuple(only))
