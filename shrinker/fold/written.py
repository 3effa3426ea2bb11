"""What rules write into a module, whatever is decided in it: the look at an argument where a
function begins that a `[[reject]]` or `[[endpoint_stub]]` rule names, the guard of imports where a
module begins that a `[[import_hook]]` rule names, and what takes the place of a removed text where
upstream would choose that by itself, as a `[[default]]` rule says.

The line of a look stands before the first statement as upstream wrote it, so that its place is
found before folding; the folded tree receives it when everything else is decided, since what it
names is shrinker's own.
"""

import ast
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile

from shrinker.fold.context import Context
from shrinker.ruleset.match import any_name_matches
from shrinker.syntax.ranges import first_line, span
from shrinker.syntax.scopes import parameters_of
from shrinker.syntax.walk import Definition, Function, definitions, own_nodes
from shrinker.values.edits import Guard, Literal, Refuse, Span, refusal_line
from shrinker.values.folded import Decision, Uncertain

Look = tuple[Refuse | Guard, Decision]
"""A line that is to be inserted; the decision's line is where the function stands, or what follows
in the module.
"""


def find_looks(tree: ast.Module, context: Context) -> list[Look]:
    """Return the lines that the rules ask for in this file, before it is folded.

    A function that has no such parameter, or is written on one line, is listed as uncertain; an
    optional rule that names another parameter speaks of another release. A module in which nothing
    stands has nothing to guard.
    """
    found: list[Look] = []
    guards = context.environment.guards_of(context.module)
    if guards and _head(tree) < len(tree.body):
        if (place := _place(tree, context)) is not None:
            found.append(_look(place.line, Guard(place), {rule.id for rule in guards}, context))
        else:
            _missing(context, tree.body[_head(tree)].lineno, "the guard of imports")
    rules = context.environment.refusals_in(context.module)
    for name, node in _functions(tree) if rules else ():
        whole, parameters = f"{context.module}.{name}", parameters_of(node.args)
        asking: defaultdict[str, set[str]] = defaultdict(set)
        for rule in rules:
            # Of several functions those that only have a docstring are not meant.
            meant = len(rule.functions) == 1 or _head(node) < len(node.body)
            if (
                meant
                and any_name_matches(rule.functions, whole)
                and (not rule.optional or rule.argument in parameters)
            ):
                asking[rule.argument].add(rule.id)
        for argument, ids in asking.items():
            if argument in parameters and (place := _place(node, context)) is not None:
                found.append(_look(node.lineno, Refuse(place, whole, argument), ids, context))
            else:
                _missing(context, node.lineno, f"a look at `{argument}`")
    return found


def place_looks(tree: ast.Module, looks: Iterable[Look], context: Context) -> None:
    """Insert the lines into the folded tree, with the edits that write them."""
    for edit, decision in looks:
        functions = (node for _, node in _functions(tree) if node.lineno == decision.line)
        node = tree if isinstance(edit, Guard) else next(functions, None)
        if node is not None:
            context.edits.append(edit)
            context.decisions.append(decision)
            index = _head(node)
            node.body[index:index] = ast.parse(refusal_line(edit)).body


def _look(line: int, edit: Refuse | Guard, rules: set[str], context: Context) -> Look:
    text = context.source.rows[line - 1].strip()[:120]
    return edit, Decision(line, "+".join(sorted(rules)), "refusal", text, "refuses", 0)


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    return ((name, node) for name, node in definitions(tree) if isinstance(node, Function))


def _missing(context: Context, line: int, what: str) -> None:
    context.uncertain.append(
        Uncertain(context.path, line, f"no place for {what}, which would refuse what was removed")
    )


def _head(node: ast.Module | Function) -> int:
    """Return number of statements that nothing may stand before: the docstring, and imports from
    the future.
    """
    index = int(ast.get_docstring(node, clean=False) is not None)
    return index + len(
        [*takewhile(lambda s: getattr(s, "module", "") == "__future__", node.body[index:])]
    )


def _place(node: ast.Module | Function, context: Context) -> Span | None:
    """Return the first statement before which a line may stand; None where there is none, or
    something stands before it on its line.
    """
    if (index := _head(node)) >= len(node.body):
        return None
    first = node.body[index]
    line = first_line(first)
    text = context.source.rows[line - 1]
    column = len(text) - len(text.lstrip(" \t"))
    # Of a statement on the line of its header, or after a semicolon.
    if line == first.lineno and text.encode()[: first.col_offset].strip():
        return None
    return Span(line, column, first.end_lineno or line, first.end_col_offset or column)


# Texts in the place of defaults


def replace_defaults(tree: ast.Module, context: Context) -> None:
    """Replace the texts in the tree, before it is folded, with the edits that write them."""
    rules = context.environment.defaults_in(context.module)
    for name, definition in definitions(tree, context.module) if rules else ():
        for rule in (rule for rule in rules if any_name_matches(rule.where, name)):
            for node in (text for text in _handed_on(definition) if text.value == rule.text):
                context.edits.append(Literal(span(node), json.dumps(rule.by)))
                context.decide(node, "default", {rule.id}, repr(rule.by), 0)
                context.replaced[span(node)] = node.value = rule.by


def _handed_on(definition: Definition) -> Iterator[ast.Constant]:
    """Yield texts that code of this definition, and of no definition in it, assigns, returns or
    hands on.
    """
    arguments = None if isinstance(definition, ast.ClassDef) else definition.args
    for default in (*arguments.defaults, *arguments.kw_defaults) if arguments is not None else ():
        yield from _texts(default)
    for node in own_nodes(definition):
        match node:
            case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Return(value=value):
                yield from _texts(value)
            case ast.keyword(value=value) if node.arg is not None:
                yield from _texts(value)
            case ast.Dict(values=values):
                for value in values:
                    yield from _texts(value)


def _texts(node: ast.expr | None) -> Iterator[ast.Constant]:
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            for part in parts:
                yield from _texts(part)
        case ast.IfExp(body=first, orelse=second):
            yield from _texts(first)
            yield from _texts(second)
