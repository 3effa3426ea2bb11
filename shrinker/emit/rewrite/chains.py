"""DropElement on `a and b and c` and on `A | B | C`: operands of a chain go."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from shrinker.emit.rewrite.draft import Draft, span
from shrinker.emit.rewrite.gaps import Gap, merge
from shrinker.emit.rewrite.tokens import Tokens

Operation = ast.BoolOp | ast.BinOp


def chain_of(draft: Draft, tokens: Tokens, node: Operation) -> list[ast.expr]:
    """Operands of a chain of which one goes, else none.

    Subtle: `A | B | C` is nested, so an edit may name the part `A | B`; the chain stops there.
    """
    operands = list(node.values) if isinstance(node, ast.BoolOp) else _operands(draft, tokens, node)
    return operands if any(draft.has_element(type(node).__name__, one) for one in operands) else []


def _operands(draft: Draft, tokens: Tokens, node: ast.BinOp) -> list[ast.expr]:
    left = node.left
    nested = isinstance(left, ast.BinOp) and type(left.op) is type(node.op)
    if nested and not (
        tokens.groups(*draft.range(left)) or draft.expression(left) is not None or draft.has_element("BinOp", left)
    ):
        assert isinstance(left, ast.BinOp)
        return [*_operands(draft, tokens, left), node.right]
    return [left, node.right]


def drop_operands(
    draft: Draft, tokens: Tokens, node: Operation, operands: Sequence[ast.expr]
) -> tuple[list[ast.expr], str]:
    """Drop the operands that edits name: those that stay, and what then stands between them and the parentheses around."""
    gone = [draft.element(type(node).__name__, span(one)) for one in operands]
    kept = [one for one, goes in zip(operands, gone, strict=True) if not goes]
    if not kept:
        raise draft.error(node, f"no operand of a {type(node).__name__} is left")
    wholes = [draft.whole(tokens, one) for one in operands]
    words = [tokens.rows[tokens.at(end)] for _, end in wholes[:-1]]
    # What stands before each operator, and behind it.
    before = [Gap.of(draft, whole[1], word.start) for whole, word in zip(wholes, words, strict=False)]
    behind = [Gap.of(draft, word.end, whole[0]) for whole, word in zip(wholes[1:], words, strict=True)]
    groups = tokens.groups(*draft.range(node))
    low, high = (groups[0][0] + 1, groups[0][1] - 1) if groups else (wholes[0][0], wholes[-1][1])
    gap = Gap.of(draft, low, wholes[0][0])
    first = gone.index(False)
    for index in range(first):
        gap = merge(gap, before[index], begins=True) if groups else gap
    gap.fill(low, wholes[first][0])
    at = first
    while True:
        following = next((n for n in range(at + 1, len(gone)) if not gone[n]), None)
        until = len(gone) - 1 if following is None else following
        if until == at:
            break
        # The one operator left of several when the operands between them went: at the ends of lines the first one, since
        # the comment there is that of the operand before.
        space, word, rest = before[at], words[at], behind[at]
        for index in range(at + 1, until):
            if not rest.broken:
                space, word, rest = merge(space, before[index]), words[index], behind[index]
        if following is None:
            closing = Gap.of(draft, wholes[-1][1], high)
            closing = merge(rest if rest.broken else space, closing, ends=True) if groups else closing
            closing.fill(wholes[at][1], high)
            gap += closing
            break
        space.fill(wholes[at][1], word.start)
        rest.fill(word.end, wholes[following][0])
        if isinstance(node, ast.BoolOp):
            # `(a)and(b)` needs its blanks once a parenthesis goes.
            for blanks, offset in ((space, word.start), (rest, word.end)):
                if not blanks.offsets:
                    draft.cut(offset, offset, " ")
        at = following
    if not gone[-1]:
        gap += Gap.of(draft, wholes[-1][1], high)
    outer = "".join(draft.text[b[0] : a[0]] + draft.text[a[1] : b[1]] for a, b in pairwise(groups))
    return kept, gap.text + outer
