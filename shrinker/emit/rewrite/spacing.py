"""Two mistakes of LibCST (1.9 and before) mended: with them it refuses programs that are valid.

LibCST checks that a word and an expression beside it are kept apart by a blank or a parenthesis. For a
ternary it forgets the expression's own parentheses, and for a `lambda` the check itself fails, so
that ``return(a if b else c)`` and ``not(lambda: a)`` do not even parse.
"""

from __future__ import annotations

from typing import Any

import libcst as cst
from libcst._nodes.expression import ExpressionPosition


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
