"""The original with the facts and the folded program leave the same trace, in every form that
upstream writes; else the smallest program that shows it.
"""

import gc
import os
from collections.abc import Callable, Mapping
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fold.defects import defects, fails, unhurried
from tests.fold.generate import program

MAIN = "python/sglang/main.py"


def smaller(
    program: Mapping[str, str], fails: Callable[[Mapping[str, str]], bool]
) -> Mapping[str, str]:
    """A program of which no line can go without the failure, found by leaving out fewer lines at a
    time.
    """
    size = program[MAIN].count("\n")
    while size:
        lines = program[MAIN].splitlines(keepends=True)
        fewer = [
            {**program, MAIN: "".join(lines[:at] + lines[at + size :])}
            for at in range(0, len(lines), size)
        ]
        found = next(filter(fails, fewer), None)
        program, size = (program, size // 2) if found is None else (found, size)
    return program


USUAL = 500
EXAMPLES = int(os.environ.get("SHRINKER_EXAMPLES", str(USUAL)))
"""Functions that are folded and run, in all."""
SHARDS = 4
"""Parts of the run that may go to processes of their own; the first folds twice, the second in
rounds.
"""
TOGETHER = 8
"""Functions of one tree."""
TOGETHER_IN_ROUNDS = 4
"""Fewer, since a round asks what nothing in the tree names."""


def _trees(shard: int) -> int:
    return -(-EXAMPLES // (SHARDS * (TOGETHER_IN_ROUNDS if shard == 1 else TOGETHER)))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_folded_program_behaves_the_same(shard: int) -> None:
    rounds, twice = shard == 1, shard == 0

    # A number has no smaller form that means anything: `smaller` works on the text.
    @settings(
        max_examples=_trees(shard),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        # The usual run looks at the same programs on every machine, so that a change is to blame
        # for what it finds; a longer one looks at new ones.
        derandomize=EXAMPLES <= USUAL,
        database=None,
    )
    @given(st.integers(0, 2**32 - 1))
    def behaves_the_same(seed: int) -> None:
        made = program(seed, TOGETHER_IN_ROUNDS if rounds else TOGETHER)
        if fails(made, rounds=rounds, twice=twice):
            least = smaller(made, partial(fails, rounds=rounds, twice=twice))
            found = defects(least, rounds=rounds, twice=twice)
            pytest.fail(f"seed {seed}, shard {shard}: {found}\n{least[MAIN]}", pytrace=False)
        gc.collect()

    with unhurried():
        behaves_the_same()
