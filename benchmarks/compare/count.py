"""One counter for the output of every tool: predicates in conditions, and tests that are constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.compare.predicates import NO_FLAGS, NO_PREDICATES, Flags, Predicates, predicate_truth, truth


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
        """The predicates alone."""
        return Occurrences(self.calls, self.flags, self.derived)

    def minus(self, other: Occurrences) -> Occurrences:
        """What is here and not there, kind by kind, never below zero."""
        return Occurrences(
            max(0, self.calls - other.calls),
            max(0, self.flags - other.flags),
            max(0, self.derived - other.derived),
            max(0, self.constant_tests - other.constant_tests),
        )

    def __add__(self, other: Occurrences) -> Occurrences:
        return Occurrences(
            self.calls + other.calls,
            self.flags + other.flags,
            self.derived + other.derived,
            self.constant_tests + other.constant_tests,
        )


def count(tree: ast.Module, predicates: Predicates, flags: Flags = NO_FLAGS) -> Occurrences:
    """Count in one module.

    A condition is the test of an `if`, `elif`, ternary, `while`, `assert`, comprehension or `case`, and every operand
    of `and`, `or`, `not`, whatever it is used for.

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
    """Every expression inside a condition, each once."""
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
