"""What folding left behind in a changed file: conditions without a name in them, and empty blocks.

Upstream's own are told apart by what they say and the definition they stand in, since lines move.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from shrinker.syntax.parsing import parse
from shrinker.syntax.ranges import Placed, meets
from shrinker.syntax.walk import Definition, children
from shrinker.values.leftovers import Residue

_JOINING = re.compile(r"\b(?:if|and|or)\b")

_Found = tuple[str, str, str, int]
"""Kind, qualified definition, text, line."""
_OF_CONSTANTS = (ast.UnaryOp, ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.Compare)


def residues(path: str, generated: ast.Module, text: str, upstream: str) -> tuple[Residue, ...]:
    """Those of the generated file that upstream's file does not have as often in the same definition.

    Args:
        path: of both files.
        generated: syntax tree of the generated file.
        text: its text.
        upstream: text of upstream's file; parsed only when there is something to compare.
    """
    found = list(_Search(text).block(generated.body, ""))
    if not found:
        return ()
    theirs = Counter(item[:3] for item in _Search(upstream).block(parse(upstream, path).body, ""))
    out: list[Residue] = []
    for kind, where, shown, line in found:
        if theirs[kind, where, shown] > 0:
            theirs[kind, where, shown] -= 1
        else:
            out.append(Residue(kind, path, line, shown))
    return tuple(out)


class _Search:
    """Looks into an expression only when a word that joins conditions stands on one of its lines."""

    def __init__(self, text: str) -> None:
        self._joined = [number for number, line in enumerate(text.split("\n"), 1) if _JOINING.search(line)]

    def block(self, body: Iterable[ast.stmt], where: str) -> Iterator[_Found]:
        for node in body:
            if isinstance(node, Definition):
                yield from self.inside(node, f"{where}.{node.name}")
                continue
            other = [] if isinstance(node, ast.While) else getattr(node, "orelse", [])
            if _is_pass(other):
                yield "empty else", where, "else: pass", other[0].lineno
            if isinstance(node, ast.If) and _is_pass(node.body) and not other:
                yield "empty if", where, f"if {ast.unparse(node.test)}: pass", node.lineno
            match node:
                case ast.Assert(test=ast.Constant(value=False)):
                    pass  # An assertion that fails is an error with upstream's own words.
                case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                    yield from _test(type(node).__name__.lower(), test, where)
            yield from self.inside(node, where)

    def inside(self, node: ast.stmt | ast.ExceptHandler | ast.match_case, where: str) -> Iterator[_Found]:
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody"):
                yield from self.block(value, where)
                continue
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, ast.ExceptHandler | ast.match_case):
                    yield from self.inside(item, where)
                elif isinstance(item, ast.AST) and self.is_joined(item):
                    yield from _expressions(item, where)

    def is_joined(self, node: ast.AST) -> bool:
        # Parameters and `with` items have no place of their own.
        return not isinstance(node, Placed) or meets(self._joined, node)


def _expressions(tree: ast.AST, where: str) -> Iterator[_Found]:
    for node in ast.walk(tree):
        match node:
            case ast.IfExp():
                yield from _test("ternary", node.test, where)
            case ast.comprehension():
                for condition in node.ifs:
                    yield from _test("comprehension", condition, where)
            case ast.BoolOp():
                for _ in filter(_is_literal, node.values):
                    yield "constant operands", where, ast.unparse(node), node.lineno


def _test(kind: str, test: ast.expr, where: str) -> Iterator[_Found]:
    if _is_constant(test):
        yield "constant tests", where, f"{kind} {ast.unparse(test)}", test.lineno


def _is_constant(node: ast.expr) -> bool:
    """True for what no name is in: constants, and operations and displays of nothing else."""
    parts = (_is_constant(part) for part in children(node) if isinstance(part, ast.expr))
    return isinstance(node, ast.Constant) or (isinstance(node, _OF_CONSTANTS) and all(parts))


def _is_pass(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Pass)


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
