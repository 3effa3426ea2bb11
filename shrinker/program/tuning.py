"""Tuning tables of kernels for mixtures of experts, found at run time by a name that says the shape: which shapes a model has.

With expert parallelism a process holds a share of the experts, redundant ones among them, and perhaps shared ones that are fused into the
routed; with tensor parallelism a share of each expert's width. All shares are taken to occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from shrinker.ruleset.models import Shape

_NAMED = re.compile(r"E=(\d+),N=(\d+),device_name=([^,]+?)(?:,(.*))?\.json")
_REDUNDANT = 128
"""More redundant experts than any layout has."""
_SHARED = 8
_SHARES = 320
"""Ranks that experts are spread over: no more than there are, redundant ones included."""
_PARTS = 64
"""Ranks that an expert's width is split over."""


def table_name(path: str) -> tuple[int, int, str, str] | None:
    """Experts, width, card and the rest of the name of a tuning table; None for another file."""
    match = _NAMED.fullmatch(path.rpartition("/")[2])
    return (int(match[1]), int(match[2]), match[3], match[4] or "") if match else None


def fits(path: str, shapes: Iterable[Shape]) -> bool:
    """True for a file that one of the models may look up, and for one whose name says no shape."""
    named = table_name(path)
    return named is None or any(named[0] in _experts(s.experts) and named[1] in _widths(s.width) for s in shapes)


@cache
def _experts(routed: int) -> frozenset[int]:
    shares = {
        (routed + redundant) // ranks
        for redundant in range(_REDUNDANT + 1)
        for ranks in range(1, _SHARES + 1)
        if (routed + redundant) % ranks == 0
    }
    return frozenset(share + shared for share in shares for shared in range(_SHARED + 1))


@cache
def _widths(width: int) -> frozenset[int]:
    return frozenset(width // parts for parts in range(1, _PARTS + 1) if width % parts == 0)
