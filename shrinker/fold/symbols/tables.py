"""Names that are looked up out of spelled out texts: which ones they may be is written down in the
module.

METHODS = {CPU: "run_on_cpu", GPU: "run_on_gpu"}

getattr(self, METHODS[device])                    # asks for these two names alone
for name in ("start", "stop"): getattr(self, name)

A table counts as long as its module only reads it. Whether another module mentions it, and may
write into it, is asked when the whole program is known.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property

from shrinker.fold.summary import pattern_of
from shrinker.syntax.names import last_name
from shrinker.syntax.scopes import Scope
from shrinker.syntax.unroll import Bound, bind, given_once
from shrinker.syntax.walk import Function, walk
from shrinker.values.folded import FEWEST_LETTERS

Tables = frozenset[str]
"""Names of the module that hold what an answer rests on."""

_DISPLAYS = (ast.Dict, ast.List, ast.Set, ast.Tuple)
_COPIES = frozenset({"dict", "frozenset", "len", "list", "reversed", "set", "sorted", "tuple"})
"""Functions that leave what they are given as it is, and keep none of it but its elements."""
_PARTS = frozenset({"items", "keys", "values"})
_READS = _PARTS | {"get"}
"""Methods of a dictionary that leave it as it is."""
_LETTERS = re.compile(r"[A-Za-z]")
_BINDING = frozenset({"classmethod", "staticmethod"})
"""Decorators that leave the parameters as they are, but for the first."""
_NONE: Tables = frozenset()


class SpelledTexts:
    """Tells of expressions of one module whether they are spelled out texts."""

    def __init__(self, module: Scope, listing: Set[str]) -> None:
        """`listing` are lists of the module's own names, whose texts ask for nothing by
        themselves.
        """
        self._module = module
        self._listing = listing
        self._rows: dict[tuple[Scope, str], tuple[list[ast.expr | None], Tables]] = {}
        """What a name that a loop binds is in each row."""
        self._busy: set[tuple[Scope, str]] = set()

    @cached_property
    def _tables(self) -> dict[str, ast.expr]:
        """Displays of the module that it only reads."""
        tree = self._module.node
        assert isinstance(tree, ast.Module)
        found = given_once(tree, _DISPLAYS)
        written = _written(tree) | self._listing if found else frozenset[str]()
        return {name: display for name, display in found.items() if name not in written}

    def enter_loop(self, target: ast.expr, iterated: ast.expr, scope: Scope) -> None:
        """Note what the names that a loop or comprehension binds are; `scope` is where they
        belong.
        """
        names = [part.id for part in walk(target) if isinstance(part, ast.Name)]
        rows = self._rows_of(iterated, scope)
        if rows is None:
            return
        elements, tables = rows
        if any(map(_makes_what_grows, elements)):
            return
        for name in names:
            values: list[ast.expr | None] = []
            for element in elements:
                bound: Bound = {}
                bind(target, element, bound)
                values.append(bound.get(name))
            self._rows[scope, name] = values, tables

    def tables_behind(self, node: ast.expr, scope: Scope) -> Tables | None:
        """Find the tables of the module that an expression takes a text from.

        Returns:
            None when it may be a text that is not spelled out in the module.
        """
        match node:
            case ast.Constant(value=None):
                return _NONE
            case ast.Constant() | ast.JoinedStr() if _is_spelled(node):
                return _NONE
            case ast.IfExp(body=body, orelse=orelse):
                return self._joined([body, orelse], scope)
            case ast.BoolOp(values=values):
                return self._joined(values, scope)
            case ast.NamedExpr(value=value):
                return self.tables_behind(value, scope)
            case ast.Subscript(value=table, ctx=ast.Load()):
                return self._texts_in(table, scope)
            case ast.Call(
                func=ast.Attribute(value=table, attr="get"), args=[_, *default], keywords=[]
            ):
                found = self._texts_in(table, scope)
                given = self._joined(default, scope)
                return None if found is None or given is None else found | given
            case ast.Name(id=name):
                return self._tables_behind_name(name, scope)
        return None

    def _joined(self, nodes: Iterable[ast.expr], scope: Scope) -> Tables | None:
        found = _NONE
        for node in nodes:
            tables = self.tables_behind(node, scope)
            if tables is None:
                return None
            found |= tables
        return found

    def _tables_behind_name(self, name: str, scope: Scope) -> Tables | None:
        owner = scope.owner(name)
        if owner is None or (owner, name) in self._busy:
            return None
        if (owner, name) in self._rows:
            values, tables = self._rows[owner, name]
            alone = len(owner.bindings.names.get(name, ())) <= 1 and name not in owner.rebound
            return tables if alone and all(map(_is_spelled, values)) else None
        given = self._given(name, scope)
        if given is None:
            return None
        self._busy.add((owner, name))
        found = self._joined(*given)
        self._busy.discard((owner, name))
        return found

    def _texts_in(self, node: ast.expr, scope: Scope) -> Tables | None:
        """Find the tables behind what holds texts alone, as elements or under its keys."""
        found = self._display(node, scope)
        if found is None:
            return None
        display, tables = found
        held: Sequence[ast.expr | None] = []
        if isinstance(display, ast.Dict):
            # A mapping that is unpacked has no key.
            held = [
                value if key is not None else None
                for key, value in zip(display.keys, display.values, strict=True)
            ]
        elif isinstance(display, ast.List | ast.Tuple):
            held = display.elts
        return tables if held and all(map(_is_spelled, held)) else None

    def _rows_of(self, node: ast.expr, scope: Scope) -> tuple[list[ast.expr], Tables] | None:
        """Return what a loop runs over, row by row; None when it is not spelled out."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[iterated], keywords=[]) if name in _COPIES:
                return self._rows_of(iterated, scope) if scope.owner(name) is None else None
            case ast.Call(func=ast.Attribute(value=table, attr=part), args=[], keywords=[]) if (
                part in _PARTS
            ):
                return self._parts_of(table, part, scope)
            case ast.Call(
                func=ast.Attribute(value=table, attr="get"), args=[_, *default], keywords=[]
            ):
                return self._rows_held(table, default, scope)
            case ast.Subscript(value=table, ctx=ast.Load()):
                return self._rows_held(table, [], scope)
            case ast.Name(id=name) if (given := self._given(name, scope)) is not None:
                return self._rows_of_name(name, *given)
        found = self._display(node, scope)
        if found is None:
            return None
        display, tables = found
        if isinstance(display, ast.Dict):
            return self._parts_of(node, "keys", scope)
        elements = getattr(display, "elts", [])
        return (
            None if any(isinstance(each, ast.Starred) for each in elements) else (elements, tables)
        )

    def _rows_of_name(
        self, name: str, given: list[ast.expr], owner: Scope
    ) -> tuple[list[ast.expr], Tables] | None:
        """Return rows of what a local name is given; what it is made of itself (`names =
        sorted(names)`) is not followed.

        Who holds a list by a name may add to it.
        """
        if (owner, name) in self._busy or any(map(_makes_what_grows, given)):
            return None
        self._busy.add((owner, name))
        found = self._rows_of_all(given, owner)
        self._busy.discard((owner, name))
        return found

    def _rows_held(
        self, table: ast.expr, default: Sequence[ast.expr], scope: Scope
    ) -> tuple[list[ast.expr], Tables] | None:
        """Return rows of what a dictionary of displays holds, whichever of them is taken, and of
        what stands for one that is not there.
        """
        held = self._parts_of(table, "values", scope)
        if held is None or any(map(_makes_what_grows, held[0])):
            return None
        found = self._rows_of_all([*held[0], *default], scope)
        return None if found is None else (found[0], found[1] | held[1])

    def _rows_of_all(
        self, nodes: Iterable[ast.expr], scope: Scope
    ) -> tuple[list[ast.expr], Tables] | None:
        """Return rows of several things, of which a loop may run over any."""
        rows, tables = list[ast.expr](), _NONE
        for node in nodes:
            found = self._rows_of(node, scope)
            if found is None:
                return None
            rows += found[0]
            tables |= found[1]
        return rows, tables

    def _given(self, name: str, scope: Scope) -> tuple[list[ast.expr], Scope] | None:
        """Return what a local name is given, with the scope that it belongs to; None where that is
        not all known.
        """
        owner = scope.owner(name)
        if owner is None or owner is self._module or (owner, name) in self._rows:
            return None
        bindings = owner.values(name)
        given = [binding.value for binding in bindings or () if binding.value is not None]
        return (given, owner) if bindings and len(given) == len(bindings) else None

    def _parts_of(
        self, node: ast.expr, part: str, scope: Scope
    ) -> tuple[list[ast.expr], Tables] | None:
        """Return keys, values or items of a dictionary."""
        found = self._display(node, scope)
        if found is None:
            return None
        display, tables = found
        if not isinstance(display, ast.Dict):
            return None
        keys = [key for key in display.keys if key is not None]
        if len(keys) < len(display.keys):
            return None
        if part == "keys":
            return keys, tables
        if part == "values":
            return display.values, tables
        items = zip(keys, display.values, strict=True)
        return [ast.Tuple([key, value], ast.Load()) for key, value in items], tables

    def _display(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Tables] | None:
        """Return the display that an expression is, or that it names."""
        if isinstance(node, _DISPLAYS):
            return node, _NONE
        if (
            isinstance(node, ast.Name)
            and node.id in self._tables
            and scope.owner(node.id) is self._module
        ):
            return self._tables[node.id], frozenset({node.id})
        return None


