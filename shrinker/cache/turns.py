"""Work that a run at the same time may be doing, too: the two sides of a comparison are mostly the same files."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

_TURNS = 16


def turns(items: Sequence[Item], jobs: int) -> list[Sequence[Item]]:
    """Items in parts. Each part is looked up in the cache, done, and kept before the next: what another run did meanwhile is found.

    The order of the parts is this process's own, so that two runs that begin at once do not do the same work side by side.

    Args:
        items: what is to be done, in an order that does not matter.
        jobs: processes that share the work; where there are several, they get all of it at once.

    Returns:
        One part at least.
    """
    if jobs > 1 or len(items) < 2:
        return [items]
    size = -(-len(items) // _TURNS)
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    random.Random(os.getpid()).shuffle(parts)
    return parts
