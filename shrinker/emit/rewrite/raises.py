"""Raise: the named error of a removed feature takes a statement's place."""

from __future__ import annotations

import json
from collections.abc import Sequence

import libcst as cst

from shrinker.values.edits import Raise


def raise_small(edit: Raise) -> cst.Raise:
    """``raise RuntimeError("<message>")``."""
    # JSON's escapes are Python's too, and the quotes are the ones upstream uses.
    literal = json.dumps(edit.message, ensure_ascii=False).replace("\x7f", "\\x7f")
    call = cst.Call(cst.Name(edit.error), [cst.Arg(cst.SimpleString(literal))])
    return cst.Raise(call)


def raise_statement(edit: Raise, leading_lines: Sequence[cst.EmptyLine]) -> cst.SimpleStatementLine:
    """The error as a line of its own."""
    return cst.SimpleStatementLine([raise_small(edit)], leading_lines=leading_lines)
