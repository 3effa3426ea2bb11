"""What edits mean, written a second time: on `ast` alone, as plainly as possible."""

import ast
import io
import tokenize
from collections.abc import Iterable

from shrinker.values.edits import (
    DropBlock,
    DropElement,
    DropStatement,
    DropTail,
    Edit,
    Literal,
    Raise,
    Span,
    TakeBlock,
    TakeOperand,
)

_LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
_ALLOWED = {"pass", "True", "False", "None", "else", "if", ","}


def span(node: ast.AST) -> Span:
    """Span of a node."""
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


class Reference:
    """Applies edits to the tree of a program."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self.statements: dict[Span, list[Edit]] = {}
        self.expressions: dict[Span, list[Edit]] = {}
        self.elements: set[tuple[str, Span]] = set()
        for edit in edits:
            match edit:
                case Literal() | TakeOperand():
                    self.expressions.setdefault(edit.span, []).append(edit)
                case DropElement():
                    self.elements.add((edit.container, edit.span))
                case _:
                    self.statements.setdefault(edit.span, []).append(edit)

    def apply(self, source: str) -> ast.Module:
        """The program after the edits."""
        tree = ast.parse(source)
        tree.body = self.block(tree.body)
        return tree

    def gone(self, container: str, node: ast.AST) -> bool:
        """True when an element is dropped."""
        return (container, span(node)) in self.elements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A block after the edits; may be empty."""
        out: list[ast.stmt] = []
        for node in body:
            edits = self.statements.get(span(node), [])
            raised = [e for e in edits if isinstance(e, Raise)]
            taken = [e for e in edits if isinstance(e, TakeBlock)]
            # Of edits on one statement the one that deletes most counts.
            if raised:
                out.extend(ast.parse(f"raise RuntimeError({raised[0].message!r})").body)
                break
            if any(isinstance(e, DropTail) for e in edits):
                break
            if any(isinstance(e, DropStatement) for e in edits):
                continue
            if taken:
                name, _, number = taken[0].block.partition(":")
                found = node.handlers[int(number)].body if number else getattr(node, name)  # type: ignore[attr-defined]
                # An emptied block has its `pass` before it is taken.
                out.extend(self.block(found) or ([ast.Pass()] if found and not is_elif(node, name) else []))
                continue
            out.append(self.statement(node, {e.block for e in edits if isinstance(e, DropBlock)}))
        return out

    def statement(self, node: ast.stmt, dropped: set[str]) -> ast.stmt:
        """One statement that stays."""
        if isinstance(node, ast.Try | ast.TryStar):
            node.handlers = [h for i, h in enumerate(node.handlers) if f"handler:{i}" not in dropped]
        if "orelse" in dropped:
            node.orelse = []  # type: ignore[attr-defined]
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [a for a in node.names if not self.gone("alias", a)]
        return self.children(node)  # type: ignore[return-value]

    def children(self, node: ast.AST) -> ast.AST:
        """Edits inside a node."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.decorator_list = [d for d in node.decorator_list if not self.gone("decorator", d)]
        match node:
            case ast.BoolOp():
                node.values = [v for v in node.values if not self.gone("BoolOp", v)]
            case ast.Tuple() | ast.List() | ast.Set():
                node.elts = [e for e in node.elts if not self.gone(type(node).__name__, e)]
            case ast.Dict():
                rows = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if not self.gone("Dict", v)]
                node.keys, node.values = [k for k, _ in rows], [v for _, v in rows]
            case ast.ClassDef():
                node.bases = [a for a in node.bases if not self.gone("ClassDef", a)]
                node.keywords = [k for k in node.keywords if not self.gone("ClassDef", k)]
            case ast.comprehension():
                node.ifs = [i for i in node.ifs if not self.gone("comprehension", i)]
            case ast.arg() if node.annotation is not None and self.gone("annotation", node.annotation):
                node.annotation = None
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.returns and self.gone("returns", node.returns):
                node.returns = None
        for name, value in list(ast.iter_fields(node)):
            if isinstance(value, ast.expr):
                setattr(node, name, self.expression(value))
            elif isinstance(value, ast.AST):
                self.children(value)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                arm = value[0] if name == "orelse" and is_elif(node, name) else None
                left = self.block(value)
                setattr(node, name, left or ([] if arm is not None else [ast.Pass()]))
            elif isinstance(value, list):
                setattr(node, name, [self.part(v) for v in value])
        return node

    def part(self, value: object) -> object:
        """An item of a list of children."""
        if isinstance(value, ast.expr):
            return self.expression(value)
        return self.children(value) if isinstance(value, ast.AST) else value

    def expression(self, node: ast.expr) -> ast.expr:
        """An expression after the edits."""
        edits = self.expressions.get(span(node), []) if not isinstance(node, ast.JoinedStr) else []
        for edit in edits:
            if isinstance(edit, Literal):
                return ast.parse(edit.text, mode="eval").body
        for edit in edits:
            assert isinstance(edit, TakeOperand)
            return self.expression(getattr(node, edit.child))
        self.children(node)
        if isinstance(node, ast.BoolOp) and len(node.values) == 1:
            return node.values[0]
        return node


def is_elif(node: ast.AST, name: str) -> bool:
    """True when an `if`'s `orelse` may be an `elif`: same column as far as `ast` can tell."""
    if not (isinstance(node, ast.If) and name == "orelse" and len(node.orelse) == 1):
        return False
    arm = node.orelse[0]
    return isinstance(arm, ast.If) and arm.col_offset == node.col_offset


def apply(source: str, edits: Iterable[Edit]) -> ast.Module:
    """The tree of `source` after `edits`."""
    return Reference(edits).apply(source)


def tokens(source: str) -> list[str]:
    """Texts of the tokens, comments included, layout left out."""
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string for t in found if t.type not in _LAYOUT]


def additions(before: str, after: str) -> list[str]:
    """Tokens of `after` that are neither left from `before`, in order, nor in the closed list.

    A token of the closed list never uses up one of `before`: that leaves the most for the others.
    """
    old, new = tokens(before), tokens(after)
    found: list[str] = []
    position = index = 0
    while index < len(new):
        if new[index : index + 3] == ["raise", "RuntimeError", "("] and new[index + 4] == ")":
            index += 5
            continue
        text = new[index]
        index += 1
        if text in _ALLOWED:
            continue
        try:
            position = old.index(text, position) + 1
        except ValueError:
            found.append(text)
    return found
