"""What a generated tree refuses by name: the table that it looks at, read by its syntax."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shrinker.syntax.parsing import parsed
from shrinker.values.refusals import FILE
from shrinker.values.upstream import PACKAGE_PREFIX

TABLE = f"{PACKAGE_PREFIX}{FILE}"
"""Its path."""


class Refused(NamedTuple):
    """A row: attributes of an argument, the values that are refused, or all that are not (`only`), and the rule."""

    line: int
    attributes: tuple[str, ...]
    values: tuple[str, ...]
    only: tuple[str, ...]
    rule: str


def table_of(out: Path) -> ast.Module:
    """The table; an empty module where there is none, or one that is no Python, which the level *form* finds."""
    return (parsed((out / TABLE).read_bytes()) if (out / TABLE).is_file() else None) or ast.Module([], [])


def refused_rows(table: ast.Module) -> Iterator[Refused]:
    """Its rows about arguments."""
    for node in ast.walk(table):
        match node:
            case ast.Call(func=ast.Name(id="Refusal"), args=[_, *row]) if len(row) > 4:
                attributes, values, only, _, rule = map(ast.literal_eval, row[:5])
                yield Refused(node.lineno, attributes, values, only, rule)
