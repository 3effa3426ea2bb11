"""What a tool made of the files, against upstream's: the same questions to every tool, and one
counter: predicates in conditions, and tests that are constant.
"""

from __future__ import annotations

import ast
import json
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from operator import add
from pathlib import Path

from benchmarks.compare.predicates import (
    NO_FLAGS,
    NO_PREDICATES,
    Flags,
    Predicates,
    predicate_truth,
    truth,
)
from benchmarks.subjects.ruff import check_command


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one tool on all files."""

    files: int
    changed: int
    """Files whose bytes are not upstream's."""
    broken: int
    """Files that do not parse; all their predicates count as left."""
    decided: Occurrences
    """Predicates of upstream that are gone."""
    left: Occurrences
    """What still stands. Its constant tests are those that upstream does not have."""
    undefined: int
    """Undefined names (ruff F821) that upstream does not have."""
    texts: int
    """Files with a string of several lines that upstream's file does not have: what moving lines
    did to its text.
    """


@dataclass(frozen=True, slots=True)
class _File:
    found: Occurrences
    strings: frozenset[str]


class Judge:
    """Knows upstream's side."""

    def __init__(self, folder: Path, predicates: Predicates, flags: Mapping[str, Flags]) -> None:
        """
        Args:
            folder: upstream's files.
            predicates: the list.
            flags: of every file, by path below `folder`.
        """
        self._folder = folder
        self._predicates = predicates
        self._flags = flags
        self._files = {path: self._read(folder, path) for path in sorted(flags)}
        self._undefined = undefined_names(folder)

    @property
    def upstream(self) -> Occurrences:
        """What upstream has."""
        return sum((file.found for file in self._files.values() if file), Occurrences())

    def judge(self, folder: Path) -> Outcome:
        """Judge what a tool left in `folder`, which holds the same files."""
        changed = broken = texts = 0
        left = decided = Occurrences()
        for path, before in self._files.items():
            if before is None or (folder / path).read_bytes() == (self._folder / path).read_bytes():
                left += before.found.without_tests() if before else Occurrences()
                continue
            changed += 1
            after = self._read(folder, path)
            if after is None:
                broken += 1
                left += before.found.without_tests()
                continue
            new_tests = after.found.minus(before.found).constant_tests
            left += replace(after.found, constant_tests=new_tests)
            decided += before.found.minus(after.found)
            texts += bool(after.strings - before.strings)
        undefined = undefined_names(folder) - self._undefined
        return Outcome(len(self._files), changed, broken, decided, left, undefined.total(), texts)

    def _read(self, folder: Path, path: str) -> _File | None:
        tree = parse(folder / path)
        if tree is None:
            return None
        strings = frozenset(
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value
        )
        return _File(count(tree, self._predicates, self._flags.get(path, NO_FLAGS)), strings)


def parse(path: Path) -> ast.Module | None:
    """Syntax tree of a file; ``None`` when it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            return None


def undefined_names(folder: Path) -> Counter[tuple[str, str]]:
    """Undefined names by file and message, as ruff finds them in the files that parse."""
    command = check_command("F821", "json", ".")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    root = str(folder.resolve())
    return Counter(
        (found["filename"].removeprefix(root), found["message"])
        for found in json.loads(done.stdout)
        if found["code"] == "F821"
    )


@dataclass(frozen=True, slots=True)
class Occurrences:
    """What stands in the conditions of one file, or of many."""

    calls: int = 0
    """Predicates that the list names, dotted ones included."""
    flags: int = 0
    """Reads of names assigned directly from a predicate."""
    derived: int = 0
    """Reads of names assigned from an expression over these."""
    constant_tests: int = 0
    """`if`, `elif`, ternary and `while` whose test constants decide; not `while True`."""

    @property
    def predicates(self) -> int:
        """All three kinds."""
        return self.calls + self.flags + self.derived

    def without_tests(self) -> Occurrences:
        """Return the predicates alone."""
        return Occurrences(self.calls, self.flags, self.derived)

    def minus(self, other: Occurrences) -> Occurrences:
        """Return what is here and not there, kind by kind, never below zero."""
        return Occurrences(
            *(max(0, a - b) for a, b in zip(astuple(self), astuple(other), strict=True))
        )

    def __add__(self, other: Occurrences) -> Occurrences:
        return Occurrences(*map(add, astuple(self), astuple(other)))


def count(tree: ast.Module, predicates: Predicates, flags: Flags = NO_FLAGS) -> Occurrences:
    """Count in one module.

    A condition is the test of an `if`, `elif`, ternary, `while`, `assert`, comprehension or `case`,
    and every operand of `and`, `or`, `not`, whatever it is used for.

    Args:
        flags: of the module as upstream wrote it, whatever a tool has made of their assignments.
    """
    calls = direct = derived = 0
    for node in _in_conditions(tree):
        if not isinstance(node, ast.Name):
            calls += predicate_truth(node, predicates) is not None
        else:
            direct += node.id in flags.direct
            derived += node.id in flags.derived
    return Occurrences(calls, direct, derived, sum(map(_has_constant_test, ast.walk(tree))))


def _in_conditions(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield every expression inside a condition, each once."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        if inside and isinstance(node, ast.expr):
            yield node
        tests = _tests(node)
        stack.extend((child, inside or child in tests) for child in ast.iter_child_nodes(node))


def _tests(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            return [node.test]
        case ast.comprehension():
            return node.ifs
        case ast.match_case() if node.guard is not None:
            return [node.guard]
        case ast.BoolOp():
            return node.values
        case ast.UnaryOp(op=ast.Not()):
            return [node.operand]
    return []


def _has_constant_test(node: ast.AST) -> bool:
    if not isinstance(node, ast.If | ast.IfExp | ast.While):
        return False
    value = truth(node.test, NO_PREDICATES)
    return value is not None and not (isinstance(node, ast.While) and value)
