"""What the code of a unit names: paths, strings, computed strings, attributes that it sets."""

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

from shrinker.fold.messages import is_message
from shrinker.fold.summary import pattern_of
from shrinker.fold.symbols.paths import Paths, is_followed, owner_of
from shrinker.fold.symbols.tables import SpelledTexts, Tables, handed_parameters
from shrinker.syntax.imports import Import, names_of
from shrinker.syntax.names import (
    is_private,
    last_name,
    names_in_code,
    names_in_fields,
    names_in_values,
    spelled_otherwise,
)
from shrinker.syntax.scopes import Comprehension, Scope, arguments_of
from shrinker.syntax.walk import Function, children, walk
from shrinker.values.folded import (
    ANY_PLACE,
    ANYTHING,
    EVERY_MEMBER,
    HANDED,
    HANDED_TO,
    LISTED,
    LOADED,
    NAMES_OF_CLASSES,
)

_NAMES = re.compile(r"[A-Za-z_][\w.:\-,/|]*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LETTER = re.compile(r"[A-Za-z]")
_PIECE = re.compile(r"[\w.:]*")
_MANGLED = re.compile(r"_\*(__[\w*]+)$")
_KINDS = frozenset({"__name__", "__qualname__"})
_LONGEST = 200
_ENUMERATES = frozenset({"globals", "vars", "dir", "getmembers", "getmembers_static"})
_TABLES = frozenset({"__annotations__", "__dict__"})
"""Attributes that hold names of an object with their values or types."""
_OF_MODULES = frozenset({"__globals__", "f_globals"})
_LOOKED_INTO = _TABLES | _OF_MODULES | {"modules"}
_ABOVE = frozenset({"__bases__", "__mro__", "mro"})
"""What gives the classes above one, of which code then lists the names."""
_ASKING = frozenset({"get", "pop", "setdefault"})
"""Methods of a dictionary that ask for one key."""
_COMPARED = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
_EVALUATES = frozenset({"compile", "eval", "exec"})
_RUNS = frozenset({"eval", "exec"})
_OF_OBJECTS = frozenset({"dir", "getmembers", "getmembers_static"})
"""What lists methods along with the rest."""
_NO_KINDS = frozenset({ANYTHING, "@", LOADED})
"""How the paths begin of what is no class or module, as far as is known."""
_TELLS_KIND = frozenset({"isinstance", "issubclass"})
"""Functions that are given a class and list nothing of it."""
_PLACED = ("uses", "texts", "patterns", "lookups", "enumerates", "open", "handed")
"""What is collected with the first line that has it."""
_UNPLACED = ("written", "stores", "attributes", "patches")
_SETTING = frozenset({"delattr", "setattr"})
_LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr", "methodcaller", "attrgetter"})


def _is_own_module(node: ast.expr) -> bool:
    """Tell whether an expression is `sys.modules[__name__]`."""
    match node:
        case ast.Subscript(ast.Attribute(ast.Name("sys"), "modules"), ast.Name("__name__")):
            return True
    return False


class Uses:
    """Collects what one unit names, each with the first line that does."""

    def __init__(self, module: Scope, tables: SpelledTexts, owner: frozenset[str] = frozenset()) -> None:
        """`owner` are the names that the body of the unit's class binds, if it has one."""
        self._owner = owner
        self._tables = tables
        self._line = 0
        self.uses: dict[str, int] = {}
        self.texts: dict[str, int] = {}
        self.patterns: dict[str, int] = {}
        self.lookups: dict[str, int] = {}
        self.enumerates: dict[str, int] = {}
        self.open: dict[str, int] = {}
        self.tabled: dict[tuple[str, str], int] = {}
        self.by_parameter: dict[tuple[str, str, str], int] = {}
        self.hands: set[tuple[str, str, str]] = set()
        self.handed: dict[str, int] = {}
        self.written: set[str] = set()
        self.stores: set[str] = set()
        self.attributes: set[str] = set()
        self.patches: set[str] = set()
        self.classes: list[tuple[str, ...]] = []
        self._ends: dict[str, int] = {}
        """Patterns of the texts that names are compared with, as `name.startswith("on_")` does."""
        self._above: dict[str, int] = {}
        """Paths of what the unit takes the classes above of: those are listed where it lists names of anything."""
        self._asks_for_kinds = False
        self._replacing: set[str] = set()
        """Words that are put in the place of a part of a name."""
        self._lists_modules = False
        """True where the names of all loaded modules are listed."""
        self._prefixes: dict[str, int] = {}
        """Texts that dotted names are compared with."""
        self._looked_into: set[ast.AST] = set()
        """Tables of names that are asked for one name, and not listed."""
        self._scope = module
        self._private: dict[tuple[Scope, str], tuple[str, str]] = {}
        """Parameters of a private function that the unit is: where a caller gives them, by position and by name."""
        self._called: set[ast.expr] = set()
        self._follow = Paths()

    def fields(self) -> dict[str, Any]:
        """What was collected, as fields of `Symbol`."""
        self._note(self.uses, *sorted(self._follow.lost))
        if self.open and self._asks_for_kinds:
            # `getattr(visitor, type(node).__name__.lower())`
            self._note(self.lookups, NAMES_OF_CLASSES, *(f"*{text}*" for text in sorted(self._replacing)))
        if ANYTHING + HANDED in self.enumerates:
            for path in self._above:
                self._list_path(path)
        if self._lists_modules:
            self.enumerates |= {f"{LOADED}{prefix}": line for prefix, line in self._prefixes.items()}
        chosen = {pattern: line for pattern, line in self._ends.items() if pattern.strip("*_")}
        listed = [path for path in self.enumerates if path.endswith(LISTED)]
        unknown = any(path[0] == ANYTHING for path in (*self.enumerates, *self.open) if path)
        if chosen and (unknown or listed):
            # Of all names those are taken that begin or end so.
            for path in (EVERY_MEMBER, *listed):
                self.enumerates.pop(path, None)
            self.enumerates |= {f"{ANYTHING}{pattern}": line for pattern, line in chosen.items()}
        found: dict[str, Any] = {name: tuple(sorted(getattr(self, name).items())) for name in _PLACED}
        found |= {name: tuple(sorted(getattr(self, name))) for name in _UNPLACED}
        for name in ("tabled", "by_parameter"):
            found[name] = tuple((*key, line) for key, line in sorted(getattr(self, name).items()))
        found["hands"] = tuple(sorted(self.hands))
        return {**found, "imports": self._follow.imports, "classes": tuple(self.classes)}

    def paths_of(self, node: ast.expr) -> tuple[str, ...]:
        """Paths of an expression where the unit is read now."""
        return self._follow.of(node, self._scope)

    def bases_of(self, nodes: Sequence[ast.expr]) -> tuple[str, ...]:
        """Write the bases of a class as paths; `*bases` may be several."""
        found: list[str] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += (ANYTHING, ANYTHING)
            else:
                found.append("|".join(self.paths_of(node.value if isinstance(node, ast.Subscript) else node)))
        return tuple(found)

    def function(self, node: Function, *, first: str = "") -> None:
        """A function with all that is evaluated where it is defined; `first` is the path of a method's first parameter."""
        self.visit_all(node.decorator_list)
        scope = self._enter(node, first)
        if self._scope.outer is None and is_private(node.name):
            self._private = {(scope, arg.arg): place for arg, place in handed_parameters(node, method=bool(first))}
        if node.returns is not None:
            self.annotation(node.returns)
        before, self._scope = self._scope, scope
        self.visit_all(node.body)
        self._scope = before

    def _enter(self, node: Function | ast.Lambda, first: str = "") -> Scope:
        scope, args = self._scope.inside(node), node.args
        self.visit_all(default for default in (*args.defaults, *args.kw_defaults) if default is not None)
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
        for alias, (source, name, bound) in zip(node.names, names_of(node, self._scope.package), strict=True):
            path = self._follow.imported(source, name, node.lineno)
            if not name and alias.asname is None:
                # It binds the package around it.
                path = self._follow.imported(bound, "", node.lineno)
            if name != bound and is_private(name):
                self.hands.add((name, ANY_PLACE, ANYTHING))
            if name != "*" and not is_followed(bound, self._scope):
                self._note(self.uses, path)

    def _class(self, node: ast.ClassDef) -> None:
        self.visit_all((*node.decorator_list, *(keyword.value for keyword in node.keywords), *node.bases))
        self.classes.append(self.bases_of(node.bases))
        self.visit_all(node.body)

    def _give(self, name: str, target: ast.expr) -> None:
        """An attribute is set."""
        if self.paths_of(target) == ("@self",):
            self.attributes.add(name)
        else:
            self.patches.add(name)

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

    def _paths(self, node: ast.expr) -> tuple[str, ...]:
        found = self.paths_of(node)
        for path in found:
            if path != ANYTHING:
                self.uses.setdefault(path, self._line)
        return found

    def _note(self, into: dict[str, int], *names: str) -> None:
        """Names on the line that is read now; what an earlier one has keeps that."""
        for name in names:
            into.setdefault(name, self._line)

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
                    # Its value was looked at where it was given; a local import is one that is used here.
                    self._note(self.uses, *[path for path in self.paths_of(node) if path[0] == "#"])
            case ast.Attribute():
                self._attribute(node)
            case ast.Constant(value=value):
                if isinstance(value, str):
                    self._text(value)
                elif isinstance(value, bytes):
                    # What is read from a wire becomes a name by `decode`.
                    self._note(self.texts, *_WORD.findall(value.decode("ascii", "ignore")))
            case ast.Call(func=ast.Attribute(value=ast.Call() as names, attr="get"), args=[asked, *default]) if (
                _is_globals(names)
            ):
                self._own_name(asked)
                self.visit_all(default)
            case ast.Subscript(value=ast.Call() as names, slice=asked, ctx=ast.Load()) if _is_globals(names):
                self._own_name(asked)
            case ast.Subscript(value=ast.Call() as names, slice=given) if _is_globals(names):
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
                self.visit_all(children(node))
            case ast.Compare(
                ast.Constant(str() as text), [ast.In() | ast.NotIn()], [ast.Call(args=[asked]) as call]
            ) if last_name(call.func) in _OF_OBJECTS:
                # `"name" in dir(x)` asks for one name.
                self._note(self.uses, *(f"{path}.{text}" for path in self.paths_of(asked)))
                self.visit(asked)
            case ast.Subscript(value=ast.Attribute(attr=name) as table, slice=asked) if name in _LOOKED_INTO:
                self._look_into(table, asked)
                self.visit_all(children(node))
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr=name) as table]) if (
                name in _LOOKED_INTO
            ):
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
                self._tables.enter_loop(target, iterated, self._scope)
                self.visit_all(children(node))
            case _:
                self.visit_all(children(node))

    def _is_elsewhere(self, module: str) -> bool:
        """True for the name of a module that cannot be the one that is read."""
        package = self._scope.package
        return module not in (package, "__main__") and module.rpartition(".")[0] != package

    def _look_into(self, table: ast.Attribute, asked: ast.expr) -> None:
        """Note that a table of names is asked for one: what the frame or function holds is of some module."""
        self._looked_into.add(table)
        if table.attr in _OF_MODULES:
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                self._note(self.uses, f"{LOADED}.{asked.value}")
            else:
                self._note(self.open, LOADED)

    def _list_elsewhere(self, name: str) -> None:
        """Note a builtin that lists names and is handed on: `map(vars, things)`."""
        if name in ("dir", "vars") and self._scope.owner(name) is None:
            self._note(self.enumerates, ANYTHING + HANDED)
            if name in _OF_OBJECTS:
                self._note(self.enumerates, EVERY_MEMBER)

    def _hand_on(self, nodes: Iterable[ast.expr], to: Sequence[str] = ("",)) -> None:
        """Note what is handed on as a value: code that is given a class or module may list its names.

        Args:
            nodes: what is handed on.
            to: paths of the function that is given it; empty for what a list or dictionary holds.
        """
        for node in nodes:
            for path in self.paths_of(node) if isinstance(node, ast.Name | ast.Attribute) else ():
                if path[0] not in _NO_KINDS or path == "@cls":
                    self._note(self.handed, *(f"{function}{HANDED_TO}{path}" for function in to))

    def _list(self, node: ast.expr, *, methods: bool = False, stored: bool = False) -> None:
        """Note that all names of an expression are listed.

        Of something unknown these are the names of the classes and modules that are handed on,
        and of all classes where `methods` are listed, or those of the class of an object. Of an
        object nothing is listed but what is `stored` in it, if so.
        """
        if _is_own_module(node):
            self._note(self.enumerates, "")
            return
        for path in self.paths_of(node):
            self._list_path(path, methods=methods, stored=stored)

    def _list_path(self, path: str, *, methods: bool = False, stored: bool = False) -> None:
        of_class = path.endswith(".__class__")
        path = path.removesuffix(".__class__")
        self._note(self.enumerates, f"{path}.__dict__" if stored and not of_class else path, path + HANDED)
        if methods or of_class:
            self._note(self.enumerates, EVERY_MEMBER if path == ANYTHING else path + LISTED)

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        """Some nodes, one after the other."""
        for node in nodes:
            self.visit(node)

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            self._give(node.attr, node.value)
        if is_private(node.attr) and node not in self._called:
            self.hands.add((node.attr, ANY_PLACE, ANYTHING))
        if isinstance(node.value, ast.Constant | ast.JoinedStr):
            # A method of a text.
            self.visit(node.value)
            return
        found = self._paths(node)
        self._asks_for_kinds = self._asks_for_kinds or node.attr in _KINDS
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            if inner.attr == "modules" and getattr(inner.value, "id", "") == "sys":
                self._note(self.enumerates, "")
                self._lists_modules = self._lists_modules or inner not in self._looked_into
            elif inner in self._looked_into:
                self._note(self.enumerates, *self.paths_of(inner if inner.attr == "__dict__" else inner.value))
            elif inner.attr in _TABLES:
                self._list(inner.value, stored=inner.attr == "__dict__")
            elif inner.attr in _ABOVE:
                self._note(self._above, *self.paths_of(inner.value))
            inner = inner.value
        if not isinstance(inner, ast.Name) or any(p[0] == ANYTHING for p in found):
            self.visit(node.value)

    def _comprehension(self, node: Comprehension) -> None:
        first = node.generators[0]
        # What the first loop runs over is evaluated outside.
        self.visit(first.iter)
        before, self._scope = self._scope, self._scope.inside(node)
        for generator in node.generators:
            self._tables.enter_loop(generator.target, generator.iter, self._scope)
        for child in children(node):
            self.visit_all((first.target, *first.ifs) if child is first else (child,))
        self._scope = before

    def _call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        arguments: list[ast.expr] = list(node.args)
        if name not in _TELLS_KIND:
            self._hand_on((*arguments, *(keyword.value for keyword in node.keywords)), self.paths_of(node.func))
        match node.func:
            case ast.Attribute(value=ast.Attribute(attr=asked_of) as table, attr=method):
                if asked_of in _LOOKED_INTO and method in _ASKING and arguments:
                    self._look_into(table, arguments[0])
        if name in _LOOKUPS and len(arguments) > 1:
            target, asked = arguments[0], arguments[1]
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                self._note(self.uses, *(f"{path}.{asked.value}" for path in self.paths_of(target)))
                if asked.value in _TABLES:
                    self._list(target)
                if name == "setattr":
                    self._give(asked.value, target)
                del arguments[1]
            elif mangled := _MANGLED.match(pattern_of(asked)):
                # `f"_{type(x).__name__}__{name}"`: a private name as its class writes it.
                self._note(self.lookups, mangled[1])
            elif self._computed(asked, self.lookups):
                if name == "setattr":
                    self._give(pattern_of(asked), target)
            elif (behind := self._tables.tables_behind(asked, self._scope)) is not None:
                self._note_tabled(self.paths_of(target), behind)
            elif (place := self._own_parameter(asked)) is not None:
                for path in self.paths_of(target):
                    self.by_parameter.setdefault((path, *place), self._line)
            else:
                # The name may come from anywhere.
                found = self.paths_of(target)
                self._note(self.open, *(path for path in found if path != LOADED or name not in _SETTING))
        elif (name == "type" and len(arguments) == 3) or name == "new_class":
            given = arguments[1] if len(arguments) > 1 else ast.Tuple([], ast.Load())
            several = given.elts if isinstance(given, ast.Tuple | ast.List) else [ast.Starred(given, ast.Load())]
            self.classes.append(self.bases_of(several))
        elif name in _ENUMERATES:
            if arguments:
                self._list(arguments[0], methods=name in _OF_OBJECTS, stored=name == "vars")
            else:
                self._note(self.enumerates, "")
        elif name == "super":
            self._note(self.uses, "@self", "@super")
        elif name == "replace":
            texts = (part.value for part in arguments[1:] if isinstance(part, ast.Constant))
            self._replacing.update(
                text for text in texts if isinstance(text, str) and len(text) > 2 and text.isidentifier()
            )
        elif name in _COMPARED:
            self._compared(node, name)
        elif name in _EVALUATES or name == "split":
            self._spelled(node)
            if name in _RUNS and len(arguments) == 1 and not isinstance(arguments[0], ast.Constant):
                # Without a namespace, code that nobody knows may name whatever is around it.
                self._note(self.enumerates, "")
        if is_private(name) and isinstance(node.func, ast.Name | ast.Attribute):
            self._called.add(node.func)
            self._hand_texts(node)
        self.written.update(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        called = [] if isinstance(node.func, ast.Name) and name in _ENUMERATES else [node.func]
        self.visit_all((*called, *arguments, *(keyword.value for keyword in node.keywords)))

    def _own_name(self, asked: ast.expr) -> None:
        """Note that a name of the module is looked up in `globals()`."""
        if (behind := self._tables.tables_behind(asked, self._scope)) is not None:
            self._note_tabled(("",), behind)
        else:
            self._note(self.enumerates, "")
        self.visit(asked)

    def _own_parameter(self, node: ast.expr) -> tuple[str, str] | None:
        """Find where callers of a private function give what an expression is; None where it is none of its parameters."""
        if not isinstance(node, ast.Name):
            return None
        owner = owner_of(node.id, self._scope)
        if owner is None or node.id in owner.rebound or node.id in owner.bindings.names:
            return None
        return self._private.get((owner, node.id))

    def _hand_texts(self, node: ast.Call) -> None:
        """Note where a call of a private function hands it a text that is not spelled out, and where one of a table."""
        callee = last_name(node.func)
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        # `Class._ask(thing, name)` gives the object first, `thing._ask(name)` does not.
        exact = base is None or self.paths_of(base) in (("@self",), ("@super",))
        for index, argument in enumerate(node.args):
            places = [index] if exact else [index, index - 1]
            for table in self._behind(argument):
                starred = isinstance(argument, ast.Starred)
                self.hands.update((callee, ANY_PLACE if starred else str(place), table) for place in places)
        for keyword in node.keywords:
            self.hands.update((callee, keyword.arg or ANY_PLACE, table) for table in self._behind(keyword.value))

    def _behind(self, node: ast.expr) -> Iterable[str]:
        """List the tables that an expression is a text of; an empty name for one that the unit spells out, `ANYTHING` for any text."""
        behind = self._tables.tables_behind(node, self._scope)
        return (ANYTHING,) if behind is None else behind or ("",)

    def _note_tabled(self, paths: Iterable[str], tables: Tables) -> None:
        """Note what is asked for texts that some tables of the module hold, or that the unit itself spells out."""
        for path in paths:
            for table in tables or ("",):
                self.tabled.setdefault((path, table), self._line)

    def _compared(self, node: ast.Call, name: str) -> None:
        """Note the texts that a name may begin or end with."""
        for part in walk(node):
            if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                continue
            if "." in part.value:
                self._note(self._prefixes, part.value)
            elif _WORD.fullmatch(part.value):
                starts = name in ("startswith", "removeprefix")
                self._note(self._ends, f"{part.value}*" if starts else f"*{part.value}")

    def _spelled(self, node: ast.Call) -> None:
        """Note each word of a text that is evaluated, or split into names.

        `eval("ops.add(1)")` names `ops` and `add`; `"run stop".split()` names `run` and `stop`.
        """
        spelled: list[ast.expr] = list(node.args)
        if isinstance(node.func, ast.Attribute):
            spelled.append(node.func.value)
        for part in spelled:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                self._note(self.texts, *_WORD.findall(part.value))

    def _computed(self, node: ast.expr, into: dict[str, int]) -> bool:
        """A text that may be computed; False when no letter of it is known."""
        pattern = pattern_of(node)
        if not _LETTER.search(pattern):
            return False
        if "*" not in pattern:
            self._text(pattern)
        elif _PIECE.fullmatch(pattern.replace("*", "")):
            self._note(into, pattern)
        return True

    def _text(self, text: str) -> None:
        if is_message(text):
            return
        if (len(text) <= _LONGEST and _NAMES.fullmatch(text)) or "sglang" in text or "import " in text:
            self._note(self.texts, *_WORD.findall(text), *spelled_otherwise(text))
            if _DOTTED.fullmatch(text):
                self._note(self.texts, text)
        else:
            self._note(self.texts, *names_in_fields(text), *names_in_values(text), *sorted(names_in_code(text)))
            if text.startswith("--"):
                self._note(self.texts, *spelled_otherwise(text))


def _is_globals(node: ast.Call) -> bool:
    """Tell whether a call gives the names of the module around it."""
    return isinstance(node.func, ast.Name) and node.func.id == "globals" and not node.args
