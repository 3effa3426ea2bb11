"""One walk over a folded module, from which all words of it are taken: its nodes by kind.

A walk costs as much as half of what is done with the nodes, so that there is one for all who ask. Statements are
entered in order, with what stands around them; of expressions the order is open.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from shrinker.fold.expression_nodes import ExpressionReading
from shrinker.syntax.imports import catches_import_error, is_type_checking
from shrinker.syntax.scopes import Comprehension
from shrinker.syntax.walk import Definition, children

OWN_ERROR: Final = "shrinker: "
"""How the message of a named error starts; it names what is gone, and mentions nothing."""


class Reading(ExpressionReading):
    """The nodes of a folded module."""

    def __init__(self, tree: ast.Module) -> None:
        """
        Args:
            tree: the folded module; not changed.
        """
        super().__init__()
        self.tree = tree
        self.exported: list[ast.Constant] = []
        """Entries of ``__all__``."""
        self.shown: list[ast.Constant] = []
        """Strings that are a statement, but for documentation strings."""
        self.imports: list[tuple[ast.Import | ast.ImportFrom, str, bool]] = []
        """With the kind of the `ImportSite`, and whether a handler catches ImportError."""
        self.definitions: list[tuple[Definition, bool]] = []
        """In order; True for one within a function."""
        self.stores: list[tuple[ast.Attribute, ast.expr | None]] = []
        """Attributes that an assignment of its own sets, and to what."""
        self.augmented: set[str] = set()
        """Attributes that are changed in place."""
        self.outer: list[ast.Global | ast.Nonlocal] = []
        self.fors: list[ast.For] = []
        self._depth = 0
        self._open: list[ast.AST] = []
        self._body(tree.body, "import", False)
        # In this order: an `isinstance` within an expression adds to what is typed.
        self._read(self._open, self.plain)
        self._read(self._typed, self.typing)

    @property
    def unrollable(self) -> list[ast.For | Comprehension]:
        """Loops and comprehensions."""
        return [*self.fors, *self.plain.comprehensions, *self.typing.comprehensions]

    # Statements

    def _body(self, body: list[ast.stmt], kind: str, guarded: bool, first: bool = True) -> None:
        methods = _STATEMENTS
        for node in body:
            if node.__class__ is ast.Expr and node.value.__class__ is ast.Constant:
                value = node.value
                if value.value.__class__ is str and not first:
                    self.shown.append(value)
                first = False
                continue
            first = False
            method = methods.get(node.__class__)
            if method is not None:
                method(self, node, kind, guarded)
            else:
                self._other(node, kind, guarded)

    def _other(self, node: ast.AST, kind: str, guarded: bool) -> None:
        push = self._open.append
        for item in children(node):
            if isinstance(item, ast.expr):
                push(item)
            elif isinstance(item, ast.stmt):
                self._body([item], kind, guarded, False)
            else:
                self._other(item, kind, guarded)

    def _expr(self, node: ast.Expr, kind: str, guarded: bool) -> None:
        self._open.append(node.value)

    def _return(self, node: ast.Return, kind: str, guarded: bool) -> None:
        if node.value is not None:
            self._open.append(node.value)

    def _import(self, node: ast.Import | ast.ImportFrom, kind: str, guarded: bool) -> None:
        self.imports.append((node, kind, guarded))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, kind: str, guarded: bool) -> None:
        self.definitions.append((node, self._depth > 0))
        self._depth += 1
        self._body(node.body, kind if kind == "import-type" else "import-local", guarded)
        self._depth -= 1
        self._open += node.decorator_list
        self._arguments(node.args, self._open)
        if node.returns is not None:
            self._typed.append(node.returns)

    def _class(self, node: ast.ClassDef, kind: str, guarded: bool) -> None:
        self.definitions.append((node, self._depth > 0))
        self._body(node.body, kind, guarded)
        self._open += node.decorator_list
        self._open += node.bases
        self._open += [k.value for k in node.keywords]

    def _global(self, node: ast.Global | ast.Nonlocal, kind: str, guarded: bool) -> None:
        self.outer.append(node)

    def _raise(self, node: ast.Raise, kind: str, guarded: bool) -> None:
        match node.exc:
            case ast.Call(args=[ast.Constant(value=str() as text)]) if text.startswith(OWN_ERROR):
                return
        self._other(node, kind, guarded)

    def _assign(self, node: ast.Assign, kind: str, guarded: bool) -> None:
        match node.targets:
            case [ast.Name(id="__all__")]:
                self._exports(node.value)
                return
        for target in node.targets:
            if target.__class__ is ast.Attribute:
                self.stores.append((target, node.value))
        self._open += node.targets
        self._open.append(node.value)

    def _augmented(self, node: ast.AugAssign, kind: str, guarded: bool) -> None:
        match node.target:
            case ast.Name(id="__all__"):
                self._exports(node.value)
                return
            case ast.Attribute(attr=name):
                # It reads before it writes.
                self.augmented.add(name)
        self._open.append(node.target)
        self._open.append(node.value)

    def _exports(self, value: ast.expr) -> None:
        if isinstance(value, ast.List | ast.Tuple):
            for item in value.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    self.exported.append(item)
                else:
                    self._open.append(item)
        else:
            self._open.append(value)

    def _annotated(self, node: ast.AnnAssign, kind: str, guarded: bool) -> None:
        if isinstance(node.target, ast.Attribute):
            self.stores.append((node.target, node.value))
        self._open.append(node.target)
        self._typed.append(node.annotation)
        if node.value is not None:
            self._open.append(node.value)

    def _if(self, node: ast.If, kind: str, guarded: bool) -> None:
        self._open.append(node.test)
        self._body(node.body, "import-type" if is_type_checking(node.test) else kind, guarded)
        if node.orelse:
            self._body(node.orelse, kind, guarded)

    def _try(self, node: ast.Try, kind: str, guarded: bool) -> None:
        self._body(node.body, kind, guarded or any(catches_import_error(h) for h in node.handlers))
        for handler in node.handlers:
            if handler.type is not None:
                self._open.append(handler.type)
            self._body(handler.body, kind, guarded)
        self._body(node.orelse, kind, guarded)
        self._body(node.finalbody, kind, guarded)

    def _for(self, node: ast.For, kind: str, guarded: bool) -> None:
        self.fors.append(node)
        self._other(node, kind, guarded)

    def _match(self, node: ast.Match, kind: str, guarded: bool) -> None:
        self._open.append(node.subject)
        for case in node.cases:
            self._open.append(case.pattern)
            if case.guard is not None:
                self._open.append(case.guard)
            self._body(case.body, kind, guarded)


_STATEMENTS: dict[type, Callable[..., None]] = {
    ast.Expr: Reading._expr,
    ast.Return: Reading._return,
    ast.Import: Reading._import,
    ast.ImportFrom: Reading._import,
    ast.FunctionDef: Reading._function,
    ast.AsyncFunctionDef: Reading._function,
    ast.ClassDef: Reading._class,
    ast.Global: Reading._global,
    ast.Nonlocal: Reading._global,
    ast.Raise: Reading._raise,
    ast.Assign: Reading._assign,
    ast.AugAssign: Reading._augmented,
    ast.AnnAssign: Reading._annotated,
    ast.If: Reading._if,
    ast.Try: Reading._try,
    ast.For: Reading._for,
    ast.Match: Reading._match,
}
