"""Place the look at an argument where a function begins that a `[[refusal]]` rule names.

The line stands before the first statement as upstream wrote it, so that its place is found before folding; the folded
tree receives it when everything else is decided, since what it names is shrinker's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shrinker.fold.context import Context
from shrinker.ruleset.match import name_matches
from shrinker.values.edits import Refuse, Span
from shrinker.values.folded import Uncertain
from shrinker.values.refusals import refusal_line

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Look:
    """A line that is to be inserted."""

    name: str
    """The function, below its module."""
    line: int
    """Where the function stands."""
    edit: Refuse
    rules: frozenset[str]


def find_looks(tree: ast.Module, context: Context) -> list[Look]:
    """The lines that the rules ask for in this file, before it is folded.

    A function that has no such parameter, or is written on one line, is listed as uncertain.
    """
    rules = [r for r in context.environment.rules.refusals if _may_be_in(r.function, context.module)]
    found: list[Look] = []
    for name, node in _functions(tree.body, "") if rules else ():
        wanted = [r for r in rules if name_matches(r.function, f"{context.module}.{name}")]
        for argument in dict.fromkeys(r.argument for r in wanted):
            place = _place(node, argument, context)
            if place is None:
                reason = f"no place for a look at `{argument}`, which would refuse what was removed"
                context.uncertain.append(Uncertain(context.path, node.lineno, reason))
                continue
            asking = frozenset(r.id for r in wanted if r.argument == argument)
            found.append(Look(name, node.lineno, Refuse(place, f"{context.module}.{name}", argument), asking))
    return found


def place_looks(tree: ast.Module, looks: Iterable[Look], context: Context) -> None:
    """Insert the lines into the folded tree, with the edits that write them."""
    wanted = {(look.name, look.line): look for look in looks}
    for name, node in _functions(tree.body, "") if wanted else ():
        look = wanted.get((name, node.lineno))
        if look is None:
            continue
        context.edits.append(look.edit)
        context.decide(node, "refusal", look.rules, "refuses", 0)
        index = int(ast.get_docstring(node, clean=False) is not None)
        node.body[index:index] = ast.parse(refusal_line(look.edit.place, look.edit.argument)).body


def _may_be_in(pattern: str, module: str) -> bool:
    return "*" in pattern or pattern.startswith(f"{module}.")


def _functions(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")


def _place(node: Function, argument: str, context: Context) -> Span | None:
    arguments = node.args
    if argument not in {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}:
        return None
    index = int(ast.get_docstring(node, clean=False) is not None)
    if index >= len(node.body):
        return None
    first = node.body[index]
    decorators = getattr(first, "decorator_list", None)
    line = min(first.lineno, decorators[0].lineno) if decorators else first.lineno
    text = context.lines[line - 1]
    column = len(text) - len(text.lstrip(" \t"))
    # Of a statement on the line of its header, or after a semicolon, something stands before it.
    if not decorators and text.encode()[: first.col_offset].strip():
        return None
    return Span(line, column, first.end_lineno or line, first.end_col_offset or column)
