"""Replace the text of something removed where upstream would choose it by itself, as a `[[default]]` rule says."""

import ast
import json
from collections.abc import Iterable, Iterator, Sequence

from shrinker.fold.context import Context
from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models import Default
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import Definition
from shrinker.values.edits import Literal


def replace_defaults(tree: ast.Module, context: Context) -> None:
    """Replace the texts in the tree, before it is folded, with the edits that write them."""
    if rules := context.environment.defaults_in(context.module):
        _visit(tree.body, context.module, rules, context)


def _visit(body: Iterable[ast.stmt], prefix: str, rules: Sequence[Default], context: Context) -> None:
    for node in body:
        if not isinstance(node, Definition):
            continue
        name = f"{prefix}.{node.name}"
        for rule in rules:
            if any_name_matches(rule.where, name):
                for constant in _handed_on(node):
                    if constant.value == rule.text:
                        _replace(constant, rule, context)
        _visit(node.body, name, rules, context)


def _replace(node: ast.Constant, rule: Default, context: Context) -> None:
    context.edits.append(Literal(span(node), json.dumps(rule.by)))
    context.decide(node, "default", {rule.id}, repr(rule.by), 0)
    context.replaced[span(node)] = node.value = rule.by


def _handed_on(definition: Definition) -> Iterator[ast.Constant]:
    """Texts that code of this definition, and of no definition in it, assigns, returns or hands on."""
    if not isinstance(definition, ast.ClassDef):
        arguments = definition.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            yield from _texts(default)
    pending: list[ast.AST] = list(definition.body)
    while pending:
        node = pending.pop()
        if isinstance(node, Definition):
            continue
        match node:
            case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Return(value=value):
                yield from _texts(value)
            case ast.keyword(value=value) if node.arg is not None:
                yield from _texts(value)
            case ast.Dict(values=values):
                for value in values:
                    yield from _texts(value)
        pending.extend(ast.iter_child_nodes(node))


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
