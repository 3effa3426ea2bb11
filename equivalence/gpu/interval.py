"""Ratios of two trees from runs in pairs, with the interval that resampling gives."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

DRAWS = 2000
SMALLEST = 5
"""Pairs below which no interval is given."""
FINDING = 0.99
"""A speed below this part of upstream's is a finding where the interval excludes 1."""


@dataclass(frozen=True)
class Sample:
    """One pair of runs, made one after the other or at once: `place` says on which GPU and in which order they were started."""

    place: str
    upstream: float
    other: float


@dataclass(frozen=True)
class Estimate:
    """A ratio of the other tree to upstream.

    Attributes:
        upstream, other: medians of all runs.
        ratio: the median of the pairs' ratios in each place, and of these the geometric mean, so that what a place does to
            both trees goes out.
        low, high: 95 in 100 resamplings lie between; None where there are fewer than `SMALLEST` pairs, or where all of them
            are of one place: the pairs then say nothing of what the place does.
        pairs: how many.
    """

    upstream: float
    other: float
    ratio: float
    low: float | None
    high: float | None
    pairs: int

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        return {key: round(value, 5) if isinstance(value, float) else value for key, value in asdict(self).items()}


def estimate(samples: Sequence[Sample], seed: int = 0) -> Estimate | None:
    """The ratio of all samples whose numbers are above zero; None where there are none. The same samples give the same interval."""
    places: dict[str, list[float]] = {}
    good = [sample for sample in samples if sample.upstream > 0 and sample.other > 0]
    for sample in good:
        places.setdefault(sample.place, []).append(sample.other / sample.upstream)
    if not good:
        return None
    low = high = None
    if len(good) >= SMALLEST and len(places) > 1:
        draw = random.Random(seed)
        drawn = sorted(_middle([draw.choices(found, k=len(found)) for found in places.values()]) for _ in range(DRAWS))
        low, high = drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS)]
    values = [sample.upstream for sample in good], [sample.other for sample in good]
    return Estimate(median(values[0]), median(values[1]), _middle(list(places.values())), low, high, len(good))


def _middle(places: Sequence[Sequence[float]]) -> float:
    return math.exp(fmean(math.log(median(found)) for found in places))


def finding(generated: dict[str, Any], control: dict[str, Any] | None, *, higher: bool) -> bool:
    """Whether the generated tree is slower than upstream beyond doubt.

    The ratio is below `FINDING` (of its inverse, where less is better), its interval excludes 1, and the copy of upstream
    beside it is not as slow.

    Args:
        generated, control: documents of two estimates; None: there was no copy.
        higher: more is better.
    """
    if generated["low"] is None:
        return False
    speed = _speed(generated, higher)
    slower = generated["high"] < 1 if higher else generated["low"] > 1
    return speed < FINDING and slower and not (control is not None and _speed(control, higher) <= speed)


def _speed(found: dict[str, Any], higher: bool) -> float:
    return float(found["ratio"]) if higher else 1 / float(found["ratio"])
