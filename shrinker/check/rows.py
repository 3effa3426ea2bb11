"""Rows of tables, items of lists and registering calls whose value is still there, and rows of tables that are asked by what something is."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from shrinker.check.refused import Refused, refused_rows, table_of
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees


def lost_rows(trees: Trees, seen: Seen) -> None:
    """What looks where a row is gone finds another one, or none. A table that went as a whole is looked at by nobody.

    Rows may go whose key the tree refuses by name, that name members of enumerations which the rules remove, or with the test that they
    stand under; but none of a member where a loop goes through its enumeration.
    """
    index, refused = trees.index, [*refused_rows(table_of(trees.out))]
    for symbols, upstream in trees.pairs():
        there = Counter((where, key, value) for where, key, value, _ in symbols.rows)
        tables = {where for where, _, _ in there}
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
            elif key.partition(".")[0] in symbols.loops or (
                value.partition(".")[0] in symbols.bound
                and not (index is not None and any(map(index.removes_member, (key, value))))
                and not _is_refused(key.strip("'"), keys[where], refused)
                and line not in trees.decided_lines(symbols.path)
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


def _is_refused(text: str, others: AbstractSet[str], rows: Iterable[Refused]) -> bool:
    """True when the tree ends a run by a text that stands in a table with others."""
    return any(text in row.values or (text not in row.only and not others.isdisjoint(row.only)) for row in rows)
