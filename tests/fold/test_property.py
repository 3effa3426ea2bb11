"""The original with the facts and the folded program leave the same trace, in every form that upstream writes."""

from __future__ import annotations

import os
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fold.generate import Parts, files, make
from tests.fold.judge import again, faults, shrink
from tests.fold.smaller import smaller
from tests.fold.world import difference, trace

EXAMPLES = int(os.environ.get("SHRINKER_EXAMPLES", "500"))
SHARDS = 4
"""Parts of the run that may go to processes of their own; the first folds twice, the second in rounds."""


def _compiles(program: dict[str, str]) -> bool:
    try:
        compile(program["python/sglang/main.py"], "program", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def defects(parts: Parts, *, rounds: bool, twice: bool) -> list[str]:
    """What is wrong with the folded program, in words.

    Args:
        parts: the program.
        rounds: True to run the refinement rounds as well.
        twice: True to fold the result again, which must change nothing.
    """
    with warnings.catch_warnings():
        # "assertion is always true" and its like: generated code is not upstream's.
        warnings.simplefilter("ignore", SyntaxWarning)
        program = files(parts)
        if not _compiles(program):
            # An assignment expression where there may be none: in a comprehension of a class body, say.
            return []
        shrunk = shrink(program, rounds=rounds)
        found = faults(shrunk)
        if not found:
            changed = difference(trace(shrunk.before), trace(shrunk.after))
            found = [changed] if changed is not None else []
        if not found and twice and not any(m.uncertain for m in shrunk.modules.values()):
            # A function that was left as it is because of its only `yield` may be decided once its flags are literals;
            # a table or a member, once code that looked at it in a way that is not folded is gone.
            found = [line for line in again(shrunk) if ": table " not in line and ": member " not in line]
    return found


def _fails(parts: Parts, *, rounds: bool, twice: bool) -> bool:
    try:
        return bool(defects(parts, rounds=rounds, twice=twice))
    except Exception:
        return True


@pytest.mark.parametrize("shard", range(SHARDS))
@settings(max_examples=-(-EXAMPLES // SHARDS), deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**32 - 1))
def test_folded_program_behaves_the_same(shard: int, seed: int) -> None:
    seed = seed * SHARDS + shard
    parts = make(seed)
    rounds, twice = shard == 1, shard == 0
    if _fails(parts, rounds=rounds, twice=twice):
        least = smaller(parts, lambda candidate: _fails(candidate, rounds=rounds, twice=twice))
        text = files(least)["python/sglang/main.py"]
        found = defects(least, rounds=rounds, twice=twice)
        pytest.fail(f"seed {seed}: {found}\n{text}", pytrace=False)
