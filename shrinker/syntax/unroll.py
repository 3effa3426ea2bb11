"""Texts that loops over spelled out rows put together: ``for name in ("a", "b"): import_module(f"{__name__}.{name}")``.

Such a text is no pattern: what it may be is written down, row by row. Rows are the elements of a display, or of a private
name of the module that holds one and is only ever looped over or copied.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from shrinker.syntax.scopes import Comprehension
from shrinker.syntax.walk import walk

Loop = tuple[ast.expr, ast.expr]
"""What a loop binds, and what it runs over."""
Bound = dict[str, ast.expr | None]
"""Names of loops to what they are in one row; None for what is not known."""
Display = ast.Tuple | ast.List

OF_TEXTS = frozenset({"lstrip", "rstrip", "strip", "removeprefix", "removesuffix", "lower", "upper"})
"""Methods of a text that give another one, whatever texts they are given."""
_MOST = 4096
"""Rows, of all loops around a place together."""
_COPIES = frozenset({"list", "tuple", "sorted", "len", "set", "frozenset"})


def rows_of(iterated: ast.expr, tables: dict[str, Display], bound: Bound | None = None) -> list[ast.expr] | None:
    """The elements of a display, or of the name of one; None when they are not all spelled out.

    Args:
        iterated: what a loop runs over.
        tables: displays of the module by name.
        bound: what the loops around it give.
    """
    found: ast.expr | None = iterated
    if isinstance(iterated, ast.Name):
        found = bound[iterated.id] if bound and iterated.id in bound else tables.get(iterated.id)
    if isinstance(found, Display) and not any(isinstance(e, ast.Starred) for e in found.elts):
        return found.elts
    return None


def bind(target: ast.expr, row: ast.expr | None, bound: Bound) -> None:
    """Note what the names of a loop are in one row.

    Args:
        target: what the loop binds.
        row: the element; None when it is not known.
        bound: takes the names.
    """
    if isinstance(target, ast.Name):
        bound[target.id] = row
    elif isinstance(target, Display):
        parts: list[ast.expr | None] = [None] * len(target.elts)
        if (
            isinstance(row, Display)
            and len(row.elts) == len(parts)
            and not any(isinstance(e, ast.Starred) for e in (*row.elts, *target.elts))
        ):
            parts = [*row.elts]
        for inner, part in zip(target.elts, parts, strict=True):
            bind(inner.value if isinstance(inner, ast.Starred) else inner, part, bound)


def text_of(node: ast.expr, bound: Bound, module: str, package: str) -> str | None:
    """The text that an expression is in one row of the loops around it; None when it is not known.

    Args:
        node: the expression.
        bound: what the loops give.
        module: ``__name__``.
        package: ``__package__``.
    """
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id=name) if name in bound:
            row = bound[name]
            # A row is written outside the loop that gives it: no name of that loop is in it.
            return None if row is None or isinstance(row, ast.Name) else text_of(row, {}, module, package)
        case ast.Name(id="__name__"):
            return module
        case ast.Name(id="__package__"):
            return package
        case ast.JoinedStr(values=values):
            parts = [_part(value, bound, module, package) for value in values]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [text_of(side, bound, module, package) for side in (left, right)]
        case ast.IfExp(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), body=body, orelse=orelse):
            one, other = (text_of(side, bound, module, package) for side in (left, right))
            if one is None or other is None:
                return None
            return text_of(body if one == other else orelse, bound, module, package)
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments, keywords=[]) if method in OF_TEXTS:
            given = [text_of(each, bound, module, package) for each in (value, *arguments)]
            if None in given:
                return None
            try:
                return str(getattr(str, method)(*given))
            except TypeError:
                return None
        case _:
            return None
    return None if any(part is None for part in parts) else "".join(part for part in parts if part is not None)


def _part(node: ast.expr, bound: Bound, module: str, package: str) -> str | None:
    if not isinstance(node, ast.FormattedValue):
        return text_of(node, bound, module, package)
    if node.conversion != -1 or node.format_spec is not None:
        return None
    return text_of(node.value, bound, module, package)


def combinations(loops: Iterable[Loop], tables: dict[str, Display]) -> Iterator[Bound]:
    """What the names of nested loops are, row by row; a loop whose rows are not known gives its names no value.

    Args:
        loops: outermost first.
        tables: displays of the module by name.
    """
    found: list[Bound] = [{}]
    for target, iterated in loops:
        fresh: list[Bound] = []
        for bound in found:
            rows = rows_of(iterated, tables, bound)
            for row in [None] if rows is None else rows:
                after = dict(bound)
                bind(target, row, after)
                fresh.append(after)
            if len(fresh) > _MOST:
                bind(target, None, bound)
                fresh = [bound]
                break
        found = fresh
    yield from found


def displays_of(tree: ast.Module) -> dict[str, Display]:
    """Displays that the module gives a name which nothing else is given, wherever that is."""
    given: dict[str, Display] = {}
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple() | ast.List() as display)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple() | ast.List() as display)
            ):
                given[name] = display
    if not given:
        return {}
    stored: Counter[str] = Counter()
    for part in walk(tree):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                stored[name] += 1
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                stored[name] += 1
            case ast.alias(name=name, asname=bound):
                stored[bound or name.partition(".")[0]] += 1
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                stored.update(names)
    return {name: display for name, display in given.items() if stored[name] == 1}


def tables_of(tree: ast.Module) -> dict[str, Display]:
    """Those of them that nothing may change: tuples, and private lists that are only looped over or copied."""
    found = displays_of(tree)
    lists = {name for name, display in found.items() if isinstance(display, ast.List)}
    if not lists:
        return found
    open_reads: Counter[str] = Counter()
    for part in walk(tree):
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                open_reads[name] += 1
            case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
                open_reads[name] -= 1
            case ast.Call(func=ast.Name(id=function), args=[ast.Name(id=name)], keywords=[]) if function in _COPIES:
                open_reads[name] -= 1
    private = {name for name in lists if name.startswith("_") and not open_reads[name]}
    return {name: display for name, display in found.items() if name not in lists or name in private}


class Unroller:
    """Texts of one module that loops put together."""

    def __init__(self, tree: ast.Module, loops: Iterable[ast.For | Comprehension], module: str, package: str) -> None:
        """
        Args:
            tree: the module.
            loops: its loops and comprehensions.
            module: its dotted name.
            package: the package that its relative imports start from.
        """
        self._tree = tree
        self._module = module
        self._package = package
        self._around = [_statement(loop) if isinstance(loop, ast.For) else _comprehension(loop) for loop in loops]
        self._own: dict[int, bool] = {}
        self._tables: dict[str, Display] | None = None

    def texts(self, node: ast.expr) -> tuple[str, ...] | None:
        """All that an expression may be, where loops around it say so; None where they do not.

        Args:
            node: an expression of the tree, with its position.
        """
        loops = self._loops(node)
        rows = self._rows(loops, (node,)) if loops else None
        return None if rows is None else tuple(dict.fromkeys(text for (text,) in rows))

    def rows(self, *nodes: ast.expr) -> list[tuple[str, ...]] | None:
        """What some expressions that stand together are, once or, where loops are around them, row by row; None where one is not known."""
        return self._rows(self._loops(nodes[0]), nodes)

    def _loops(self, node: ast.expr) -> list[Loop]:
        around = [each for each in self._around if any(_holds(part, node) for part in each.inside)]
        return [
            loop for each in sorted(around, key=lambda e: e.place) if self._binds_alone(each) for loop in each.loops
        ]

    def _rows(self, loops: list[Loop], nodes: tuple[ast.expr, ...]) -> list[tuple[str, ...]] | None:
        if self._tables is None:
            self._tables = tables_of(self._tree)
        found: list[tuple[str, ...]] = []
        for bound in combinations(loops, self._tables):
            texts = tuple(
                text for node in nodes if (text := text_of(node, bound, self._module, self._package)) is not None
            )
            if len(texts) < len(nodes):
                return None
            found.append(texts)
        return found

    def _binds_alone(self, loop: "_Around") -> bool:
        """False when code inside gives a name of the loop another value, or defines what may run when the loop has gone on."""
        known = self._own.get(id(loop))
        if known is None:
            names = {n.id for target, _ in loop.loops for n in walk(target) if isinstance(n, ast.Name)}
            known = self._own[id(loop)] = not any(
                isinstance(n, _LATER) or (isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Store))
                for part in loop.inside
                for n in walk(part)
            )
        return known


_LATER = (ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global)


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """A loop statement or a comprehension."""

    place: tuple[int, int]
    loops: tuple[Loop, ...]
    inside: tuple[ast.AST, ...]
    """What sees the names of the loops."""


def _statement(node: ast.For) -> _Around:
    return _Around((node.lineno, node.col_offset), ((node.target, node.iter),), tuple(node.body))


def _comprehension(node: Comprehension) -> _Around:
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    loops = tuple((g.target, g.iter) for g in node.generators)
    conditions = chain.from_iterable(g.ifs for g in node.generators)
    return _Around((node.lineno, node.col_offset), loops, (*results, *conditions))


def _holds(outer: ast.AST, node: ast.AST) -> bool:
    first = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
    last = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return (outer.lineno, outer.col_offset) <= first and last <= (outer.end_lineno, outer.end_col_offset)  # type: ignore[attr-defined]