def _makes_what_grows(node: ast.expr) -> bool:
    """Tell whether an expression may make a list or dictionary to which somebody adds later."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _COPIES
        case ast.Dict() | ast.List() | ast.Set():
            return True
    return False


def _is_spelled(node: ast.expr | None) -> bool:
    """Tell whether a text is written out, or so much of it that it is a pattern by itself."""
    if isinstance(node, ast.JoinedStr):
        return len(_LETTERS.findall(pattern_of(node))) >= FEWEST_LETTERS
    return _is_text(node)


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _written(tree: ast.Module) -> frozenset[str]:
    """Return names that the module does more with than to look into what they hold.

    >>> sorted(_written(ast.parse("A[1]; A.get(2); B[1] = 2; C.update(x=1); f(D); 1 in E")))
    ['B', 'C', 'D', 'f']
    """
    open_reads: Counter[str] = Counter()
    for part in walk(tree):
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                open_reads[name] += 1
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Load()):
                open_reads[name] -= 1
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
                method in _READS
            ):
                open_reads[name] -= 1
            case ast.Call(func=function, args=[ast.Name(id=name)], keywords=[]) if (
                last_name(function) in _COPIES
            ):
                open_reads[name] -= 1
            case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
                open_reads[name] -= 1
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                open_reads[name] -= 1
            case ast.Assign([ast.Subscript(ast.Name(id=name), ast.Constant())], value) if _is_text(
                value
            ):
                # One more row that is spelled out.
                open_reads[name] -= 1
    return frozenset(name for name, reads in open_reads.items() if reads)


def handed_parameters(node: Function, *, method: bool) -> Iterator[tuple[ast.arg, tuple[str, str]]]:
    """Yield the parameters that a function has from its callers alone, each with its position and
    name in a call.

    One with a default that is not spelled out is none of them, nor is what takes several arguments;
    a decorator may call the function with anything. The object of a `method` has no position.
    """
    if not {last_name(decorator) for decorator in node.decorator_list} <= _BINDING:
        return
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [
        *[None] * (len(positional) - len(args.defaults)),
        *args.defaults,
    ]
    for position, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        place = position - method
        if place >= 0 and (default is None or isinstance(default, ast.Constant)):
            yield arg, (str(place), arg.arg)
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if default is None or isinstance(default, ast.Constant):
            yield arg, ("", arg.arg)
