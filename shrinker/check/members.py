"""What kept definitions lost: members whose names kept code still looks up on what may be of the class, and decorators.

Classes are told apart by their last names, so that two of one name count as one: what is asked is asked of both.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from shrinker.check.families import Families
from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import ModuleSymbols
from shrinker.values.outcome import Finding


def lost_members(
    kept: Iterable[ModuleSymbols],
    before: Mapping[str, ModuleSymbols],
    families: Families,
    index: RuleIndex | None = None,
) -> tuple[int, list[Finding]]:
    """Compare the classes of both trees.

    Args:
        kept: every file of the generated tree.
        before: by path, upstream's symbols of each of these files that is not as upstream wrote it.
        families: of `kept`.
        index: of the rules; a name that was a member of an enumeration that these remove may go.

    Returns:
        How many members went from classes that stay, and the look-ups that would not find one.
    """
    count = 0
    found: list[Finding] = []
    for symbols, upstream in _changed(kept, before):
        there = {each.name: {name for name, _ in each.members} for each in symbols.classes}
        for each in upstream.classes:
            if each.name not in there:
                continue
            last = each.name.rpartition(".")[2]
            values = dict(each.members_of_others)
            for name, line in each.members:
                if name in there[each.name]:
                    continue
                count += 1
                if index is not None and index.removes_member(symbols.module or "", values.get(name, "")):
                    continue
                why = "" if name.startswith("__") and name.endswith("__") else None
                if name in each.fields and families.has_fields(last):
                    why = ", a field: what makes one gives it by place or by name"
                elif not name.startswith("_") and (caller := families.outside(last)):
                    why = f", which {caller} of another package may call"
                if why is not None:
                    # Nobody here has to look these up: Python does, or who makes or drives the object.
                    message = f"class {each.name} lost {name}{why} (upstream: line {line})"
                    found.append(Finding("members", symbols.path, 0, message))
                    continue
                missed = families.look_up(name, last)
                if missed is not None:
                    where = f"{symbols.path}:{line}"
                    message = f"looks up {name!r}, which class {each.name} no longer has (upstream: {where})"
                    found.append(Finding("members", missed[0], missed[1].line, message))
    return count, found


def lost_decorators(kept: Iterable[ModuleSymbols], before: Mapping[str, ModuleSymbols]) -> tuple[int, list[Finding]]:
    """Decorators that a kept definition had: what registers it, or wraps it, decides what it is.

    A definition that a file has twice (on two branches) is left out.

    Args:
        kept: every file of the generated tree.
        before: as of `lost_members`.

    Returns:
        How many decorators upstream has on definitions that stay, and those that are gone.
    """
    count = 0
    found: list[Finding] = []
    for symbols, upstream in _changed(kept, before):
        once, theirs = _once(symbols), _once(upstream)
        for name in once.keys() & theirs.keys():
            line, left = once[name]
            count += len(theirs[name][1])
            lost = Counter(theirs[name][1]) - Counter(left)
            found += [Finding("decorators", symbols.path, line, f"{name} lost @{decorator}") for decorator in lost]
    return count, found


def lost_rows(
    kept: Iterable[ModuleSymbols],
    before: Mapping[str, ModuleSymbols],
    refused: Refused,
    index: RuleIndex | None = None,
    never_run: Callable[[str], Iterable[tuple[int, int]]] = lambda path: (),
) -> tuple[int, list[Finding]]:
    """Rows of tables, items of lists and registering calls whose value is still there: what looks there finds another one, or none.

    A table that went as a whole is looked at by nobody.

    Args:
        kept: every file of the generated tree.
        before: as of `lost_members`.
        refused: by which keys the generated tree ends a run: their rows may go.
        index: of the rules; rows of members of enumerations that these remove may go.
        never_run: first and last lines of what by the rules never runs in upstream's file of a path; asked only for one that lost a row.

    Returns:
        How many rows upstream has in tables that stay, and those that are gone.
    """
    count = 0
    found: list[Finding] = []
    for symbols, upstream in _changed(kept, before):
        there = Counter((where, key, value) for where, key, value, _ in symbols.rows)
        tables = {where for where, _, _, _ in symbols.rows}
        keys: dict[str, set[str]] = defaultdict(set)
        for where, key, _, _ in upstream.rows:
            keys[where].add(key.strip("'"))
        for where, key, value, line in upstream.rows:
            root = where.partition("(")[0].partition(".")[0]
            if where not in tables and not (where.endswith("()") and root in symbols.bound):
                continue
            count += 1
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
                message = f"{where} lost {shown}, which is still there (upstream: line {line})"
                found.append(Finding("rows", symbols.path, 0, message))
    return count, found


def lost_dispatches(kept: Iterable[ModuleSymbols], before: Mapping[str, ModuleSymbols]) -> tuple[int, list[Finding]]:
    """Classes that are still there, and that a table which is still there had a row for: what is made of them meets no handler.

    Args:
        kept: every file of the generated tree.
        before: as of `lost_members`.

    Returns:
        How many rows upstream has in such tables, and those that are gone.
    """
    symbols = list(kept)
    classes = {each.name.rpartition(".")[2] for file in symbols for each in file.classes}
    count = 0
    found: list[Finding] = []
    for file, upstream in _changed(symbols, before):
        left = [row for table in file.dispatches for row in table]
        asked = {kind for row in left for kind in row.kinds}
        stays = {(kind, row.value) for row in left for kind in row.kinds}
        for table in upstream.dispatches:
            if not any((kind, row.value) in stays for row in table for kind in row.kinds):
                continue
            count += len(table)
            for row in table:
                lost = sorted(kind for kind in row.kinds if kind in classes and kind not in asked)
                if lost:
                    names = " and ".join(lost)
                    message = f"a table lost its row for {names}, of the kept classes (upstream: line {row.line})"
                    found.append(Finding("rows", file.path, 0, message))
    return count, found


@dataclass(frozen=True, slots=True)
class Refused:
    """By which texts a generated tree ends a run."""

    values: frozenset[str] = frozenset()
    only: tuple[frozenset[str], ...] = ()
    """Each: all that something may be, so that every other text is refused."""

    def has(self, text: str, others: Collection[str]) -> bool:
        """True when a text is refused that stands in a table with others."""
        return text in self.values or any(text not in only and not only.isdisjoint(others) for only in self.only)


def read_refused(module: str) -> Refused:
    """Of the text of `removed_features.py`; nothing of one that does not parse, which the level *form* finds."""
    values: set[str] = set()
    only: list[frozenset[str]] = []
    try:
        tree = ast.parse(module)
    except SyntaxError:
        return Refused()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
            texts = [ast.literal_eval(argument) for argument in node.args]
            values.update(texts[2])
            only += [frozenset(texts[3])] if texts[3] else []
    return Refused(frozenset(values), tuple(only))


def _changed(
    kept: Iterable[ModuleSymbols], before: Mapping[str, ModuleSymbols]
) -> Iterator[tuple[ModuleSymbols, ModuleSymbols]]:
    """Files that are not as upstream wrote them, with upstream's."""
    return ((symbols, before[symbols.path]) for symbols in kept if symbols.path in before)


def _once(symbols: ModuleSymbols) -> dict[str, tuple[int, tuple[str, ...]]]:
    times = Counter(name for name, _, _ in symbols.decorated)
    return {name: (line, decorators) for name, line, decorators in symbols.decorated if times[name] == 1}
