"""What loops over spelled out rows put together, read for the judge: the rows as values, and the expression evaluated by Python."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

Row = str | tuple["Row", ...] | None
"""A text, what a display holds, or None for anything else."""
Names = dict[str, Row]

_TEXTUAL = (
    *(ast.Constant, ast.Name, ast.Load, ast.JoinedStr, ast.FormattedValue),
    *(ast.BinOp, ast.Add, ast.IfExp, ast.Compare, ast.Eq, ast.NotEq),
    *(ast.Call, ast.Attribute),
)
_METHODS = frozenset({"lstrip", "rstrip", "strip", "removeprefix", "removesuffix", "lower", "upper"})


def tables_of(tree: ast.Module) -> dict[str, ast.Tuple | ast.List]:
    """Displays that a module gives a name which it gives nothing else."""
    given = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    found: dict[str, ast.Tuple | ast.List] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign) else target
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and given[target.id] == 1 and isinstance(value, ast.Tuple | ast.List):
            found[target.id] = value
    return found


def passes(
    loops: Sequence[ast.For], tables: Mapping[str, ast.expr], names: Names | None = None
) -> Iterator[Names | None]:
    """The names of nested loops, pass by pass; None where what a loop runs over is not spelled out.

    Args:
        loops: outermost first.
        tables: see `tables_of`.
        names: of the loops around them.
    """
    if not loops:
        yield names or {}
        return
    first, *rest = loops
    rows: Row = None
    if isinstance(first.iter, ast.Name) and first.iter.id in (names or {}):
        rows = (names or {})[first.iter.id]
    else:
        rows = _value(tables.get(first.iter.id) if isinstance(first.iter, ast.Name) else first.iter)
    if not isinstance(rows, tuple):
        yield None
        return
    for row in rows:
        yield from passes(rest, tables, {**(names or {}), **_unpacked(first.target, row)})


def text_of(node: ast.expr, names: Names, module: str, package: str) -> str | None:
    """What an expression of texts gives; None for any other expression.

    Args:
        node: the expression.
        names: of the loops around it.
        module: ``__name__``.
        package: ``__package__``.
    """
    known: dict[str, Row] = {"__name__": module, "__package__": package, **names}
    for part in ast.walk(node):
        if not isinstance(part, _TEXTUAL) or (isinstance(part, ast.FormattedValue) and part.conversion != -1):
            return None
        if isinstance(part, ast.Constant) and not isinstance(part.value, str):
            return None
        if isinstance(part, ast.Attribute) and part.attr not in _METHODS:
            return None
        if isinstance(part, ast.Call) and (part.keywords or not isinstance(part.func, ast.Attribute)):
            return None
        if isinstance(part, ast.Name) and not isinstance(known.get(part.id), str):
            return None
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<row>", "eval")
    try:
        # Nothing but texts, `+`, `==`, `if` and methods of texts: looked at above.
        found = eval(code, {"__builtins__": {}}, known)
    except TypeError:
        return None
    return found if isinstance(found, str) else None


def _value(node: ast.expr | None) -> Row:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return None if any(isinstance(e, ast.Starred) for e in elements) else tuple(map(_value, elements))
    return None


def _unpacked(target: ast.expr, row: Row) -> Names:
    if isinstance(target, ast.Name):
        return {target.id: row}
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    rows = row if isinstance(row, tuple) and len(row) == len(parts) else (None,) * len(parts)
    found: Names = {}
    for part, each in zip(parts, rows, strict=True):
        found |= _unpacked(part, each)
    return found
