"""Arms that the rules refute: where a test is gone, the arm that never runs must be gone with it.

Tests are decided a second time (`condition_evaluator`), those only that the rules decide by the names alone. What refuted arms say may stand in
the generated file as often as upstream says it elsewhere, or where a longer line of upstream was simplified to it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from shrinker.check import allowances
from shrinker.check.condition_evaluator import Arm, ConditionEvaluator
from shrinker.check.pair import FilePair
from shrinker.check.registry import Seen
from shrinker.check.rule_index import RuleIndex
from shrinker.check.tokens import Tokens, is_subsequence, split
from shrinker.syntax.parsing import parsed
from shrinker.values.upstream import module_name

_SMALLEST = 3
"""Tokens of a line that is looked for: shorter ones (`pass`, `else:`, `continue`) may be written by shrinker."""


def standing_arms(pair: FilePair, seen: Seen) -> None:
    """Look for lines of what never runs by the rules."""
    if not pair.arms:
        return
    after = Counter(map(_as_if, pair.lines))
    lines = pair.source.decode("utf-8-sig").split("\n")
    written = {*allowances.LITERALS, *pair.defaults}
    end = 0
    dead: Counter[Tokens] = Counter()
    tests: dict[Tokens, ast.If] = {}
    for node, arm in pair.arms:
        if node.lineno <= end:
            continue  # Within an arm that never runs.
        header = _split(lines, node.lineno, node.body[0].lineno, node.col_offset)[:1]
        # A test that still stands keeps what it decides: it was not decided.
        if not header or _as_if(header[0]) in after:
            continue
        seen.look()
        first = min([arm[0].lineno, *(d.lineno for d in getattr(arm[0], "decorator_list", []))])
        end = arm[-1].end_lineno or first if arm is node.body or len(arm) == 1 else end
        for tokens in map(_as_if, _split(lines, first, (arm[-1].end_lineno or first) + 1, arm[0].col_offset)):
            if len(tokens) >= _SMALLEST and not written.intersection(tokens):
                dead[tokens] += 1
                tests.setdefault(tokens, node)
    suspects = [tokens for tokens in dead if after[tokens]]
    before = Counter(map(_as_if, pair.source_lines)) if suspects else Counter[Tokens]()
    said: set[int] = set()
    for tokens in suspects:
        line = tests[tokens].lineno
        fewer = after[tokens] <= before[tokens] - dead[tokens]
        if (
            line not in said
            and not fewer
            and not any(len(each) > len(tokens) and is_subsequence(tokens, each) for each in before)
        ):
            said.add(line)
            where = f"upstream's line {line} asks `{ast.unparse(tests[tokens].test)}`, which the rules decide"
            seen.find(pair.path, 0, f"{where}, and what then never runs stands here: {' '.join(tokens)[:100]}")


def dead_lines(root: Path, index: RuleIndex, path: str) -> list[tuple[int, int]]:
    """First and last line of each arm of upstream's file that by the rules never runs; none of a file that is not Python."""
    source = (root / path).read_bytes()
    tree = parsed(source, path)
    if tree is None:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.NamedExpr):
            # What the test binds has no part in the answer.
            node.test = node.test.value
    lines = split(source.decode("utf-8-sig"))
    return lines_of(ConditionEvaluator(tree, lines, module_name(path) or "", index).refuted())


def lines_of(arms: Iterable[Arm]) -> list[tuple[int, int]]:
    """First and last line of each."""
    return [(arm[0].lineno, arm[-1].end_lineno or 0) for _, arm in arms]


def _as_if(tokens: Tokens) -> Tokens:
    return ("if", *tokens[1:]) if tokens[0] == "elif" else tokens


def _split(lines: Sequence[str], first: int, end: int, column: int) -> list[Tokens]:
    """Logical lines from one line to before another; none where something else stands before the column."""
    if lines[first - 1].encode()[:column].strip():
        return []
    try:
        return split("\n".join(lines[first - 1 : end - 1]) + "\n")
    except (SyntaxError, ValueError):
        return []
