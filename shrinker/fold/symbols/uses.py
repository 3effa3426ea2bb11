"""What the code of a unit names: paths, strings, computed strings, attributes that it sets."""

import ast
from collections.abc import Iterable, Sequence

from shrinker.fold.symbols.listings import ASKING, ENUMERATES, LOOKED_INTO, OF_OBJECTS
from shrinker.fold.symbols.lookups import LOOKUPS, Lookups, is_globals
from shrinker.fold.symbols.paths import is_followed, owner_of
from shrinker.fold.symbols.tables import SpelledTexts, handed_parameters
from shrinker.fold.symbols.texts import COMPARED, EVALUATES
from shrinker.syntax.imports import Import, names_of
from shrinker.syntax.names import is_private, last_name
from shrinker.syntax.scopes import Comprehension, Scope, arguments_of
from shrinker.syntax.walk import Function, children, walk
from shrinker.values.folded import ANY_PLACE, ANYTHING

_RUNS = frozenset({"eval", "exec"})
_TELLS_KIND = frozenset({"isinstance", "issubclass"})
"""Functions that are given a class and list nothing of it."""


class Uses(Lookups):
    """Collects what one unit names, each with the first line that does."""

    def __init__(
        self, module: Scope, tables: SpelledTexts, owner: frozenset[str] = frozenset()
    ) -> None:
        """`owner` are the names that the body of the unit's class binds, if it has one."""
        super().__init__(module, tables)
        self._owner = owner

    def bases_of(self, nodes: Sequence[ast.expr]) -> tuple[str, ...]:
        """Write the bases of a class as paths; `*bases` may be several."""
        found: list[str] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += (ANYTHING, ANYTHING)
            else:
                found.append(
                    "|".join(self.paths_of(node.value if isinstance(node, ast.Subscript) else node))
                )
        return tuple(found)

    def function(self, node: Function, *, first: str = "") -> None:
        """A function with all that is evaluated where it is defined; `first` is the path of a
        method's first parameter.
        """
        self.visit_all(node.decorator_list)
        scope = self._enter(node, first)
        if self._scope.outer is None and is_private(node.name):
            self._private = {
                (scope, arg.arg): place
                for arg, place in handed_parameters(node, method=bool(first))
            }
        if node.returns is not None:
            self.annotation(node.returns)
        before, self._scope = self._scope, scope
        self.visit_all(node.body)
        self._scope = before

    def _enter(self, node: Function | ast.Lambda, first: str = "") -> Scope:
        scope, args = self._scope.inside(node), node.args
        self.visit_all(
            default for default in (*args.defaults, *args.kw_defaults) if default is not None
        )
        if first and (positional := [*args.posonlyargs, *args.args]):
            self._follow.give(scope, positional[0].arg, first)
        for arg in arguments_of(args):
            self.written.add(arg.arg)
            if arg.annotation is not None:
                self.annotation(arg.annotation)
        return scope

    def _imported(self, node: Import) -> None:
        """Note what an import within the unit loads, and what it binds where no path leads to it.

        A module that `try`, `with`, a class body or `global` binds is read by other units and
        through objects, so that it counts as a value that is handed on.
        """
        for alias, (source, name, bound) in zip(
            node.names, names_of(node, self._scope.package), strict=True
        ):
            path = self._follow.imported(source, name, node.lineno)
            if not name and alias.asname is None:
                # It binds the package around it.
                path = self._follow.imported(bound, "", node.lineno)
            if name != bound and is_private(name):
                self.hands.add((name, ANY_PLACE, ANYTHING))
            if name != "*" and not is_followed(bound, self._scope):
                self._note(self.uses, path)

    def _class(self, node: ast.ClassDef) -> None:
        self.visit_all(
            (*node.decorator_list, *(keyword.value for keyword in node.keywords), *node.bases)
        )
        self.classes.append(self.bases_of(node.bases))
        self.visit_all(node.body)

    def annotation(self, node: ast.expr) -> None:
        """An annotation: its strings are expressions."""
        self._line = getattr(node, "lineno", self._line)
        self._annotation(node)

    def _annotation(self, node: ast.expr) -> None:
        for part in walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                try:
                    self._annotation(ast.parse(part.value, mode="eval").body)
                except SyntaxError:
                    self._text(part.value)
            elif isinstance(part, ast.Name):
                self._name(part.id)
            elif isinstance(part, ast.Attribute):
                self._paths(part)
            elif isinstance(part, ast.Subscript) and last_name(part.value) == "Annotated":
                # What stands beside the type is a value like any other.
                self.visit_all(part.slice.elts[1:] if isinstance(part.slice, ast.Tuple) else ())

    def _name(self, name: str) -> None:
        self._paths(ast.Name(name, ast.Load()))
        if name in self._owner and self._scope.outer is None:
            self._note(self.uses, f"@cls.{name}")

    def visit(self, node: ast.AST) -> None:
        """A node and all in it; texts that stand alone say nothing."""
        self._line = getattr(node, "lineno", self._line)
        match node:
            case ast.Name(id=name):
                if is_private(name) and node not in self._called:
                    self.hands.add((name, ANY_PLACE, ANYTHING))
                if owner_of(name, self._scope) is None:
                    self._name(name)
                    self._list_elsewhere(name)
                else:
                    # Its value was looked at where it was given; a local import is one that is used
                    # here.
                    self._note(self.uses, *[path for path in self.paths_of(node) if path[0] == "#"])
            case ast.Attribute():
                self._attribute(node)
            case ast.Constant(value=value):
                if isinstance(value, str):
                    self._text(value)
                elif isinstance(value, bytes):
                    self._bytes(value)
            case ast.Call(
                func=ast.Attribute(value=ast.Call() as names, attr="get"), args=[asked, *default]
            ) if is_globals(names):
                self._own_name(asked)
                self.visit_all((asked, *default))
            case ast.Subscript(value=ast.Call() as names, slice=asked, ctx=ast.Load()) if (
                is_globals(names)
            ):
                self._own_name(asked)
                self.visit(asked)
            case ast.Subscript(value=ast.Call() as names, slice=given) if is_globals(names):
                # Gives a name another value, and looks at none.
                self.visit(given)
            case ast.Call(
                ast.Attribute(ast.Attribute(ast.Name("sys"), "modules") as loaded, "get"),
                [ast.Constant(str() as text), *_],
            ) if self._is_elsewhere(text):
                # One module, which is not this one.
                self._paths(loaded)
                self.visit_all(node.args)
            case ast.Call():
                self._call(node)
            case ast.stmt():
                self._statement(node)
            case ast.Lambda():
                before, self._scope = self._scope, self._enter(node)
                self.visit(node.body)
                self._scope = before
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
                self._computed(node, self.patterns)
                self._show(node)
                self.visit_all(children(node))
            case ast.Compare(
                ast.Constant(str() as text),
                [ast.In() | ast.NotIn()],
                [ast.Call(args=[asked]) as call],
            ) if last_name(call.func) in OF_OBJECTS:
                # `"name" in dir(x)` asks for one name.
                self._note(self.uses, *(f"{path}.{text}" for path in self.paths_of(asked)))
                self.visit(asked)
            case ast.Subscript(value=ast.Attribute(attr=name) as table, slice=asked) if (
                name in LOOKED_INTO
            ):
                self._look_into(table, asked)
                self.visit_all(children(node))
            case ast.Compare(
                ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr=name) as table]
            ) if name in LOOKED_INTO:
                self._look_into(table, node.left)
                self.visit_all(children(node))
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                self._hand_on(node.values if isinstance(node, ast.Dict) else node.elts)
                self.visit_all(children(node))
            case ast.MatchClass(kwd_attrs=names):
                self._note(self.uses, *(f"?.{name}" for name in names))
                self.visit_all(children(node))
            case _:
                self.visit_all(children(node))

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function(node)
            case ast.ClassDef():
                self._class(node)
            case ast.Import() | ast.ImportFrom():
                self._imported(node)
            case ast.Global():
                self.stores.update(node.names)
            case ast.AnnAssign():
                self.annotation(node.annotation)
                self.visit_all(part for part in (node.target, node.value) if part is not None)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.For(target=target, iter=iterated):
                self._enter_loop(target, iterated)
                self.visit_all(children(node))
            case _:
                self.visit_all(children(node))

    def _is_elsewhere(self, module: str) -> bool:
        """True for the name of a module that cannot be the one that is read."""
        package = self._scope.package
        return module not in (package, "__main__") and module.rpartition(".")[0] != package

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        """Some nodes, one after the other."""
        for node in nodes:
            self.visit(node)

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self._give(node.attr, node.value)
        if is_private(node.attr) and node not in self._called:
            self.hands.add((node.attr, ANY_PLACE, ANYTHING))
        if isinstance(node.value, ast.JoinedStr):
            # A method of a text, which may take it to pieces.
            self._computed(node.value, self.patterns)
            self.visit_all(children(node.value))
            return
        if isinstance(node.value, ast.Constant):
            self.visit(node.value)
            return
        found = self._paths(node)
        self._list_within(node)
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(inner, ast.Name) or any(p[0] == ANYTHING for p in found):
            self.visit(node.value)

    def _comprehension(self, node: Comprehension) -> None:
        first = node.generators[0]
        # What the first loop runs over is evaluated outside.
        self.visit(first.iter)
        before, self._scope = self._scope, self._scope.inside(node)
        for generator in node.generators:
            self._enter_loop(generator.target, generator.iter)
        for child in children(node):
            self.visit_all((first.target, *first.ifs) if child is first else (child,))
        self._scope = before

    def _call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        arguments: list[ast.expr] = list(node.args)
        if name not in _TELLS_KIND:
            self._hand_on(
                (*arguments, *(keyword.value for keyword in node.keywords)),
                self.paths_of(node.func),
            )
        match node.func:
            case ast.Attribute(value=ast.Attribute(attr=asked_of) as table, attr=method):
                if asked_of in LOOKED_INTO and method in ASKING and arguments:
                    self._look_into(table, arguments[0])
        if name in LOOKUPS and len(arguments) > 1:
            arguments = self._look_up(name, arguments)
        elif (name == "type" and len(arguments) == 3) or name == "new_class":
            given = arguments[1] if len(arguments) > 1 else ast.Tuple([], ast.Load())
            several = (
                given.elts
                if isinstance(given, ast.Tuple | ast.List)
                else [ast.Starred(given, ast.Load())]
            )
            self.classes.append(self.bases_of(several))
        elif name in ENUMERATES:
            self._listed_by(name, arguments)
        elif name == "super":
            self._note(self.uses, "@self", "@super")
        elif name == "replace":
            self._replaced(arguments)
        elif name in COMPARED:
            self._compared(node, name)
        elif name in EVALUATES or name == "split":
            self._spelled(node)
            if name in _RUNS and len(arguments) == 1 and not isinstance(arguments[0], ast.Constant):
                # Without a namespace, code that nobody knows may name whatever is around it.
                self._note(self.enumerates, "")
        if is_private(name) and isinstance(node.func, ast.Name | ast.Attribute):
            self._called.add(node.func)
            self._hand_texts(node)
        self.written.update(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        called = [] if isinstance(node.func, ast.Name) and name in ENUMERATES else [node.func]
        self.visit_all((*called, *arguments, *(keyword.value for keyword in node.keywords)))
