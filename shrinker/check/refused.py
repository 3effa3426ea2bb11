"""What a generated tree refuses by name: the tables that it looks at, read by their syntax."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shrinker.syntax.parsing import parsed
from shrinker.values.edits import FILE
from shrinker.values.upstream import PACKAGE_PREFIX

TABLE = f"{PACKAGE_PREFIX}{FILE}"
"""Their file."""


class Refused(NamedTuple):
    """A row: attributes of an argument, the values that are refused, or all that are not (`only`), and the rule."""

    line: int
    attributes: tuple[str, ...]
    values: tuple[str, ...]
    only: tuple[str, ...]
    rule: str


def tables_of(out: Path) -> dict[str, list[tuple[int, tuple[Any, ...]]]]:
    """By name the rows of each table, with their lines; none of a file that is not there, or no Python, which the level *form* finds."""
    found: dict[str, list[tuple[int, tuple[Any, ...]]]] = {}
    tree = parsed((out / TABLE).read_bytes()) if (out / TABLE).is_file() else None
    for node in tree.body if tree is not None else ():
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple(elts=rows))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple(elts=rows))
            ):
                cells = (row.args if isinstance(row, ast.Call) else getattr(row, "elts", []) for row in rows)
                found[name] = [
                    (row.lineno, tuple(map(ast.literal_eval, parts))) for row, parts in zip(rows, cells, strict=True)
                ]
    return found


def refused_rows(out: Path) -> Iterator[Refused]:
    """The rows about arguments."""
    for line, (_, attributes, values, only, _, rule, *_) in tables_of(out).get("REFUSALS", ()):
        yield Refused(line, attributes, values, only, rule)
