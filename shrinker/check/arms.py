"""Arms that the rules refute: where a test is gone, the arm that never runs must be gone with it.

Tests are decided a second time (`condition_evaluator`), those only that the rules decide by the names alone. What refuted arms say may stand in
the generated file as often as upstream says it elsewhere, or where a longer line of upstream was simplified to it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shrinker.check import allowances
from shrinker.check.condition_evaluator import Arm
from shrinker.check.tokens import Tokens, split

_SMALLEST = 3
"""Tokens of a line that is looked for: shorter ones (`pass`, `else:`, `continue`) may be written by shrinker."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A refuted arm of which a line stands in the generated file."""

    line: int
    """Of the test in upstream."""
    test: str
    tokens: Tokens


def standing_refuted(
    generated: Iterable[Tokens],
    arms: Sequence[Arm],
    text: str,
    upstream: Iterable[Tokens],
    defaults: Iterable[str] = (),
) -> tuple[int, list[Standing]]:
    """Look for lines of refuted arms.

    Args:
        generated: logical lines of the generated file.
        arms: what the rules refute of upstream's file, in its order.
        text, upstream: that file, as text and in logical lines.
        defaults: tokens that rules put in place of others.

    Returns:
        How many arms were looked for, and those that stand.
    """
    if not arms:
        return 0, []
    after = Counter(map(_as_if, generated))
    lines = text.split("\n")
    written = allowances.LITERALS.union(defaults)
    looked = end = 0
    dead: Counter[Tokens] = Counter()
    tests: dict[Tokens, ast.If] = {}
    for node, arm in arms:
        if node.lineno <= end:
            continue  # Within an arm that never runs.
        header = _split(lines, node.lineno, node.body[0].lineno, node.col_offset)[:1]
        # A test that still stands keeps what it decides: it was not decided.
        if not header or _as_if(header[0]) in after:
            continue
        looked += 1
        first = min([arm[0].lineno, *(d.lineno for d in getattr(arm[0], "decorator_list", []))])
        end = arm[-1].end_lineno or first if arm is node.body or len(arm) == 1 else end
        for tokens in map(_as_if, _split(lines, first, (arm[-1].end_lineno or first) + 1, arm[0].col_offset)):
            if len(tokens) >= _SMALLEST and not written.intersection(tokens):
                dead[tokens] += 1
                tests.setdefault(tokens, node)
    suspects = [tokens for tokens in dead if after[tokens]]
    if not suspects:
        return looked, []
    before = Counter(map(_as_if, upstream))
    found: dict[int, Standing] = {}
    for tokens in suspects:
        if after[tokens] > before[tokens] - dead[tokens] and not any(_simplified(line, tokens) for line in before):
            node = tests[tokens]
            found.setdefault(node.lineno, Standing(node.lineno, ast.unparse(node.test), tokens))
    return looked, list(found.values())


def _as_if(tokens: Tokens) -> Tokens:
    return ("if", *tokens[1:]) if tokens[0] == "elif" else tokens


def _simplified(line: Tokens, tokens: Tokens) -> bool:
    """True when a longer line may have become this one."""
    if len(line) <= len(tokens):
        return False
    rest = iter(line)
    return all(token in rest for token in tokens)


def _split(lines: Sequence[str], first: int, end: int, column: int) -> list[Tokens]:
    """Logical lines from one line to before another; none where something else stands before the column."""
    if lines[first - 1].encode()[:column].strip():
        return []
    try:
        return split("\n".join(lines[first - 1 : end - 1]) + "\n")
    except (SyntaxError, ValueError):
        return []
