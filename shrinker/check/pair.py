"""A changed Python file and what it was made of, as the checks of single files get them; and arms that the rules refute: where a test is gone, the
arm that never runs must be gone with it.

Tests are decided a second time (`condition_evaluator`), those only that the rules decide by the names alone. What refuted arms say may stand in
the generated file as often as upstream says it elsewhere, or where a longer line of upstream was simplified to it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shrinker.check import allowances
from shrinker.check.condition_evaluator import Arm, ConditionEvaluator
from shrinker.check.reader import symbols_of
from shrinker.check.registry import Seen
from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import ModuleSymbols
from shrinker.check.tokens import Tokens, is_subsequence, split
from shrinker.syntax.parsing import parsed
from shrinker.syntax.ranges import first_line, last_line
from shrinker.syntax.walk import statements
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import module_name

_SMALLEST = 3
"""Tokens of a line that is looked for: shorter ones (`pass`, `else:`, `continue`) may be written by shrinker."""


@dataclass
class FilePair:
    """Both texts of a file; what is read of them is read once."""

    entry: EmittedFile
    data: bytes
    tree: ast.Module
    """Of the generated file."""
    source: bytes
    """Upstream's file."""
    replaced: tuple[tuple[str, str], ...]
    """Texts that rules replace, from the manifest."""
    index: RuleIndex | None

    @property
    def path(self) -> str:
        """In the layout of upstream's repository."""
        return self.entry.path

    @cached_property
    def symbols(self) -> ModuleSymbols:
        """Of the generated file."""
        return symbols_of(self.tree, self.path, self.data)

    @cached_property
    def source_symbols(self) -> ModuleSymbols | None:
        """Of upstream's file; None for one that is not Python."""
        return None if self.source_tree is None else symbols_of(self.source_tree, self.path, self.source)

    @cached_property
    def source_tree(self) -> ast.Module | None:
        """None for a file that is not Python."""
        return parsed(self.source, self.path)

    @cached_property
    def lines(self) -> list[Tokens]:
        """Of the generated file."""
        return split(self.data.decode("utf-8-sig"))

    @cached_property
    def source_lines(self) -> list[Tokens]:
        """Of upstream's file."""
        return split(self.source.decode("utf-8-sig"))

    @cached_property
    def defaults(self) -> allowances.Defaults:
        """Tokens that rules put in the place of others."""
        return allowances.default_tokens(self.replaced)

    @cached_property
    def arms(self) -> list[Arm]:
        """What never runs of upstream's file by the rules; nothing where there are none."""
        if self.source_tree is None or self.index is None:
            return []
        module = self.symbols.module or ""
        return list(ConditionEvaluator(self.source_tree, self.source_lines, module, self.index).refuted())


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
        last = last_line(arm)
        end = last if arm is node.body or len(arm) == 1 else end
        for tokens in map(_as_if, _split(lines, first_line(arm[0]), last + 1, arm[0].col_offset)):
            if len(tokens) >= _SMALLEST and not written.intersection(tokens):
                dead[tokens] += 1
                tests.setdefault(tokens, node)
    suspects = [tokens for tokens in dead if after[tokens]]
    before = Counter(map(_as_if, pair.source_lines)) if suspects else Counter[Tokens]()
    said: set[int] = set()
    for tokens in suspects:
        line = tests[tokens].lineno
        fewer = after[tokens] <= before[tokens] - dead[tokens]
        longer = (each for each in before if len(each) > len(tokens))
        if line not in said and not fewer and not any(is_subsequence(tokens, each) for each in longer):
            said.add(line)
            where = f"upstream's line {line} asks `{ast.unparse(tests[tokens].test)}`, which the rules decide"
            seen.find(pair.path, 0, f"{where}, and what then never runs stands here: {' '.join(tokens)[:100]}")


def dead_lines(root: Path, index: RuleIndex | None, path: str) -> list[tuple[int, int]]:
    """First and last line of each arm of upstream's file that by the rules never runs; none of a file that is not Python."""
    source = (root / path).read_bytes()
    tree = parsed(source, path)
    if tree is None or index is None:
        return []
    for node in statements(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.NamedExpr):
            # What the test binds has no part in the answer.
            node.test = node.test.value
    lines = split(source.decode("utf-8-sig"))
    return lines_of(ConditionEvaluator(tree, lines, module_name(path) or "", index).refuted())


def lines_of(arms: Iterable[Arm]) -> list[tuple[int, int]]:
    """First and last line of each."""
    return [(arm[0].lineno, last_line(arm)) for _, arm in arms]


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
