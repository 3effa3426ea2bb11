"""The walk over expressions, which remembers for what each of them stands in its statement."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable

from shrinker.check.leftovers.places import (
    BY_KEYWORD,
    annotated,
    call_arguments,
    compared,
    is_tensor_attribute,
    texts_of,
)
from shrinker.check.leftovers.vocabulary import Vocabulary, is_constant
from shrinker.check.uses import attribute_chain
from shrinker.syntax.walk import children
from shrinker.values.leftovers import KINDS, Kind, Leftover, Position

TENSOR_ATTRIBUTES = frozenset({"is_cuda", "is_cpu", "is_xpu", "is_mps", "is_hpu", "is_npu", "is_musa"})
# Within these a string keeps the place of the whole, however deep it stands.
_STICKY: frozenset[Position] = frozenset(
    {"named-error", "message", "help-text", "choices", "exports", "annotation", "probe"}
)
_TEXT_LIMIT = 160


class Expressions(ABC):
    """What one file holds, as far as its expressions say.

    Args:
        path: in the layout of upstream's repository.
        module: dotted name, or the path for a file that is no module.
        vocabulary: what belongs to other platforms.
    """

    def __init__(self, path: str, module: str, vocabulary: Vocabulary) -> None:
        self.path = path
        self.module = module
        self.words = vocabulary
        self.uses: set[tuple[str, str]] = set()
        """Foreign identifiers that are read, or named by a string, each with the definition that does so."""
        self.asked: set[tuple[str, int]] = set()
        """Functions that a condition or an assignment asks without an argument, with the line."""
        self._found: dict[tuple[Kind, int, str, Position], Leftover] = {}
        self._where = module
        self._shown = False
        self._imported: set[str] = set()

    @abstractmethod
    def block(self, body: Iterable[ast.stmt]) -> None:
        """Look at statements that stand inside an expression or a clause."""

    def visit(self, node: ast.AST, place: Position) -> None:
        """Look at an expression that stands in a place of the syntax."""
        match node:
            case ast.Constant():
                if isinstance(node.value, str):
                    self.string(node.lineno, node.value, place)
            case ast.Name():
                self.identifier(node.lineno, node.id, _name_place(place), False)
            case ast.Attribute():
                self.attribute(node, place, called=False)
            case ast.Call():
                self.call(node, place)
            case ast.Compare():
                inner = place if place in _STICKY else compared(node)
                sides = (node.left, *node.comparators)
                for side in sides:
                    self.visit(side, inner)
                    for other in sides:
                        self.never(side, other, inner)
            case ast.List() | ast.Tuple() | ast.Set():
                inner = "element" if place in ("value", "argument", "default", "key") else place
                for item in node.elts:
                    self.visit(item, inner)
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if key is not None:
                        self.visit(key, place if place in _STICKY else "key")
                    self.visit(value, place if place in _STICKY else "value")
            case ast.Subscript():
                self.visit(node.value, place)
                if place == "annotation" and isinstance(node.slice, ast.Tuple):
                    for index, item in enumerate(node.slice.elts):
                        self.visit(item, annotated(node.value, item) if index else place)
                else:
                    self.visit(node.slice, place if place in _STICKY else "key")
            case ast.JoinedStr():
                for part in node.values:
                    self.visit(part.value if isinstance(part, ast.FormattedValue) else part, place)
            case ast.BoolOp(values=[*asked, last]):
                # The operands of a condition are conditions; of a value only all but the last.
                for operand in asked:
                    self.visit(operand, place if place in _STICKY else "test")
                self.visit(last, place)
            case ast.UnaryOp(op=ast.Not()):
                self.visit(node.operand, place if place in _STICKY else "test")
            case ast.IfExp():
                shown, self._shown = self._shown, self._shown or place == "message"
                self.visit(node.test, "test")
                self._shown = shown
                self.visit(node.body, place)
                self.visit(node.orelse, place)
            case ast.comprehension():
                self.visit(node.target, "assignment")
                self.visit(node.iter, "value")
                for condition in node.ifs:
                    self.visit(condition, "test")
            case ast.Lambda():
                self.parameters(node.args)
                self.visit(node.body, "value")
            case _:
                self.parts(node, place)

    def parameters(self, arguments: ast.arguments) -> None:
        plain = [*arguments.posonlyargs, *arguments.args]
        given = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults + arguments.kw_defaults
        named = [*plain, *arguments.kwonlyargs]
        for argument in named:
            self.identifier(argument.lineno, argument.arg, "parameter", False)
            if argument.annotation is not None:
                self.visit(argument.annotation, "annotation")
        for argument, default in zip(named, given, strict=True):
            if default is not None:
                self.visit(default, "default")
                self.never(ast.Name(argument.arg), default, "default")

    def parts(self, node: ast.AST, place: Position) -> None:
        for child in children(node):
            if isinstance(child, ast.stmt):
                self.block([child])
            else:
                self.visit(child, place)

    def call(self, node: ast.Call, place: Position) -> None:
        asked: Position = "test" if place == "test" else "call"
        if isinstance(node.func, ast.Name):
            if place in ("test", "value") and not node.args and not node.keywords:
                self.asked.add((node.func.id, node.lineno))
            self.identifier(node.func.lineno, node.func.id, asked, True)
        elif isinstance(node.func, ast.Attribute):
            self.attribute(node.func, asked, called=True)
        else:
            self.visit(node.func, asked)
        inner = place if place in _STICKY else call_arguments(node) or ("test" if place == "test" else "argument")
        for argument in node.args:
            self.visit(argument, inner)
        for keyword in node.keywords:
            if keyword.arg is not None:
                self.identifier(keyword.value.lineno, keyword.arg, "keyword", False)
            self.visit(keyword.value, BY_KEYWORD.get(keyword.arg, inner))

    def attribute(self, node: ast.Attribute, place: Position, called: bool) -> None:
        root, names = attribute_chain(node)
        whole = ".".join(names)
        if isinstance(root, ast.Name):
            names, whole = (root.id, *names), f"{root.id}.{whole}"
        else:
            self.visit(root, place)
        found: set[Kind] = {"predicates"} if whole in self.words.outside else set()
        for index, name in enumerate(names):
            last = called and index == len(names) - 1
            kind = self.words.name_kind(name, last)
            if kind is not None:
                if place != "assignment":
                    self.uses.add((name, self._where))
                under = names[index - 1] if index else ""
                found.add("environment" if is_constant(name) and under in ("envs", "environ") else kind)
        if not found:
            return
        text = ("" if isinstance(root, ast.Name) else "….") + whole + ("()" if called else "")
        tensor = not called and names[-1] in TENSOR_ATTRIBUTES and is_tensor_attribute(node, self._imported)
        first = next(k for k in KINDS if k in found)
        self.add(first, node.lineno, text, "tensor-attribute" if tensor else _name_place(place))

    def identifier(self, line: int, name: str, place: Position, called: bool) -> None:
        kind = self.words.name_kind(name, called)
        if kind is not None:
            if place not in ("definition", "parameter", "assignment", "keyword"):
                self.uses.add((name, self._where))
            text = name + "()" if called and place != "definition" else name
            self.add(kind, line, text, place)

    def string(self, line: int, text: str, place: Position) -> None:
        kind = self.words.text_kind(text)
        if kind is None:
            return
        if place != "exports" and text.isidentifier():
            self.uses.add((text, self._where))
        if place == "probe" and self.words.is_absent(text):
            kind = "absent imports"
        short = " ".join(text.split())
        self.add(kind, line, short if len(short) <= _TEXT_LIMIT else short[: _TEXT_LIMIT - 1] + "…", place)

    def never(self, holder: ast.expr, value: ast.AST, place: Position) -> None:
        """Look at texts that stand beside what by a domain never is one of them."""
        texts = [*texts_of(value)] if self.words.spoken else []
        if not texts:
            return
        root, parts = attribute_chain(holder.func if isinstance(holder, ast.Call) else holder)
        if isinstance(root, ast.Name):
            never = self.words.never(".".join([self.module, root.id, *parts]))
            for text in texts:
                if text.value in never:
                    self.add("strings", text.lineno, str(text.value), place)

    def add(self, kind: Kind, line: int, text: str, place: Position) -> None:
        if self._shown and kind == "strings":
            place = "message"
        key = (kind, line, text, place)
        self._found.setdefault(key, Leftover(kind, self.path, line, text, self._where, place))


def _name_place(place: Position) -> Position:
    # A name within a message is code that runs, not text.
    return (
        "value" if place in ("message", "named-error", "help-text", "probe", "tensor-device", "comparison") else place
    )
