"""What a run left, and what is told of one thing; and what would leave with it: `shrinker explain --retained`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.check.refused import TABLE, tables_of
from shrinker.program.answers import SavedRun
from shrinker.program.saved import load_report
from shrinker.report.retained import Retained
from shrinker.values.errors import InputError

_MOST = 12
"""Rows of a list."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one thing."""

    subject: str
    verdict: str
    """``kept``, ``removed``, ``partly kept``, ``refused`` (some values of it are), ``rule`` or ``leaves``."""
    because: tuple[str, ...]
    change: str
    """What would change it."""
    upstream: str = ""
    """Path and line there."""
    generated: str = ""
    """The same in the generated tree."""


@dataclass
class Generated:
    """One generated tree, `out`, with its reports."""

    out: Path
    graph: Path
    """The saved graph of its run; the other reports lie beside it."""
    shown: Path
    """The tree as it is written in answers."""
    upstream: Callable[[str], str]
    """Text of upstream's file with a path; empty where it cannot be read."""

    @cached_property
    def run(self) -> SavedRun:
        """What the run saved."""
        return SavedRun(self.graph)

    @cached_property
    def lines(self) -> dict[str, int]:
        """Lines of each kept file in the tree."""
        rows = self.graph.with_name("keep.txt").read_text("utf-8").splitlines()[1:]
        return {path: int(after) for path, _, after, _ in (row.split("\t") for row in rows)}

    def report(self, name: str) -> Any:
        """A report in JSON. Raises InputError when it is not there."""
        return load_report(self.graph.with_name(name))

    @cached_property
    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Rows of the tables with which the tree itself answers."""
        return {name: [row for _, row in rows] for name, rows in tables_of(self.out).items()}

    def texts(self) -> Iterator[tuple[str, str]]:
        """Path and text of each Python file that upstream has, too."""
        for path in self.run.data["kept"]:
            if path.endswith(".py") and path != TABLE:
                yield path, (self.out / path).read_text("utf-8", "replace")

    def places(self, pattern: str, word: str) -> Iterator[str]:
        """``path:line`` of each place of the tree where a pattern stands that holds a word."""
        sought = re.compile(pattern, re.MULTILINE)
        for path, text in self.texts():
            for found in sought.finditer(text) if word in text else ():
                yield f"{self.shown / path}:{text.count(chr(10), 0, found.start(found.lastindex or 0)) + 1}"

    def first(self, pattern: str, word: str) -> str:
        """The first of these places; empty when there is none."""
        return next(self.places(pattern, word), "")

    def gone(self, word: str) -> Iterator[str]:
        """``path:line`` of the first place in each of upstream's Python files of a word that the tree has not."""
        sought = re.compile(rf"\b{re.escape(word)}\b")
        for path in (*self.run.data["kept"], *self.run.data["removed"]):
            if path.endswith(".py") and word in (text := self.upstream(path)) and (found := sought.search(text)):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}"


def without(*rules: str) -> str:
    """What undoes what some rules removed, each one, or several together that are joined by ``+``."""
    told = "take rule {} out of the profile; `shrinker ablate {}` says what comes back"
    return "; ".join(told.format(rule.replace("+", ", "), rule.replace("+", " ")) for rule in dict.fromkeys(rules))


def several(count: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def leaving_rule(tree: Generated, rule: str) -> Answer:
    """What leaves with a rule that names roots. Raises InputError when it names none."""
    if paths := Retained(tree.run.data, tree.lines).with_rule(rule):
        return Answer(rule, "leaves", tuple(_files(tree, paths)), without(rule))
    raise InputError(f"rule {rule} alone keeps no file", f"ask `shrinker ablate {rule}` what it does")


def leaving(tree: Generated, kept: Answer) -> Answer:
    """What leaves with a folder, file or definition that is kept. Raises InputError for anything else, or where the run looked at modules only."""
    place, symbols = kept.upstream, tree.run.symbols
    inside = [path for path in tree.lines if path == place or (place.endswith("/") and path.startswith(place))]
    if inside:
        paths = Retained(tree.run.data, tree.lines).with_paths(inside)
        whole = frozenset(paths)
        units = [n for n in range(len(symbols.units)) if symbols.path(n) in whole] if symbols else []
        change = "a [[remove]] rule that names it, or taking out what is listed by `shrinker explain`"
        because = (*_files(tree, paths), *_units(tree, units, whole))
        return replace(kept, verdict="leaves", because=because, change=change)
    found = [n for n in symbols.find(kept.subject) if symbols.units[n].live] if symbols else []
    if not found:
        raise InputError(f"{kept.subject} is no file, folder, rule or definition", "ask for what imports or defines it")
    return replace(kept, verdict="leaves", because=tuple(_units(tree, found, frozenset())))


def _files(tree: Generated, paths: list[str]) -> Iterator[str]:
    yield f"{several(len(paths), 'file')}, {several(sum(tree.lines[path] for path in paths), 'line')}"
    yield from _largest([(tree.lines[path], path) for path in paths] if len(paths) > 1 else [])


def _units(tree: Generated, cut: list[int], whole: frozenset[str]) -> Iterator[str]:
    """Definitions and statements, but for those of files that leave as a whole."""
    symbols = tree.run.symbols
    if symbols is None:
        return
    gone = set(symbols.leaving(cut))
    found = [
        (unit.end_line - unit.line + 1, f"{symbols.path(n)}:{unit.line}  {unit.name}")
        for n, unit in enumerate(symbols.units)
        if n in gone and symbols.path(n) not in whole and unit.owner not in gone and unit.kind != "import"
    ]
    if found:
        lines = several(sum(count for count, _ in found), "line")
        yield f"{'in files that stay, ' if whole else ''}{lines} of upstream, {several(len(found), 'place')}"
        yield from _largest(found)


def _largest(rows: list[tuple[int, str]]) -> Iterator[str]:
    """Lines and what has them, the most first."""
    ordered = sorted(rows, key=lambda row: (-row[0], row[1]))
    yield from (f"{count:>7,}  {place}" for count, place in ordered[:_MOST])
    if len(rows) > _MOST:
        yield f"… {len(rows) - _MOST:,} more"
