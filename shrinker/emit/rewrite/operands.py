"""Operands: DropElement on `a and b and c` and on `A | B | C`, and Literal and TakeOperand, by which an expression becomes a constant or one of
its children; and which parentheses it keeps there. Two mistakes of LibCST (1.9 and before) about these are mended.

LibCST checks that a word and an expression beside it are kept apart by a blank or a parenthesis. For a
ternary it forgets the expression's own parentheses, and for a `lambda` the check itself fails, so
that ``return(a if b else c)`` and ``not(lambda: a)`` do not even parse.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst._nodes.expression import ExpressionPosition

from shrinker.emit.rewrite.gaps import has_comment, merge
from shrinker.emit.rewrite.sites import Sites
from shrinker.values.edits import Literal

Action = Callable[[cst.CSTNode], cst.CSTNode]

_FIELDS = {"operand": "expression"}
"""Fields that LibCST names otherwise than `ast`."""
Operation = cst.BooleanOperation | cst.BinaryOperation
Operator = Any
"""`and`, `or` or `|`: LibCST gives their white space to the classes, not to the base."""


def find_operand(node: cst.BaseExpression, sites: Sites) -> Action | None:
    """The action that replaces an expression; None when no edit names it."""
    edit = sites.expression(node)
    if edit is None:
        return None
    if isinstance(edit, Literal):
        sites.skip(node)
        text = edit.text
        constant = cst.SimpleString(text) if text[0] in "\"'" else cst.Name(text)
        return lambda updated: settle(node, constant, sites)
    name, _, number = edit.child.partition(":")
    if number and name == "values":
        chain = flatten(node, sites)
        index = int(number)
        if chain is None or index >= len(chain.operands):
            raise sites.error(node, f"{type(node).__name__} has no operand {edit.child!r}")
        for other, operand in enumerate(chain.operands):
            if other != index:
                sites.skip(operand)
        sites.void_element("BoolOp", chain.operands[index])
        operators = chain.operators
        return lambda updated: settle(node, _collect(updated, len(operators)).operands[index], sites)
    field = _FIELDS.get(name, name)
    kept = getattr(node, field, None)
    if number or not isinstance(kept, cst.BaseExpression):
        raise sites.error(node, f"{type(node).__name__} has no child {edit.child!r}")
    for child in node.children:
        if child is not kept and isinstance(child, cst.BaseExpression | cst.SubscriptElement | cst.Arg):
            sites.skip(child)
    return lambda updated: settle(node, getattr(updated, field), sites)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands and the operators between them, as written: `ast` has one node for them, LibCST one an operator."""

    operands: tuple[cst.BaseExpression, ...]
    operators: tuple[Operator, ...]


def _collect(node: cst.CSTNode, depth: int) -> Chain:
    """The chain of so many operators that begins at its outermost operation, in the tree as it is or as it becomes."""
    operands: list[cst.BaseExpression] = []
    operators: list[Operator] = []
    for _ in range(depth):
        assert isinstance(node, Operation)
        operands.append(node.right)
        operators.append(node.operator)
        node = node.left
    assert isinstance(node, cst.BaseExpression)
    return Chain((node, *reversed(operands)), tuple(reversed(operators)))


def flatten(node: cst.CSTNode, sites: Sites) -> Chain | None:
    """The chain that begins at its outermost operation; None for anything else.

    Subtle: `A | B | C` is nested in `ast` too, so an edit may name the part `A | B`; the chain stops there.
    """
    if not isinstance(node, Operation):
        return None
    depth = 1
    left = node.left
    while type(left) is type(node) and type(left.operator) is type(node.operator) and not left.lpar:
        if isinstance(left, cst.BinaryOperation) and sites.is_named("BinOp", left):
            break
        sites.inner.add(id(left))
        depth += 1
        left = left.left
    return _collect(node, depth)


def find_chain(node: cst.CSTNode, sites: Sites) -> Action | None:
    """The action for the dropped operands of a chain; None when all of them stay."""
    if id(node) in sites.inner:
        return None
    chain = flatten(node, sites)
    if chain is None:
        return None
    container = "BoolOp" if isinstance(node, cst.BooleanOperation) else "BinOp"
    gone = frozenset(i for i, operand in enumerate(chain.operands) if sites.element(container, operand))
    if not gone:
        return None
    if len(gone) == len(chain.operands):
        raise sites.error(node, f"no operand of a {container} is left")
    assert isinstance(node, Operation)
    depth = len(chain.operators)
    return lambda updated: _without(node, _collect(updated, depth), gone, updated, sites)


