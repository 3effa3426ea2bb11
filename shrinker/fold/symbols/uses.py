"""What the code of a unit names: paths, strings, computed strings, attributes that it sets."""

import ast
import re
from collections.abc import Iterable
from typing import Any

from shrinker.fold.messages import is_message
from shrinker.fold.summary import pattern_of
from shrinker.fold.symbols.paths import Paths, is_followed, owner_of
from shrinker.fold.symbols.tables import SpelledTexts, Tables, handed_parameters
from shrinker.syntax.imports import Import, names_of
from shrinker.syntax.names import is_private, last_name, names_in_fields, spelled_otherwise
from shrinker.syntax.scopes import Comprehension, Scope, arguments_of
from shrinker.syntax.walk import Function, children, walk
from shrinker.values.folded import ANY_PLACE, ANYTHING, EVERY_MEMBER

_NAMES = re.compile(r"[A-Za-z_][\w.:\-,/|]*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LETTER = re.compile(r"[A-Za-z]")
_PIECE = re.compile(r"[\w.:]*")
_LONGEST = 200
_ENUMERATES = frozenset({"globals", "vars", "dir", "getmembers", "getmembers_static"})
_COMPARED = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
_EVALUATES = frozenset({"compile", "eval", "exec"})
_OF_OBJECTS = frozenset({"dir", "getmembers", "getmembers_static"})
"""What lists methods along with the rest."""
_PLACED = ("uses", "texts", "patterns", "lookups", "enumerates", "open")
"""What is collected with the first line that has it."""
_UNPLACED = ("written", "stores", "attributes", "patches")
_LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr", "methodcaller", "attrgetter"})


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
        self.written: set[str] = set()
        self.stores: set[str] = set()
        self.attributes: set[str] = set()
        self.patches: set[str] = set()
        self.classes: list[tuple[str, ...]] = []
        self._ends: dict[str, int] = {}
        """Patterns of the texts that names are compared with, as `name.startswith("on_")` does."""
        self._scope = module
        self._private: dict[tuple[Scope, str], tuple[str, str]] = {}
        """Parameters of a private function that the unit is: where a caller gives them, by position and by name."""
        self._called: set[ast.expr] = set()
        self._follow = Paths()

    def fields(self) -> dict[str, Any]:
        """What was collected, as fields of `Symbol`."""
        self._note(self.uses, *sorted(self._follow.lost))
        chosen = {pattern: line for pattern, line in self._ends.items() if pattern.strip("*_")}
        unknown = any(path[0] == ANYTHING for path in (*self.enumerates, *self.open) if path)
        if chosen and unknown:
            # Of all names those are taken that begin or end so.
            self.enumerates.pop(EVERY_MEMBER, None)
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
        self.classes.append(tuple("|".join(self.paths_of(base)) for base in node.bases))
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
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            if inner.attr == "__dict__":
                self._note(self.enumerates, *self.paths_of(inner))
            elif inner.attr == "modules" and getattr(inner.value, "id", "") == "sys":
                self._note(self.enumerates, "")
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
        if name in _LOOKUPS and len(arguments) > 1:
            target, asked = arguments[0], arguments[1]
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                self._note(self.uses, *(f"{path}.{asked.value}" for path in self.paths_of(target)))
                if name == "setattr":
                    self._give(asked.value, target)
                del arguments[1]
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
                self._note(self.open, *self.paths_of(target))
        elif name == "type" and len(arguments) == 3 and isinstance(arguments[1], ast.Tuple):
            self.classes.append(tuple("|".join(self.paths_of(b)) for b in arguments[1].elts))
        elif name in _ENUMERATES:
            self._enumerated(name, arguments)
        elif name == "super":
            self._note(self.uses, "@self", "@super")
        elif name in _COMPARED:
            self._compared(node, name)
        elif name in _EVALUATES or name == "split":
            self._spelled(node)
        if is_private(name) and isinstance(node.func, ast.Name | ast.Attribute):
            self._called.add(node.func)
            self._hand_on(node)
        self.written.update(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        self.visit_all((node.func, *arguments, *(keyword.value for keyword in node.keywords)))

    def _enumerated(self, function: str, arguments: list[ast.expr]) -> None:
        """Note what a function lists all names of: the module around it where it is given nothing."""
        found = self.paths_of(arguments[0]) if arguments else ("",)
        if function == "vars" and arguments:
            found = tuple(f"{path}.__dict__" for path in found)
        elif function in _OF_OBJECTS and ANYTHING in found:
            found = (*found, EVERY_MEMBER)
        self._note(self.enumerates, *found)

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

    def _hand_on(self, node: ast.Call) -> None:
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
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and _WORD.fullmatch(part.value):
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
            self._note(self.texts, *names_in_fields(text))
            if text.startswith("--"):
                self._note(self.texts, *spelled_otherwise(text))


def _is_globals(node: ast.Call) -> bool:
    """Tell whether a call gives the names of the module around it."""
    return isinstance(node.func, ast.Name) and node.func.id == "globals" and not node.args
