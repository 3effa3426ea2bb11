"""The original with the facts and the folded program leave the same trace, in every form that upstream writes."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fold.defects import defects, fails, unhurried
from tests.fold.generate import files, make
from tests.fold.smaller import smaller

USUAL = 500
EXAMPLES = int(os.environ.get("SHRINKER_EXAMPLES", str(USUAL)))
"""Functions that are folded and run, in all."""
SHARDS = 4
"""Parts of the run that may go to processes of their own; the first folds twice, the second in rounds."""
TOGETHER = 8
"""Functions of one tree."""
TOGETHER_IN_ROUNDS = 4
"""Fewer, since a round asks what nothing in the tree names."""


def _trees(shard: int) -> int:
    return -(-EXAMPLES // (SHARDS * (TOGETHER_IN_ROUNDS if shard == 1 else TOGETHER)))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_folded_program_behaves_the_same(shard: int) -> None:
    rounds, twice = shard == 1, shard == 0

    # A number has no smaller form that means anything: `smaller` works on the program.
    @settings(
        max_examples=_trees(shard),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        # The usual run looks at the same programs on every machine, so that a change is to blame for what it finds;
        # a longer one looks at new ones.
        derandomize=EXAMPLES <= USUAL,
        database=None,
    )
    @given(st.integers(0, 2**32 - 1))
    def behaves_the_same(seed: int) -> None:
        parts = make(seed, TOGETHER_IN_ROUNDS if rounds else TOGETHER)
        if fails(parts, rounds=rounds, twice=twice):
            least = smaller(parts, lambda candidate: fails(candidate, rounds=rounds, twice=twice))
            text = files(least)["python/sglang/main.py"]
            found = defects(least, rounds=rounds, twice=twice)
            pytest.fail(f"seed {seed}, shard {shard}: {found}\n{text}", pytrace=False)
        gc.collect()

    with unhurried():
        behaves_the_same()
