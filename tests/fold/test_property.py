"""The original with the facts and the folded program leave the same trace, in every form that upstream writes; else the smallest program that shows it."""

import gc
import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fold.defects import defects, fails, unhurried
from tests.fold.generate import Parts, files, make
from tests.fold.layout import Block, Compound, Style


def smaller(parts: Parts, fails: Callable[[Parts], bool]) -> Parts:
    """The smallest program found by deleting statements, clauses and styles, one after the other."""
    found = True
    while found:
        found = False
        for candidate in _candidates(parts):
            if fails(candidate):
                parts, found = candidate, True
                break
    return parts


def _candidates(parts: Parts) -> Iterator[Parts]:
    if parts.rebinding:
        yield replace(parts, rebinding=False)
    if parts.style != Style():
        yield replace(parts, style=Style())
    for index in range(len(parts.bodies)):
        if len(parts.bodies) > 1:
            yield replace(parts, bodies=(parts.bodies[index],))
    for index in range(len(parts.bodies)):
        if len(parts.bodies) > 1:
            yield replace(parts, bodies=parts.bodies[:index] + parts.bodies[index + 1 :])
    for block in _blocks(parts.module):
        yield replace(parts, module=block)
    for index, body in enumerate(parts.bodies):
        for block in _blocks(body):
            yield replace(parts, bodies=(*parts.bodies[:index], block, *parts.bodies[index + 1 :]))


def _blocks(block: Block, *, may_be_empty: bool = True) -> Iterator[Block]:
    """The block with one statement less, or with one statement made smaller."""
    if len(block) > 1 or (block and may_be_empty):
        for index in range(len(block)):
            yield block[:index] + block[index + 1 :]
    for index, item in enumerate(block):
        if isinstance(item, Compound):
            for new in _compounds(item):
                yield block[:index] + new + block[index + 1 :]


def _compounds(node: Compound) -> Iterator[Block]:
    header = node.clauses[0][0]
    if header.startswith(("if", "with", "for", "while", "try")):
        for _, body in node.clauses:
            yield body
    if node.decorators:
        yield (replace(node, decorators=()),)
    for index in range(1, len(node.clauses)):
        if len(node.clauses) > 2 or not header.startswith("try"):
            yield (replace(node, clauses=node.clauses[:index] + node.clauses[index + 1 :]),)
    for index, (head, body) in enumerate(node.clauses):
        for new in _blocks(body, may_be_empty=False):
            clauses = (*node.clauses[:index], (head, new), *node.clauses[index + 1 :])
            yield (replace(node, clauses=clauses),)


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
