"""Where names get their values: the bindings of a module, class or function body, each with its
guards.

A binding's guards are the branches around it. Whether it is live is asked later, when the facts
can answer: that is what makes `if is_cuda(): from a import f` / `else: f = None` one binding.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from shrinker.syntax.imports import bound_name, names_of
from shrinker.syntax.walk import children, definitions, evaluated, walk

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_PARTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_PLAIN = (ast.Name, ast.Constant, ast.alias)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch around a binding."""

    kind: str
    """``if`` (needs `test` to be `polarity`), ``try`` (body of `node`), ``handler`` (of `node`),
    ``loop`` (and the case of a `match`, which nothing decides either).
    """
    test: ast.expr | None = None
    polarity: bool = True
    node: ast.Try | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that binds a name."""

    kind: str
    """``module`` (import), ``from``, ``value`` (plain assignment), ``def``, ``class``; ``opaque``
    for any other, of which `value` is what one of several targets or a ``:=`` gets, where that is
    written.
    """
    line: int
    guards: tuple[Branch, ...]
    module: str = ""
    """The module imported, or imported from."""
    name: str = ""
    """The name imported from it."""
    value: ast.expr | None = None
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None = None


@dataclass(slots=True)
class Bindings:
    """All bindings of one scope."""

    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[Binding] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    declared: dict[str, int] = field(default_factory=dict)
    """Names that have an annotation and no value here, with the line: they are of this scope."""

    def add(self, name: str, binding: Binding) -> None:
        """Record one more binding of `name`."""
        self.names.setdefault(name, []).append(binding)


def collect(body: Iterable[ast.stmt], package: str) -> Bindings:
    """Return bindings of a scope's own statements; bodies of nested functions and classes are other
    scopes.
    """
    found = Bindings()
    _Collector(package, found).block(body, ())
    return found


def lines_of(tree: ast.Module, *, imports: bool = True) -> dict[str, int]:
    """Return line of each definition of a module, and of the first place that binds any other name
    of it, perhaps but for `imports`; in classes by dotted names.
    """
    found: dict[str, int] = {}
    bodies = [("", tree.body)]
    for name, node in definitions(tree):
        found.setdefault(name, node.lineno)
        if isinstance(node, ast.ClassDef):
            bodies.append((f"{name}.", node.body))
    for around, body in bodies:
        here = collect(body, "")
        rows = (
            (name, row.line)
            for name, bound in here.names.items()
            for row in bound
            if imports or not row.module
        )
        for name, line in (*rows, *here.declared.items()):
            found.setdefault(around + name, line)
    return found


@dataclass(frozen=True, slots=True)
class _Collector:
    package: str
    found: Bindings

    def block(self, body: Iterable[ast.stmt], guards: tuple[Branch, ...]) -> None:
        rest = iter(body)
        for statement in rest:
            self._statement(statement, guards)
            if isinstance(statement, _LEAVES):
                break
        for statement in rest:
            # Never run, whatever the facts say: the name is of this scope all the same, and nothing
            # gives it a value.
            unreached = Bindings()
            _Collector(self.package, unreached)._statement(statement, guards)
            for name, bindings in unreached.names.items():
                self.found.add(name, Binding("opaque", bindings[0].line, guards))
            self.found.stars += unreached.stars
            self.found.globals |= unreached.globals
            self.found.nonlocals |= unreached.nonlocals

    def _statement(self, node: ast.stmt, guards: tuple[Branch, ...]) -> None:
        line, found = node.lineno, self.found
        for part in children(node):
            if part.__class__ not in _PLAIN and not isinstance(part, _PARTS):
                self._walrus(part, line, guards)
        match node:
            case ast.Import():
                for alias in node.names:
                    name = bound_name(node, alias)
                    found.add(
                        name, Binding("module", line, guards, alias.name if alias.asname else name)
                    )
            case ast.ImportFrom():
                for module, imported, name in names_of(node, self.package):
                    binding = Binding("from", line, guards, module, imported)
                    if imported == "*":
                        found.stars.append(binding)
                    else:
                        found.add(name, binding)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found.add(node.name, Binding("def", line, guards, node=node))
            case ast.ClassDef():
                found.add(node.name, Binding("class", line, guards, node=node))
            case ast.Assign():
                for place in node.targets:
                    self._target(place, node.value, line, guards)
            case ast.AnnAssign(value=None):
                if isinstance(node.target, ast.Name):
                    found.declared.setdefault(node.target.id, line)
            case ast.AnnAssign(target=place, value=ast.expr() as value):
                self._target(place, value, line, guards)
            case ast.AugAssign():
                self._target(node.target, None, line, guards)
            case ast.Global():
                found.globals.update(node.names)
            case ast.Nonlocal():
                found.nonlocals.update(node.names)
            case ast.If():
                self.block(node.body, (*guards, Branch("if", node.test, True)))
                self.block(node.orelse, (*guards, Branch("if", node.test, False)))
            case ast.Try():
                tried, handled = (
                    (*guards, Branch("try", node=node)),
                    (*guards, Branch("handler", node=node)),
                )
                self.block(node.body, tried)
                for handler in node.handlers:
                    if handler.name:
                        found.add(handler.name, Binding("opaque", handler.lineno, handled))
                    self.block(handler.body, handled)
                self.block(node.orelse, tried)
                self.block(node.finalbody, guards)
            case ast.For() | ast.AsyncFor():
                inner = (*guards, Branch("loop"))
                self._target(node.target, None, line, inner)
                self.block(node.body, inner)
                self.block(node.orelse, inner)
            case ast.While():
                inner = (*guards, Branch("loop"))
                self.block(node.body, (*inner, Branch("if", node.test, True)))
                self.block(node.orelse, inner)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._target(item.optional_vars, None, line, guards)
                self.block(node.body, guards)
            case ast.Match():
                inner = (*guards, Branch("loop"))
                for case in node.cases:
                    for part in walk(case.pattern):
                        captured = getattr(part, "name", None) or getattr(part, "rest", None)
                        if isinstance(captured, str):
                            found.add(captured, Binding("opaque", line, inner))
                    if case.guard is not None:
                        self._walrus(case.guard, line, inner)
                    self.block(case.body, inner)

    def _target(
        self,
        target: ast.expr,
        value: ast.expr | None,
        line: int,
        guards: tuple[Branch, ...],
        alone: bool = True,
    ) -> None:
        """Note what a target binds; of several, what one gets may change with the others, so that
        nothing evaluates it.
        """
        match target:
            case ast.Name(id=name):
                kind = "value" if alone and value is not None else "opaque"
                self.found.add(name, Binding(kind, line, guards, value=value))
            case ast.Starred(value=inner):
                self._target(inner, None, line, guards, alone=False)
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                values: list[ast.expr | None] = [None] * len(inner)
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
                    values = [
                        None if isinstance(element, ast.Starred) else element
                        for element in value.elts
                    ]
                for item, element in zip(inner, values, strict=True):
                    self._target(item, element, line, guards, alone=False)

    def _walrus(self, node: ast.AST, line: int, guards: tuple[Branch, ...]) -> None:
        # Hardly any has one. What the body of a lambda binds is the lambda's own.
        if [part for part in walk(node) if part.__class__ is ast.NamedExpr]:
            for part in evaluated(node):
                if isinstance(part, ast.NamedExpr):
                    self.found.add(
                        part.target.id, Binding("opaque", line, guards, value=part.value)
                    )
