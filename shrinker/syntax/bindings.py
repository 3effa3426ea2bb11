"""Where names get their values: the bindings of a module, class or function body, each with its guards.

A binding's guards are the branches around it. Whether it is live is asked later, when the facts
can answer: that is what makes `if is_cuda(): from a import f` / `else: f = None` one binding.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from shrinker.syntax.imports import absolute, bound_name
from shrinker.syntax.walk import children, definitions, walk

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch around a binding."""

    kind: str
    """``if`` (needs `test` to be `polarity`), ``try`` (body of `node`), ``handler`` (of `node`), ``loop``
    (and the case of a `match`, which nothing decides either)."""
    test: ast.expr | None = None
    polarity: bool = True
    node: ast.Try | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that binds a name."""

    kind: str
    """``module`` (import), ``from``, ``value`` (plain assignment), ``def``, ``class``; ``opaque`` for any other, of which `value` is what
    one of several targets or a ``:=`` gets, where that is written."""
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

    @property
    def outer(self) -> set[str]:
        """Names declared `global` or `nonlocal` here: bound elsewhere."""
        return self.globals | self.nonlocals

    def add(self, name: str, binding: Binding) -> None:
        """Record one more binding of `name`."""
        self.names.setdefault(name, []).append(binding)


def collect(body: Iterable[ast.stmt], package: str) -> Bindings:
    """Bindings of a scope's own statements; bodies of nested functions and classes are other scopes.

    Args:
        body: the statements.
        package: what relative imports start from.
    """
    found = Bindings()
    _block(body, package, (), found)
    return found


def lines_of(tree: ast.Module, *, imports: bool = True) -> dict[str, int]:
    """Line of each definition of a module, and of the first place that binds any other name of it; in classes by dotted names.

    Args:
        tree: of the module.
        imports: False where what an import binds does not count.
    """
    found: dict[str, int] = {}
    bodies = [("", tree.body)]
    for name, node in definitions(tree):
        found.setdefault(name, node.lineno)
        if isinstance(node, ast.ClassDef):
            bodies.append((f"{name}.", node.body))
    for around, body in bodies:
        here = collect(body, "")
        rows = ((name, row.line) for name, bound in here.names.items() for row in bound if imports or not row.module)
        for name, line in (*rows, *here.declared.items()):
            found.setdefault(around + name, line)
    return found


def collect_named(body: ast.expr) -> Bindings:
    """What the body of a lambda binds."""
    found = Bindings()
    _walrus(body, body.lineno, (), found)
    return found


def _block(body: Iterable[ast.stmt], package: str, guards: tuple[Branch, ...], found: Bindings) -> None:
    ended = False
    for statement in body:
        if not ended:
            _statement(statement, package, guards, found)
            ended = isinstance(statement, _LEAVES)
            continue
        # Never run, whatever the facts say: the name is of this scope all the same, and nothing gives it a value.
        unreached = Bindings()
        _statement(statement, package, guards, unreached)
        for name, bindings in unreached.names.items():
            found.add(name, Binding("opaque", bindings[0].line, guards))
        found.stars += unreached.stars
        found.globals |= unreached.globals
        found.nonlocals |= unreached.nonlocals


def _statement(node: ast.stmt, package: str, guards: tuple[Branch, ...], found: Bindings) -> None:
    line = node.lineno
    match node:
        case ast.Expr() | ast.Return():
            _walrus(node, line, guards, found)
        case ast.Import():
            for alias in node.names:
                name = bound_name(node, alias)
                target = alias.name if alias.asname else name
                found.add(name, Binding("module", line, guards, module=target))
        case ast.ImportFrom():
            source = absolute(node.module, node.level, package)
            for alias in node.names:
                binding = Binding("from", line, guards, module=source, name=alias.name)
                if alias.name == "*":
                    found.stars.append(binding)
                else:
                    found.add(bound_name(node, alias), binding)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            found.add(node.name, Binding("def", line, guards, node=node))
            for part in (*node.decorator_list, node.args):
                _walrus(part, line, guards, found)
        case ast.ClassDef():
            found.add(node.name, Binding("class", line, guards, node=node))
        case ast.Assign():
            for place in node.targets:
                _target(place, node.value, line, guards, found)
            _walrus(node.value, line, guards, found)
        case ast.AnnAssign():
            if node.value is not None:
                _target(node.target, node.value, line, guards, found)
                _walrus(node.value, line, guards, found)
            elif isinstance(node.target, ast.Name):
                found.declared.setdefault(node.target.id, line)
        case ast.AugAssign():
            _target(node.target, None, line, guards, found)
            _walrus(node.value, line, guards, found)
        case ast.Global():
            found.globals.update(node.names)
        case ast.Nonlocal():
            found.nonlocals.update(node.names)
        case ast.If():
            _walrus(node.test, line, guards, found)
            _block(node.body, package, (*guards, Branch("if", node.test, True)), found)
            _block(node.orelse, package, (*guards, Branch("if", node.test, False)), found)
        case ast.Try():
            _block(node.body, package, (*guards, Branch("try", node=node)), found)
            for handler in node.handlers:
                inner = (*guards, Branch("handler", node=node))
                if handler.name:
                    found.add(handler.name, Binding("opaque", handler.lineno, inner))
                _block(handler.body, package, inner, found)
            _block(node.orelse, package, (*guards, Branch("try", node=node)), found)
            _block(node.finalbody, package, guards, found)
        case ast.For() | ast.AsyncFor():
            inner = (*guards, Branch("loop"))
            _walrus(node.iter, line, guards, found)
            _target(node.target, None, line, inner, found)
            _block(node.body, package, inner, found)
            _block(node.orelse, package, inner, found)
        case ast.While():
            _walrus(node.test, line, guards, found)
            inner = (*guards, Branch("loop"))
            _block(node.body, package, (*inner, Branch("if", node.test, True)), found)
            _block(node.orelse, package, inner, found)
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                _walrus(item.context_expr, line, guards, found)
                if item.optional_vars is not None:
                    _target(item.optional_vars, None, line, guards, found)
            _block(node.body, package, guards, found)
        case ast.Match():
            _walrus(node.subject, line, guards, found)
            inner = (*guards, Branch("loop"))
            for case in node.cases:
                for part in walk(case.pattern):
                    captured = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(captured, str):
                        found.add(captured, Binding("opaque", line, inner))
                if case.guard is not None:
                    _walrus(case.guard, line, inner, found)
                _block(case.body, package, inner, found)
        case ast.Delete():
            # Unbinding gives no value: whoever reads the name reads it before.
            pass
        case _:
            _walrus(node, line, guards, found)


def _target(target: ast.expr, value: ast.expr | None, line: int, guards: tuple[Branch, ...], found: Bindings) -> None:
    if isinstance(target, ast.Name):
        found.add(target.id, Binding("opaque" if value is None else "value", line, guards, value=value))
        return
    if isinstance(target, ast.Starred):
        _part(target, None, line, guards, found)
    elif isinstance(target, ast.Tuple | ast.List):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(values):
            values = [None if isinstance(element, ast.Starred) else element for element in value.elts]
        for item, element in zip(target.elts, values, strict=True):
            _part(item, element, line, guards, found)


def _part(target: ast.expr, value: ast.expr | None, line: int, guards: tuple[Branch, ...], found: Bindings) -> None:
    """One of several targets: what it gets may change with the others, so that nothing evaluates it."""
    if isinstance(target, ast.Name):
        found.add(target.id, Binding("opaque", line, guards, value=value))
    elif isinstance(target, ast.Starred):
        _part(target.value, None, line, guards, found)
    else:
        _target(target, value, line, guards, found)


def _walrus(node: ast.AST, line: int, guards: tuple[Branch, ...], found: Bindings) -> None:
    if not any(part.__class__ is ast.NamedExpr for part in walk(node)):
        # Nearly all.
        return
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.NamedExpr):
            found.add(part.target.id, Binding("opaque", line, guards, value=part.value))
        # What the body of a lambda binds is the lambda's own.
        stack.extend(children(part.args if isinstance(part, ast.Lambda) else part))