def _without(
    original: Operation, chain: Chain, gone: frozenset[int], updated: cst.CSTNode, sites: Sites
) -> cst.BaseExpression:
    assert isinstance(updated, Operation)
    lpar, rpar = list(updated.lpar), list(updated.rpar)
    result: cst.BaseExpression | None = None
    # The operator that links the operands so far with the next one that stays.
    link: Operator | None = None
    for index, operand in enumerate(chain.operands):
        if result is not None:
            operator = chain.operators[index - 1]
            link = operator if link is None else _relink(link, operator)
        if index in gone:
            if result is None and lpar:
                following = chain.operators[index].whitespace_before
                gap = merge(lpar[-1].whitespace_after, following, begins=True)
                lpar[-1] = lpar[-1].with_changes(whitespace_after=gap)
        elif result is None:
            result = operand
        else:
            assert link is not None
            result = type(original)(left=result, operator=_spaced(link), right=operand)
            link = None
    assert result is not None
    if link is not None and rpar:
        # The last operand went: the comment on the line before it is that of an operand that stays.
        broken = isinstance(link.whitespace_after, cst.ParenthesizedWhitespace)
        before = link.whitespace_after if broken else link.whitespace_before
        rpar[0] = rpar[0].with_changes(whitespace_before=merge(before, rpar[0].whitespace_before, ends=True))
    if len(gone) == len(chain.operands) - 1:
        return settle(original, result, sites, (lpar, rpar))
    return result.with_changes(lpar=lpar, rpar=rpar)


def _relink(kept: Operator, dropped: Operator) -> Operator:
    """The one operator left of two when the operand between them went."""
    if isinstance(kept.whitespace_after, cst.ParenthesizedWhitespace):
        # Operators at the ends of lines: the comment there is that of the operand before.
        return kept
    return dropped.with_changes(whitespace_before=merge(kept.whitespace_before, dropped.whitespace_before))


def _spaced(operator: Operator) -> Operator:
    """`(a)and(b)` needs its blanks once a parenthesis goes."""
    if not isinstance(operator, cst.BaseBooleanOp):
        return operator
    space = cst.SimpleWhitespace(" ")
    if operator.whitespace_before.empty:
        operator = operator.with_changes(whitespace_before=space)
    if operator.whitespace_after.empty:
        operator = operator.with_changes(whitespace_after=space)
    return operator


Parentheses = tuple[Sequence[cst.LeftParen], Sequence[cst.RightParen]]

_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
)
"""Expressions that bind tighter than any operator."""

_FREE: dict[type[cst.CSTNode], str] = {
    cst.If: "test",
    cst.While: "test",
    cst.Assert: "test",
    cst.Assign: "value",
    cst.AnnAssign: "value",
    cst.AugAssign: "value",
    cst.Return: "value",
    cst.Arg: "value",
    cst.Element: "value",
    cst.DictElement: "value",
    cst.Param: "default",
}


def note_free(node: cst.CSTNode, sites: Sites) -> None:
    """Remember the child of `node` that may be any expression without parentheses."""
    field = _FREE.get(type(node))
    if field is not None and not (isinstance(node, cst.Arg) and node.star):
        sites.free.add(id(getattr(node, field)))


def settle(
    replaced: cst.BaseExpression, survivor: cst.BaseExpression, sites: Sites, parentheses: Parentheses | None = None
) -> cst.BaseExpression:
    """The survivor with the parentheses of what it replaces, where it needs them.

    It needs them when it would bind differently, when it spans lines that only they join, when they
    hold a comment, or when they keep it apart from a word (`not(x)`).

    Args:
        replaced: the original node, whose position is known.
        parentheses: its parentheses where they were changed since.
    """
    left, right = parentheses or (replaced.lpar, replaced.rpar)
    if left and _needs_parentheses(replaced, survivor, sites, (left, right)):
        return survivor.with_changes(lpar=[*left, *survivor.lpar], rpar=[*survivor.rpar, *right])
    return survivor


def _needs_parentheses(
    replaced: cst.BaseExpression, survivor: cst.BaseExpression, sites: Sites, parentheses: Parentheses
) -> bool:
    blanks = [p.whitespace_after for p in parentheses[0]] + [p.whitespace_before for p in parentheses[1]]
    if any(has_comment(b) for b in blanks):
        return True
    if survivor.lpar:
        return False
    before, after = sites.around(replaced)
    if before.isidentifier() or before.isdigit() or after.isidentifier():
        return True
    if not isinstance(survivor, _ATOMS) and id(replaced) not in sites.free:
        return True
    code = cst.Module([]).code_for_node(survivor)
    if "\n" not in code and "\r" not in code:
        return False
    try:
        ast.parse(code.strip(), mode="eval")
    except SyntaxError:
        return True
    return False


def mend() -> None:
    """Mend the two classes; once is enough, more does no harm."""
    cst.IfExp._safe_to_use_with_word_operator = _ternary  # type: ignore[method-assign]
    cst.Lambda._safe_to_use_with_word_operator = _lambda  # type: ignore[method-assign]


def _ternary(self: cst.IfExp, position: Any) -> bool:
    if self.lpar:
        return True
    edge = self.body if position is ExpressionPosition.RIGHT else self.orelse
    return edge._safe_to_use_with_word_operator(position)


def _lambda(self: cst.Lambda, position: Any) -> bool:
    if self.lpar:
        return True
    return position is ExpressionPosition.LEFT and self.body._safe_to_use_with_word_operator(position)
