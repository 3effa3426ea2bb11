"""Replace the text of something removed where upstream would choose it by itself, as a `[[default]]` rule says."""

import ast
import json
from collections.abc import Iterator

from shrinker.fold.context import Context
from shrinker.ruleset.match import any_name_matches
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import Definition, definitions, own_nodes
from shrinker.values.edits import Literal


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
    """Texts that code of this definition, and of no definition in it, assigns, returns or hands on."""
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
