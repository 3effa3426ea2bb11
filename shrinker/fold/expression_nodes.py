"""The nodes of the expressions of a folded module, by kind."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from shrinker.syntax.scopes import Comprehension, arguments_of
from shrinker.syntax.walk import HOLDERS

_INSTANCE_TESTS = frozenset({"isinstance", "issubclass"})
_COMPUTING = (ast.Add, ast.Div, ast.Mod)
_COMPREHENSIONS = frozenset({ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp})


class Expressions:
    """The nodes of some expressions."""

    def __init__(self) -> None:
        self.names: list[ast.Name] = []
        self.attributes: list[ast.Attribute] = []
        self.texts: list[ast.Constant] = []
        """Strings, but for those that are part of another one."""
        self.parts: list[ast.Constant] = []
        """Constant parts of f-strings."""
        self.calls: list[ast.Call] = []
        self.joined: list[ast.JoinedStr] = []
        self.sums: list[ast.BinOp] = []
        """``+``, ``/`` and ``%``, which may compute a string."""
        self.comprehensions: list[Comprehension] = []


class ExpressionReading:
    """What is read of expressions; `Reading` adds the statements."""

    def __init__(self) -> None:
        self.plain = Expressions()
        self.typing = Expressions()
        """What stands in annotations and in the second argument of `isinstance`: nothing of it is called."""
        self.matched: list[ast.MatchClass] = []
        self._typed: list[ast.AST] = []

    def _arguments(self, node: ast.arguments, stack: list[ast.AST]) -> None:
        self._typed += [a.annotation for a in arguments_of(node) if a.annotation is not None]
        stack += node.defaults
        stack += [d for d in node.kw_defaults if d is not None]

    def _read(self, stack: list[ast.AST], found: Expressions) -> None:
        pop, push = stack.pop, stack.append
        name, attribute, text, call = (
            found.names.append,
            found.attributes.append,
            found.texts.append,
            found.calls.append,
        )
        typed = self._typed.append if found is self.plain else push
        while stack:
            node: Any = pop()
            kind = node.__class__
            if kind is ast.Name:
                name(node)
            elif kind is ast.Attribute:
                attribute(node)
                push(node.value)
            elif kind is ast.Constant:
                if node.value.__class__ is str:
                    text(node)
            elif kind is ast.Call:
                call(node)
                function = node.func
                push(function)
                arguments = node.args
                if function.__class__ is ast.Name and function.id in _INSTANCE_TESTS and len(arguments) == 2:
                    push(arguments[0])
                    typed(arguments[1])
                else:
                    stack += arguments
                for keyword in node.keywords:
                    push(keyword.value)
            elif kind is ast.JoinedStr:
                found.joined.append(node)
                self._parts(node, found, push)
            elif kind is ast.Lambda:
                self._arguments(node.args, stack)
                push(node.body)
            else:
                if kind is ast.BinOp:
                    if isinstance(node.op, _COMPUTING):
                        found.sums.append(node)
                elif kind is ast.MatchClass:
                    self.matched.append(node)
                elif kind in _COMPREHENSIONS:
                    found.comprehensions.append(node)
                values = node.__dict__
                for field in HOLDERS[kind]:
                    value = values.get(field)
                    if value.__class__ is list:
                        stack += [item for item in value if isinstance(item, ast.AST)]
                    elif isinstance(value, ast.AST):
                        push(value)

    def _parts(self, node: ast.JoinedStr, found: Expressions, push: Callable[[ast.AST], None]) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                push(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    # Its own texts name nothing.
                    for inner in part.format_spec.values:
                        if isinstance(inner, ast.FormattedValue):
                            push(inner.value)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                found.parts.append(part)
