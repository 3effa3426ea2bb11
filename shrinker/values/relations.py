"""Pairs of anything: grouped by the first of each, and followed from one to the next."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return what comes with each key, in the order in which it comes."""
    found = defaultdict[Key, list[Value]](list)
    for key, value in pairs:
        found[key].append(value)
    return dict(found)


def reached(starts: Iterable[Key], successors: Callable[[Key], Iterable[Key]]) -> dict[Key, None]:
    """Return everything that the starts lead to, themselves included, in the order in which it is
    found.
    """
    found = dict.fromkeys(starts)
    stack = list(found)
    while stack:
        for each in successors(stack.pop()):
            if each not in found:
                found[each] = None
                stack.append(each)
    return found
