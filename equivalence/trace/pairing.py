"""Which line of a function stands for which of upstream's: the pairing that leaves the fewest executed lines out.

A generated function is upstream's after deletions, so its lines pair with upstream's in order. Where several pairings
exist (the same text stands in two branches), the level asks whether ANY leaves every executed line in place: first as many
generated lines as possible are paired, then as many as possible word for word, then as many executed ones as possible.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

from shrinker.check import allowances
from shrinker.check.subsequence import within
from shrinker.check.tokens import Tokens

_Score = tuple[int, int, int]


def pair(
    upstream: Sequence[Tokens], executed: Sequence[bool], generated: Sequence[Tokens], defaults: allowances.Defaults
) -> dict[int, int]:
    """Index of the generated line by the index of upstream's, of which some were executed; both are logical lines of one function."""
    if list(upstream) == list(generated):
        return {index: index for index in range(len(upstream))}
    rank = _ranks(defaults)
    rows, columns = len(upstream), len(generated)
    best: list[list[_Score]] = [[(0, 0, 0)] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        below, here, own = best[i + 1], best[i], upstream[i]
        for j in range(columns - 1, -1, -1):
            score = max(below[j], here[j + 1])
            if worth := rank(generated[j], own):
                score = max(score, _add(below[j + 1], worth, executed[i]))
            here[j] = score
    found: dict[int, int] = {}
    i = j = 0
    while i < rows and j < columns:
        worth = rank(generated[j], upstream[i])
        if worth and best[i][j] == _add(best[i + 1][j + 1], worth, executed[i]):
            found[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _add(score: _Score, worth: int, executed: bool) -> _Score:
    return score[0] + 1, score[1] + (worth == 2), score[2] + executed


def _ranks(defaults: allowances.Defaults) -> Callable[[Tokens, Tokens], int]:
    """0: the first line is not what is left of the second; 1: it is; 2: both are the same."""

    allowed = cache(partial(allowances.allowed, defaults=defaults))
    names = cache(frozenset[str])

    @cache
    def rank(generated: Tokens, upstream: Tokens) -> int:
        if generated == upstream:
            return 2
        line = allowed(generated)
        # A line of allowances alone (`pass`) would stand for anything.
        if not line.needed or not line.needed <= names(upstream):
            return 0
        return int(bool(within(line, upstream)))

    return rank
