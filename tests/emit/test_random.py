"""Random programs, random edits: the output means what the edits say, and only deletes."""

from __future__ import annotations

import ast
import random
import re

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from shrinker.emit.rewrite import rewrite_file
from tests.emit.generator import Generator
from tests.emit.random_edits import random_edits
from tests.emit.reference import additions, apply


def _program(seed: int) -> str:
    return Generator(random.Random(seed)).program()


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.sampled_from([0.05, 0.2, 0.5]), st.integers(0, 2**32))
def test_random_edits(seed: int, rate: float, choice: int) -> None:
    check(_program(seed), rate, choice)


def check(source: str, rate: float, choice: int) -> None:
    """Rewrite and compare with the reference."""
    tree = ast.parse(source)
    edits = random_edits(tree, random.Random(choice).random, rate)
    assume(edits)
    note(source)
    note("\n".join(map(str, edits)))
    wanted = ast.dump(apply(source, edits))
    out = rewrite_file(source.encode(), edits).decode()
    note(out)
    assert ast.dump(ast.parse(out)) == wanted
    assert additions(source, out) == []
    # Blank lines do not pile up, and no line gains trailing blanks.
    blank = max((len(m) for m in re.findall(r"\n+", source)), default=0)
    assert max((len(m) for m in re.findall(r"\n+", out)), default=0) <= max(blank, 3)


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_order_and_repetition_do_not_matter(seed: int, choice: int) -> None:
    source = _program(seed)
    edits = random_edits(ast.parse(source), random.Random(choice).random, 0.2)
    assume(edits)
    out = rewrite_file(source.encode(), edits)
    mixed = edits * 2
    random.Random(choice).shuffle(mixed)
    assert rewrite_file(source.encode(), mixed) == out


@settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_line_ends_are_kept(seed: int, choice: int) -> None:
    source = _program(seed)
    edits = random_edits(ast.parse(source), random.Random(choice).random, 0.2)
    assume(edits)
    out = rewrite_file(source.encode(), edits)
    assert rewrite_file(source.replace("\n", "\r\n").encode(), edits) == out.replace(b"\n", b"\r\n")
