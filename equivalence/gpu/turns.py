"""Times of upstream, of the generated tree and of a copy of upstream, in pairs: whatever else
changes in a lease, both see it.

A block pairs upstream with one of the others, each on GPUs of its own where there are enough. Who
stands on which GPUs and who starts first alternates from block to block, who is measured first from
round to round. The copy is the control: what it differs by, upstream differs from itself.
"""

import math
import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, groupby
from pathlib import Path
from statistics import fmean, median
from typing import Any

from equivalence.gpu.cells import Setting, Tree

CONTROL = "control"

Numbers = Mapping[str, float]
Pair = Mapping[str, Any]
"""The numbers of two trees by their names, and the `place` of the block that gave them; its number,
too (`block`), where two neighbouring blocks may have the same place."""


class Broken(Exception):
    """A run of a tree that measures failed: `tree` is its name, `tail` the last lines printed."""

    def __init__(self, tree: str, printed: str) -> None:
        super().__init__(f"fails in {tree}")
        self.tree = tree
        self.tail = printed.splitlines()[-15:]


@dataclass(frozen=True)
class Block:
    """Upstream and another tree, in the order in which they start, each with its GPUs."""

    number: int
    trees: tuple[Tree, Tree]
    gpus: tuple[Sequence[int], Sequence[int]]

    @property
    def place(self) -> str:
        """What the block's numbers may be compared with."""
        return f"{self.trees[0].name == 'upstream'}/{','.join(map(str, self.gpus[0]))}"


def control(upstream: Tree, folder: Path) -> Tree:
    """Return a copy of upstream's package in a folder, under the name `CONTROL`, made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(upstream.root / "sglang", folder / "sglang")
    return Tree(CONTROL, folder)


def blocks(setting: Setting, upstream: Tree, others: Sequence[Tree]) -> Iterator[Block]:
    """Without end: every other tree in turn, then all again with the places changed."""
    first, second = (
        setting.gpus[: setting.cell.gpus],
        setting.gpus[setting.cell.gpus : 2 * setting.cell.gpus],
    )
    for number in count():
        turn, other = divmod(number, len(others))
        order = (upstream, others[other]) if turn % 2 == 0 else (others[other], upstream)
        yield Block(number, order, (first, second if setting.apart else first))


def measured(pairs: Sequence[Pair]) -> dict[str, Any]:
    """For each quantity and each other tree the estimate of all pairs."""
    samples = defaultdict[str, defaultdict[str, list[Sample]]](lambda: defaultdict(list))
    # Two neighbouring blocks never have the same other tree, or say their numbers: see `blocks`.
    for number, ((place, other, _), block) in enumerate(groupby(pairs, _block)):
        for pair in block:
            for name in pair["upstream"].keys() & pair[other].keys():
                samples[name][other].append(
                    Sample(place, pair["upstream"][name], pair[other][name], number)
                )
    result: dict[str, Any] = {}
    for name, others in sorted(samples.items()):
        rows: dict[str, Any] = {
            other: found for other, some in others.items() if (found := estimate(some))
        }
        if "generated" in rows:
            # More is better of rates; of times, sizes and counts less is.
            higher = "throughput" in name or "per_second" in name
            rows["finding"] = finding(rows["generated"], rows.get(CONTROL), higher=higher)
        result[name] = rows
    return result


def _block(pair: Pair) -> tuple[str, str, int]:
    (other,) = pair.keys() - {"place", "block", "upstream"}
    return pair["place"], other, pair.get("block", 0)


DRAWS = 2000
SMALLEST = 5
"""Pairs below which no interval is given."""
FINDING = 0.99
"""A speed below this part of upstream's is a finding where the interval excludes 1."""


@dataclass(frozen=True)
class Sample:
    """One pair of runs, made one after the other or at once: `place` says on which GPU and in which
    order they were started, `block` which pairs two processes measured together.
    """

    place: str
    upstream: float
    other: float
    block: int


def estimate(samples: Sequence[Sample]) -> dict[str, Any] | None:
    """Return how the other tree stands to upstream by all samples whose numbers are above zero;
    None where there are none. The same samples give the same interval.

    Returns:
        upstream, other: medians of all runs.
        ratio: the median of the pairs' ratios in each place, and of these the geometric mean, so
            that what a place does to both trees goes out. low, high: 95 in 100 resamplings lie
            between, of blocks and of each one's pairs, since what two processes got by chance is in
            all their pairs; None where there are fewer than `SMALLEST` pairs, where a place has one
            block alone, or where all are of one place: the pairs then say nothing of what the place
            does. own_low, own_high: the same of resampled pairs alone, where there are `SMALLEST`:
            it speaks for these processes and not for others of the same trees. pairs, blocks: how
            many.
    """
    places = defaultdict[str, defaultdict[int, list[float]]](lambda: defaultdict(list))
    good = [sample for sample in samples if sample.upstream > 0 and sample.other > 0]
    for sample in good:
        places[sample.place][sample.block].append(sample.other / sample.upstream)
    if not good:
        return None
    low = high = own_low = own_high = None
    grouped = [list(found.values()) for found in places.values()]
    if len(good) >= SMALLEST:
        own_low, own_high = _interval(grouped, _resampled_pairs)
        if len(places) > 1 and min(map(len, places.values())) > 1:
            low, high = _interval(grouped, _resampled)
    ratio = _middle(list(chain.from_iterable(found.values())) for found in places.values())
    return {
        "upstream": round(median(sample.upstream for sample in good), 5),
        "other": round(median(sample.other for sample in good), 5),
        "ratio": round(ratio, 5),
        "low": low,
        "high": high,
        "own_low": own_low,
        "own_high": own_high,
        "pairs": len(good),
        "blocks": len({sample.block for sample in good}),
    }


Blocks = Sequence[Sequence[float]]
"""The ratios of each block of a place."""


def _interval(
    places: Sequence[Blocks], resample: Callable[[Blocks, random.Random], list[float]]
) -> tuple[float, float]:
    """Return between which 95 in 100 resamplings lie."""
    draw = random.Random(0)
    drawn = sorted(_middle(resample(blocks, draw) for blocks in places) for _ in range(DRAWS))
    return round(drawn[int(0.025 * DRAWS)], 5), round(drawn[int(0.975 * DRAWS)], 5)


def _resampled_pairs(found: Blocks, draw: random.Random) -> list[float]:
    return [ratio for block in found for ratio in draw.choices(block, k=len(block))]


def _resampled(found: Blocks, draw: random.Random) -> list[float]:
    return [
        ratio
        for block in draw.choices(found, k=len(found))
        for ratio in draw.choices(block, k=len(block))
    ]


def _middle(places: Iterable[Sequence[float]]) -> float:
    return math.exp(fmean(math.log(median(found)) for found in places))


def finding(generated: dict[str, Any], control: dict[str, Any] | None, *, higher: bool) -> bool:
    """Tell whether the generated tree is slower than upstream beyond doubt.

    The ratio is below `FINDING` (of its inverse, where `higher` is not better), its interval
    excludes 1, and the copy of upstream beside it, where there was one, is not as slow.
    """
    if generated["low"] is None:
        return False
    speed, *copy = (
        found["ratio"] if higher else 1 / found["ratio"] for found in (generated, control) if found
    )
    slower = generated["high"] < 1 if higher else generated["low"] > 1
    return speed < FINDING and slower and not any(other <= speed for other in copy)
