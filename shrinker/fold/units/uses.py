"""What the code of a unit names: paths, strings, computed strings, attributes that it sets."""

from __future__ import annotations

import ast
import re

from shrinker.facts.bindings import absolute
from shrinker.facts.walk import children
from shrinker.fold.units.paths import ANYTHING, annotated, items_of, paths_of
from shrinker.fold.units.scopes import COMPREHENSIONS, Function, Scope, bind_body, bind_paths, bind_target, item_of

_NAMES = re.compile(r"[A-Za-z_][\w.:\-,/|]*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PIECE = re.compile(r"[\w.:]*")
_LONGEST = 200
_ENUMERATES = frozenset({"globals", "vars", "dir", "getmembers", "getmembers_static"})
_LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr", "methodcaller", "attrgetter"})


class Uses:
    """Collects what one unit names."""

    def __init__(self, package: str, owner: frozenset[str] | None = None) -> None:
        """
        Args:
            package: the package that relative imports start from.
            owner: names that the body of the unit's class binds; None outside a class.
        """
        self._package = package
        self._owner = owner or frozenset()
        self.paths: set[str] = set()
        self.texts: set[str] = set()
        self.patterns: set[str] = set()
        self.lookups: set[str] = set()
        self.stores: set[str] = set()
        self.gives: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
        self.types: dict[str, set[str]] = {}
        self.imports: list[tuple[str, str]] = []
        self.classes: list[tuple[str, ...]] = []
        self.returns: set[str] | None = None
        self.computed = False
        self.enumerates: set[str] = set()
        self._scope: Scope | None = None

    # Functions

    def function(self, node: Function, *, first: str = "", returns: bool = False) -> None:
        """A function with its decorators, defaults and annotations, which are evaluated where it is defined.

        Args:
            node: the function.
            first: path of its first parameter, of a method.
            returns: collect what it returns.
        """
        for decorator in node.decorator_list:
            self.expression(decorator)
        scope = self._enter(node.args, first)
        if node.returns is not None:
            self.annotation(node.returns)
        bind_body(scope, node.body, self.imported)
        before, self._scope = self._scope, scope
        outer, self.returns = self.returns, set() if returns else None
        self.body(node.body)
        found, self.returns = self.returns, outer
        self._scope = before
        if returns:
            self.returns = found

    def _enter(self, args: ast.arguments, first: str = "") -> Scope:
        scope = Scope(self._scope)
        for default in (*args.defaults, *args.kw_defaults):
            if default is not None:
                self.expression(default)
        positional = [*args.posonlyargs, *args.args]
        defaults: dict[str, ast.expr] = {}
        for arg, default in zip(reversed(positional), reversed(args.defaults), strict=False):
            defaults[arg.arg] = default
        for index, arg in enumerate([*positional, *args.kwonlyargs]):
            if index == 0 and first and positional:
                scope.names[arg.arg] = [first]
            else:
                scope.names[arg.arg] = list(annotated(arg.annotation))
            if arg.annotation is not None:
                self.annotation(arg.annotation)
        for rest in (args.vararg, args.kwarg):
            if rest is not None:
                scope.names[rest.arg] = ["["]
                if rest.annotation is not None:
                    self.annotation(rest.annotation)
        return scope

    def imported(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Paths of the names that a local import binds."""
        found: list[str] = []
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self.imports.append((absolute(node.module, node.level, self._package), alias.name))
            else:
                self.imports.append((alias.name, ""))
                if alias.asname is None and "." in alias.name:
                    # It binds the package around it.
                    self.imports.append((alias.name.partition(".")[0], ""))
            found.append(f"#{len(self.imports) - 1}")
        return found

    # Statements

    def body(self, body: list[ast.stmt]) -> None:
        """Statements one after the other; texts that stand alone say nothing."""
        for node in body:
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                self.statement(node)

    def statement(self, node: ast.AST) -> None:
        """One statement or clause."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function(node)
                return
            case ast.ClassDef():
                self._class(node)
                return
            case ast.Import() | ast.ImportFrom():
                if self._scope is None:
                    self.imported(node)
                return
            case ast.Global():
                self.stores.update(node.names)
                return
            case ast.Return():
                if node.value is not None:
                    if self.returns is not None:
                        self.returns.update(paths_of(node.value, self._scope))
                    self.expression(node.value)
                return
            case ast.Assign():
                for target in node.targets:
                    self._target(target, node.value)
                self.expression(node.value)
                return
            case ast.AnnAssign():
                self.annotation(node.annotation)
                if isinstance(node.target, ast.Attribute):
                    self._store(node.target, (*annotated(node.annotation),))
                self._target(node.target, node.value)
                if node.value is not None:
                    self.expression(node.value)
                return
            case ast.AugAssign():
                self._target(node.target, None)
                self.expression(node.value)
                return
            case ast.For() | ast.AsyncFor():
                self._target(node.target, item_of(node.iter))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._target(item.optional_vars, None)
        for child in children(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            else:
                self.statement(child)

    def _class(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.keywords):
            self.statement(part) if isinstance(part, ast.keyword) else self.expression(part)
        for base in node.bases:
            self.expression(base)
        self.classes.append(tuple("|".join(paths_of(base, self._scope)) for base in node.bases))
        self.body(node.body)

    def _target(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Attribute):
            self._store(target, paths_of(value, self._scope) if value is not None else (ANYTHING,))
        elif isinstance(target, ast.Tuple | ast.List):
            for index, item in enumerate(target.elts):
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                    self._target(item, value.elts[index])
                else:
                    self._target(item, item_of(value))
        elif isinstance(target, ast.Starred):
            self._target(target.value, None)
        elif not isinstance(target, ast.Name):
            self.expression(target)

    def _store(self, target: ast.Attribute, values: tuple[str, ...]) -> None:
        self.expression(target)
        self._give(target.attr, target.value, values)

    def _give(self, name: str, target: ast.expr, values: tuple[str, ...]) -> None:
        receivers = paths_of(target, self._scope)
        if receivers == ("@self",):
            self.types.setdefault(name, set()).update(values)
        else:
            self.gives.add((name, receivers, values))

    # Expressions

    def annotation(self, node: ast.expr) -> None:
        """An annotation: its strings are expressions."""
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                try:
                    self.annotation(ast.parse(part.value, mode="eval").body)
                except SyntaxError:
                    self._text(part.value)
            elif isinstance(part, ast.Name):
                self._name(part.id)
            elif isinstance(part, ast.Attribute):
                self.paths.update(paths_of(part, self._scope))

    def _name(self, name: str) -> None:
        for path in paths_of(ast.Name(name, ast.Load()), self._scope):
            if path not in ("?", "0", "["):
                self.paths.add(path)
        if name in self._owner and self._scope is None:
            self.paths.add(f"@cls.{name}")

    def expression(self, node: ast.AST) -> None:
        """An expression and all in it."""
        kind = node.__class__
        if kind is ast.Name:
            scope = self._scope
            if scope is None or scope.find(node.id) is None:  # type: ignore[attr-defined]
                self._name(node.id)  # type: ignore[attr-defined]
            else:
                # Its value was looked at where it was given; a local import is one that is used here.
                self.paths.update(p for p in paths_of(node, scope) if p[0] == "#")  # type: ignore[arg-type]
            return
        if kind is ast.Attribute:
            if node.attr == "__dict__":  # type: ignore[attr-defined]
                self.enumerates.update(paths_of(node.value, self._scope))  # type: ignore[attr-defined]
            elif node.attr == "modules" and getattr(node.value, "id", "") == "sys":  # type: ignore[attr-defined]
                self.enumerates.add("")
            self.paths.update(p for p in paths_of(node, self._scope) if p[0] not in "0[")  # type: ignore[arg-type]
            self.expression(node.value)  # type: ignore[attr-defined]
            return
        if kind is ast.Constant:
            if isinstance(node.value, str):  # type: ignore[attr-defined]
                self._text(node.value)  # type: ignore[attr-defined]
            return
        if isinstance(node, ast.Call):
            self._call(node)
            return
        if isinstance(node, ast.Lambda):
            before, self._scope = self._scope, self._enter(node.args)
            self.expression(node.body)
            self._scope = before
            return
        if isinstance(node, COMPREHENSIONS):
            self._comprehension(node)
            return
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod)):
            self._computed(node, self.patterns)
        if isinstance(node, ast.MatchClass):
            self.paths.update(f"?.{name}" for name in node.kwd_attrs)
        for child in children(node):
            self.expression(child)

    def _comprehension(self, node: ast.AST) -> None:
        scope = Scope(self._scope)
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        first, rest = generators[0], generators[1:]
        # What the first loop runs over is evaluated outside.
        self.expression(first.iter)
        bind_paths(scope, first.target, items_of(paths_of(first.iter, self._scope)))
        for generator in rest:
            bind_target(scope, generator.target, item_of(generator.iter))
        before, self._scope = self._scope, scope
        for child in children(node):
            if child is first:
                for part in (first.target, *first.ifs):
                    self.expression(part)
            else:
                self.expression(child)
        self._scope = before

    def _call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        arguments: list[ast.expr] = list(node.args)
        if name in _LOOKUPS and len(arguments) > 1:
            target, asked = arguments[0], arguments[1]
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                self.paths.update(f"{p}.{asked.value}" for p in paths_of(target, self._scope) if p not in ("0", "["))
                if name == "setattr":
                    given = paths_of(arguments[2], self._scope) if len(arguments) > 2 else (ANYTHING,)
                    self._give(asked.value, target, given)
                del arguments[1]
            else:
                self._computed(asked, self.lookups)
                if name == "setattr":
                    self.computed |= paths_of(target, self._scope) == ("@self",)
                    self._computed(asked, self.stores)
        elif name == "type" and len(arguments) == 3 and isinstance(arguments[1], ast.Tuple):
            self.classes.append(tuple("|".join(paths_of(b, self._scope)) for b in arguments[1].elts))
        elif name in _ENUMERATES:
            self.enumerates.update(p for a in arguments[:1] for p in paths_of(a, self._scope))
            if not arguments:
                self.enumerates.add("")
        elif name == "super":
            self.paths.update(("@self", "@super"))
        self.expression(node.func)
        for argument in arguments:
            self.expression(argument)
        for keyword in node.keywords:
            self.expression(keyword.value)

    def _computed(self, node: ast.expr, into: set[str]) -> None:
        pattern = pattern_of(node)
        if pattern is not None and "*" not in pattern:
            self._text(pattern)
        elif pattern is not None and _PIECE.fullmatch(pattern.replace("*", "")):
            into.add(pattern)

    def _text(self, text: str) -> None:
        if (len(text) <= _LONGEST and _NAMES.fullmatch(text)) or "sglang" in text or "import " in text:
            self.texts.update(_WORD.findall(text))


def pattern_of(node: ast.expr) -> str | None:
    """A computed text with each computed part written ``*``; None for what is no text."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            parts = [v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else "*" for v in values]
            return re.sub(r"\*+", "*", "".join(parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = pattern_of(left), pattern_of(right)
            if one is None and other is None:
                return None
            return re.sub(r"\*+", "*", f"{one or '*'}{other or '*'}")
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod()):
            return re.sub(r"%[sdr]", "*", text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return re.sub(r"\{[^}]*\}", "*", text)
    return None
