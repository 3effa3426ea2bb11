"""Lines of a source text, and the ones that hold a word."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.syntax.lines import Lines


@pytest.mark.parametrize(
    "text",
    ["a\n\x0cb = 1\n", "a\r\nb\r\n", "a\rb", "x = '''\u2028'''\nb = 1", "s = 'a\x1cb'\nb", "a\n\nb", ""],
)
def test_lines_are_the_ones_that_ast_counts(text: str) -> None:
    rows = Lines(text).rows
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "b":
            assert "b" in rows[node.lineno - 1]
    assert len(rows) >= max((n.lineno for n in ast.walk(ast.parse(text)) if hasattr(n, "lineno")), default=0)


def test_a_word_is_found_as_a_whole() -> None:
    lines = Lines("is_hip\n_is_hip\nis_hip_x\nx.is_hip()\n'is_hip' # npu\nnpu0\n")
    assert lines.holding(["is_hip"]) == [1, 4, 5]
    assert lines.holding(["npu", "none"]) == [5]
    assert lines.holding([]) == []


@given(st.lists(st.lists(st.sampled_from(["a", "b", "ab", "é", "_a", "."]), max_size=4), max_size=6))
def test_every_line_with_the_word_is_found(rows: list[list[str]]) -> None:
    text = "\n".join(" ".join(row) for row in rows)
    wanted = {"a", "é"}
    assert Lines(text).holding(wanted) == [n for n, row in enumerate(rows, 1) if wanted & set(row)]
