"""Decorators that kept definitions lost: what registers a definition, or wraps it, decides what it is."""

from __future__ import annotations

from collections import Counter

from shrinker.check.registry import Seen
from shrinker.check.symbols import ModuleSymbols
from shrinker.check.trees import Trees


def lost_decorators(trees: Trees, seen: Seen) -> None:
    """A definition that a file has twice (on two branches) is left out."""
    for symbols, upstream in trees.pairs():
        once, theirs = _once(symbols), _once(upstream)
        for name in once.keys() & theirs.keys():
            line, left = once[name]
            seen.look(len(theirs[name][1]))
            for decorator in Counter(theirs[name][1]) - Counter(left):
                seen.find(symbols.path, line, f"{name} lost @{decorator}")


def _once(symbols: ModuleSymbols) -> dict[str, tuple[int, tuple[str, ...]]]:
    times = Counter(name for name, _, _ in symbols.decorated)
    return {name: (line, decorators) for name, line, decorators in symbols.decorated if times[name] == 1}
