"""Place the look at an argument where a function begins that a `[[reject]]` or `[[endpoint_stub]]` rule names, and the guard of imports where
a module begins that a `[[import_hook]]` rule names.

The line stands before the first statement as upstream wrote it, so that its place is found before folding; the folded
tree receives it when everything else is decided, since what it names is shrinker's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shrinker.fold.context import Context
from shrinker.ruleset.match import any_name_matches
from shrinker.syntax.walk import Function
from shrinker.values.edits import Guard, Refuse, Span
from shrinker.values.folded import Decision, Uncertain
from shrinker.values.refusals import GUARD_LINE, refusal_line


@dataclass(frozen=True, slots=True)
class Look:
    """A line that is to be inserted."""

    name: str
    """The function, below its module; empty for the module itself."""
    line: int
    """Where the function stands."""
    edit: Refuse | Guard
    rules: frozenset[str]


def find_looks(tree: ast.Module, context: Context) -> list[Look]:
    """The lines that the rules ask for in this file, before it is folded.

    A function that has no such parameter, or is written on one line, is listed as uncertain; an optional rule that names
    another parameter speaks of another release. A module in which nothing stands has nothing to guard.
    """
    rules = context.environment.refusals_in(context.module)
    found: list[Look] = list(_guards(tree, context))
    for name, node in _functions(tree.body, "") if rules else ():
        wanted = [
            r
            for r in rules
            if any_name_matches(r.functions, f"{context.module}.{name}")
            and (not r.optional or _takes(node, r.argument))
            and (len(r.functions) == 1 or not _only_tells(node))
        ]
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
    for look in wanted.values():
        if isinstance(look.edit, Guard):
            context.edits.append(look.edit)
            text = context.lines[look.line - 1].strip()[:120]
            context.decisions.append(Decision(look.line, "+".join(sorted(look.rules)), "refusal", text, "refuses", 0))
            index = _head(tree)
            tree.body[index:index] = ast.parse(GUARD_LINE).body
    for name, node in _functions(tree.body, "") if wanted else ():
        found = wanted.get((name, node.lineno))
        if found is None or isinstance(found.edit, Guard):
            continue
        context.edits.append(found.edit)
        context.decide(node, "refusal", found.rules, "refuses", 0)
        index = int(ast.get_docstring(node, clean=False) is not None)
        node.body[index:index] = ast.parse(refusal_line(found.edit.place, found.edit.argument)).body


def _functions(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")


def _takes(node: Function, argument: str) -> bool:
    arguments = node.args
    return argument in {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _only_tells(node: Function) -> bool:
    """True of a body that is nothing but a docstring."""
    return len(node.body) == 1 and ast.get_docstring(node, clean=False) is not None


def _place(node: Function, argument: str, context: Context) -> Span | None:
    if not _takes(node, argument):
        return None
    index = int(ast.get_docstring(node, clean=False) is not None)
    if index >= len(node.body):
        return None
    return _before(node.body[index], context)


def _guards(tree: ast.Module, context: Context) -> Iterator[Look]:
    rules = context.environment.guards_of(context.module)
    index = _head(tree)
    if not rules or index >= len(tree.body):
        return
    place = _before(tree.body[index], context)
    if place is None:
        reason = "no place for the guard of imports, which would refuse what was removed"
        context.uncertain.append(Uncertain(context.path, tree.body[index].lineno, reason))
    else:
        yield Look("", place.line, Guard(place), frozenset(rule.id for rule in rules))


def _head(tree: ast.Module) -> int:
    """Number of statements that nothing may stand before: the docstring, and imports from the future."""
    index = int(ast.get_docstring(tree, clean=False) is not None)
    while index < len(tree.body):
        node = tree.body[index]
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        index += 1
    return index


def _before(first: ast.stmt, context: Context) -> Span | None:
    decorators = getattr(first, "decorator_list", None)
    line = min(first.lineno, decorators[0].lineno) if decorators else first.lineno
    text = context.lines[line - 1]
    column = len(text) - len(text.lstrip(" \t"))
    # Of a statement on the line of its header, or after a semicolon, something stands before it.
    if not decorators and text.encode()[: first.col_offset].strip():
        return None
    return Span(line, column, first.end_lineno or line, first.end_col_offset or column)
