"""Texts that loops over spelled out rows put together: ``for name in ("a", "b"):
import_module(f"{__name__}.{name}")``.

Such a text is no pattern: what it may be is written down, row by row. Rows are the elements of a
display, or of a private name of the module that holds one and is only ever looped over or copied.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property

from shrinker.syntax.names import assigned, last_name
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import walk

Bound = dict[str, ast.expr | None]
"""Names of loops to what they are in one row; None for what is not known."""
Display = ast.Tuple | ast.List

OF_TEXTS = frozenset(
    {"lstrip", "rstrip", "strip", "removeprefix", "removesuffix", "lower", "upper"}
)
"""Methods of a text that give another one, whatever texts they are given."""
IMPORTING = frozenset({"import_module", "__import__"})
"""Functions that import a module by its name."""
_MOST = 4096
"""Rows, of all loops around a place together."""
_COPIES = frozenset({"list", "tuple", "sorted", "len", "set", "frozenset"})


def rows_of(
    iterated: ast.expr, tables: dict[str, Display], bound: Bound | None = None
) -> list[ast.expr] | None:
    """Return what a loop runs over: the elements of a display, or of the name of one in `tables` or
    in what the loops around it give.

    None when they are not all spelled out.
    """
    found: ast.expr | None = iterated
    if isinstance(iterated, ast.Name):
        found = bound[iterated.id] if bound and iterated.id in bound else tables.get(iterated.id)
    return found.elts if isinstance(found, Display) and not _is_open(found) else None


def _is_open(display: Display) -> bool:
    return any(isinstance(element, ast.Starred) for element in display.elts)


def bind(target: ast.expr, row: ast.expr | None, bound: Bound) -> None:
    """Note in `bound` what the names that a loop binds are in one row; None where that is not
    known.
    """
    if isinstance(target, ast.Name):
        bound[target.id] = row
    elif isinstance(target, Display):
        parts: list[ast.expr | None] = [None] * len(target.elts)
        if (
            isinstance(row, Display)
            and len(row.elts) == len(parts)
            and not (_is_open(row) or _is_open(target))
        ):
            parts = [*row.elts]
        for inner, part in zip(target.elts, parts, strict=True):
            bind(inner.value if isinstance(inner, ast.Starred) else inner, part, bound)


def text_of(node: ast.expr, bound: Bound, module: str, package: str) -> str | None:
    """Return the text that an expression of a module is in one row of the loops around it; None
    when it is not known.
    """
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id=name) if name in bound:
            row = bound[name]
            # A row is written outside the loop that gives it: no name of that loop is in it.
            return (
                None
                if row is None or isinstance(row, ast.Name)
                else text_of(row, {}, module, package)
            )
        case ast.Name(id="__name__"):
            return module
        case ast.Name(id="__package__"):
            return package
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return text_of(value, bound, module, package)
        case ast.JoinedStr(values=values):
            parts = _texts(values, bound, module, package)
            return None if parts is None else "".join(parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = _texts([left, right], bound, module, package)
            return None if parts is None else "".join(parts)
        case ast.IfExp(
            test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]),
            body=body,
            orelse=orelse,
        ):
            sides = _texts([left, right], bound, module, package)
            if sides is not None:
                return text_of(body if sides[0] == sides[1] else orelse, bound, module, package)
        case ast.Call(
            func=ast.Attribute(value=value, attr=method), args=arguments, keywords=[]
        ) if method in OF_TEXTS:
            given = _texts([value, *arguments], bound, module, package)
            with suppress(TypeError):
                return None if given is None else str(getattr(str, method)(*given))
    return None


def _texts(nodes: Sequence[ast.expr], bound: Bound, module: str, package: str) -> list[str] | None:
    """Return texts of some expressions; None where one is not known."""
    found = [text for node in nodes if (text := text_of(node, bound, module, package)) is not None]
    return found if len(found) == len(nodes) else None


def imported_for(row: ast.expr, loop: ast.For, module: str, package: str) -> Iterator[str]:
    """Yield modules that the body of a loop imports by name for one row, as far as they are
    known.
    """
    bound: Bound = {}
    bind(loop.target, row, bound)
    calls = (
        node
        for part in loop.body
        for node in walk(part)
        if isinstance(node, ast.Call) and node.args
    )
    texts = (
        text_of(c.args[0], bound, module, package) for c in calls if last_name(c.func) in IMPORTING
    )
    yield from (text for text in texts if text is not None)


def _combinations(
    loops: Sequence[ast.For], tables: dict[str, Display], around: Bound
) -> Iterator[Bound]:
    """Yield what the names of nested loops are, row by row, outermost first; a loop whose rows are
    not known gives its names no value.
    """
    if not loops:
        yield around
        return
    rows = rows_of(loops[0].iter, tables, around)
    for row in [None] if rows is None else rows:
        bound = {**around}
        bind(loops[0].target, row, bound)
        yield from _combinations(loops[1:], tables, bound)


def displays_of(tree: ast.Module) -> dict[str, Display]:
    """Find the tuples and lists that the module gives a name which nothing else is given, wherever
    that is.
    """
    return {
        name: value
        for name, value in given_once(tree, (ast.Tuple, ast.List)).items()
        if isinstance(value, Display)
    }


def given_once(tree: ast.Module, kinds: tuple[type[ast.expr], ...]) -> dict[str, ast.expr]:
    """Find the values of some kinds that the module gives a name which nothing else is given,
    wherever that is.
    """
    assignments = map(assigned, tree.body)
    given = {
        t.id: value
        for t, value in assignments
        if isinstance(t, ast.Name) and isinstance(value, kinds)
    }
    if not given:
        return {}
    stored: Counter[str] = Counter()
    for part in walk(tree):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                stored[name] += 1
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                stored[name] += 1
            case ast.alias(name=name, asname=bound):
                stored[bound or name.partition(".")[0]] += 1
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                stored.update(names)
    return {name: value for name, value in given.items() if stored[name] == 1}


def tables_of(tree: ast.Module) -> dict[str, Display]:
    """Return those of them that nothing may change: tuples, and private lists that are only looped
    over or copied.
    """
    found = displays_of(tree)
    if all(isinstance(display, ast.Tuple) for display in found.values()):
        return found
    open_reads: Counter[str] = Counter()
    for part in walk(tree):
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                open_reads[name] += 1
            case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
                open_reads[name] -= 1
            case ast.Call(func=ast.Name(id=function), args=[ast.Name(id=name)], keywords=[]) if (
                function in _COPIES
            ):
                open_reads[name] -= 1
    return {
        name: display
        for name, display in found.items()
        if isinstance(display, ast.Tuple) or (name.startswith("_") and not open_reads[name])
    }


class Unroller:
    """Texts of one module that its loops put together."""

    def __init__(
        self, tree: ast.Module, loops: Iterable[ast.For], module: str, package: str
    ) -> None:
        self._tree = tree
        self._module = module
        self._package = package
        self._loops = sorted(loops, key=span)

    @cached_property
    def _tables(self) -> dict[str, Display]:
        return tables_of(self._tree)

    def texts(self, node: ast.expr) -> tuple[str, ...] | None:
        """Return all that an expression of the tree may be, where loops around it say so; None
        where they do not.
        """
        rows = self.rows(node) if any(self._around(node)) else None
        return None if rows is None else tuple(dict.fromkeys(text for (text,) in rows))

    def rows(self, *nodes: ast.expr) -> list[tuple[str, ...]] | None:
        """Return what some expressions that stand together are, once or, where loops are around
        them, row by row; None where one is not known.
        """
        loops = [loop for loop in self._around(nodes[0]) if _binds_alone(loop)]
        found: list[tuple[str, ...]] = []
        for bound in _combinations(loops, self._tables, {}):
            texts = _texts(nodes, bound, self._module, self._package)
            if texts is None or len(found) == _MOST:
                return None
            found.append(tuple(texts))
        return found

    def _around(self, node: ast.expr) -> Iterator[ast.For]:
        """Loops in whose body an expression stands, outermost first."""
        for loop in self._loops:
            first, last = loop.body[0], loop.body[-1]
            if (first.lineno, first.col_offset) <= (node.lineno, node.col_offset) and span(
                node
            ) < span(last).after:
                yield loop


_LATER = (ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global)


def _binds_alone(loop: ast.For) -> bool:
    """False when code inside gives a name of the loop another value, or defines what may run when
    the loop has gone on.
    """
    names = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
    return not any(
        isinstance(n, _LATER)
        or (isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Store))
        for part in loop.body
        for n in walk(part)
    )
