"""One request's answers over many runs of both trees: equal, within what upstream's own runs span,
or outside.

A run is one pass of one server. Upstream's runs differ among themselves wherever a kernel adds in
the order in which blocks happen to finish. Only where they do, and no answer is met again, an exact
permutation test decides: if the trees were the same program, each assignment of the labels to the
runs of one pass would be as likely as the one that was made. Runs of one server may stray together:
docs/design/equivalence.md says when the labels of whole servers are permuted instead.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, product
from math import comb, prod
from statistics import fmean, pstdev
from typing import Literal, NamedTuple

from equivalence.serving.record import Answer, Answers, Difference, differences

LEVEL = 0.05
"""Below this probability the runs are told apart."""

MOST = 5000
"""Ways to call runs upstream's that are looked at; of more, so many are drawn."""

CLEAR = 0.1
"""From this probability on a cell's lone answers are chance."""

Result = Literal["identical", "unanswered", "member", "span", "lone", "open", "outside"]
"""`identical`: every run of both trees; `unanswered` by all; `member`: each of the generated tree's
answers is one that upstream gave, too; `span`: upstream differs from itself, and the permutation
test does not tell the trees apart; `lone`: all of upstream's runs agree, and so do some of the
generated tree's with them, but not all; `open`: there are too few runs, or servers, to say;
`outside`: none of these.
"""


@dataclass(frozen=True)
class Judgement:
    """What all runs say of one request."""

    request: str
    result: Result
    own: int
    """The most fields in which two of upstream's runs differ."""
    probability: float | None = None
    """Of the permutation test, adjusted for all requests of the cell; None where it was not asked.
    """
    differences: tuple[Difference, ...] = ()
    """Between the generated run that is furthest and the run of upstream's that is nearest to it.
    """


def judge_spans(
    upstream: Sequence[Sequence[Answers]], generated: Sequence[Sequence[Answers]]
) -> tuple[Judgement, ...]:
    """Return a judgement for each request of any run; the runs of a tree by server, its passes."""
    servers = [*upstream, *generated]
    runs = [run for server in servers for run in server]
    passes = [index for server in servers for index in range(len(server))]
    first = sum(map(len, upstream))
    labels = list(_labellings(passes, first))
    names = dict.fromkeys(name for run in runs for name in run)
    tables = {name: _distances([run.get(name) for run in runs], name) for name in names}
    varied = {name: table for name, table in tables.items() if any(map(any, table.fields))}
    tested = _tested(varied, labels, first)
    adjusted: dict[str, float | None] = {**tested}
    if near := [
        name for name, value in tested.items() if value < LEVEL and not _far(varied[name], first)
    ]:
        # As if servers were drawn whole.
        ends = list(accumulate(map(len, servers), initial=0))
        drawn = _labellings([0] * len(servers), len(upstream))
        sets = [
            frozenset(run for at in chosen for run in range(ends[at], ends[at + 1]))
            for chosen in drawn
        ]
        adjusted |= dict.fromkeys(near) | {
            n: value for n, value in _tested(varied, sets, first).items() if n in near
        }
    return tuple(
        _judge(name, runs, table, first, adjusted.get(name)) for name, table in tables.items()
    )


class _Table(NamedTuple):
    """Of each two runs of one request: in how many fields they differ, and how far numbers are
    apart.
    """

    fields: list[list[int]]
    numbers: list[list[float]]


def _distances(answers: Sequence[Answer | None], name: str) -> _Table:
    size = len(answers)
    table = _Table([[0] * size for _ in answers], [[0.0] * size for _ in answers])
    for a, b in combinations(range(size), 2):
        found = differences(name, answers[a], answers[b])
        table.fields[a][b] = table.fields[b][a] = len(found)
        table.numbers[a][b] = table.numbers[b][a] = sum(d.distance or 0.0 for d in found)
    return table


def _labellings(passes: Sequence[int], first: int) -> Iterator[frozenset[int]]:
    """Yield all sets of runs that could have been upstream's: within each pass as many as there
    were.

    The true one comes first.
    """
    strata = [
        [run for run, at in enumerate(passes) if at == index] for index in sorted(set(passes))
    ]
    counts = [sum(run < first for run in stratum) for stratum in strata]
    if prod(map(comb, map(len, strata), counts)) <= MOST:
        for chosen in product(*map(combinations, strata, counts)):
            yield frozenset(run for part in chosen for run in part)
        return
    yield frozenset(range(first))
    draw = random.Random(0)
    for _ in range(MOST - 1):
        yield frozenset(run for some in map(draw.sample, strata, counts) for run in some)


def _far(table: _Table, first: int) -> bool:
    """Tell whether each of the generated tree's runs is further from each of upstream's than
    upstream's are from each other.
    """
    size = len(table.fields)
    return any(
        min((matrix[a][b] for a in range(first) for b in range(first, size)), default=0.0)
        > max((matrix[a][b] for a, b in combinations(range(first), 2)), default=0.0)
        for matrix in table
    )


@dataclass(frozen=True)
class Alone:
    """How many answers of each server are not the most frequent one of their request, over a whole
    cell and all passes.
    """

    upstream: tuple[int, ...]
    generated: tuple[int, ...]
    probability: float | None
    """That servers drawn at random have as many as the generated tree's; None: there are too few
    for `LEVEL` to be reached.
    """

    @property
    def chance(self) -> bool:
        """Whether upstream's servers stand alone too, and the generated tree's no more than they
        would by chance.
        """
        return sum(self.upstream) > 0 and self.probability is not None and self.probability >= CLEAR


def alone(upstream: Sequence[Sequence[Answers]], generated: Sequence[Sequence[Answers]]) -> Alone:
    """Count the answers that stand alone; the servers are what is permuted, since answers of one
    pass go astray together.
    """
    servers = [*upstream, *generated]
    totals = [0] * len(servers)
    for name in dict.fromkeys(name for server in servers for run in server for name in run):
        texts = [[_text(run.get(name)) for run in server] for server in servers]
        usual = Counter(text for server in texts for text in server).most_common(1)[0][0]
        totals = [
            total + sum(text != usual for text in said)
            for total, said in zip(totals, texts, strict=True)
        ]
    mine, theirs = tuple(totals[: len(upstream)]), tuple(totals[len(upstream) :])
    drawn = [sum(chosen) for chosen in combinations(totals, len(generated))]
    share = sum(value >= sum(theirs) for value in drawn) / len(drawn)
    return Alone(mine, theirs, share if len(drawn) * LEVEL >= 1 else None)


@dataclass(frozen=True)
class Pooled:
    """How many servers give an answer that stands alone, and how many there are, over all cells in
    which both trees have some.
    """

    upstream: tuple[int, int]
    generated: tuple[int, int]
    probability: float
    """That as many of the generated tree's do, were the servers of each cell drawn at random."""


def pool(cells: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Pooled:
    """Return what cells say together: one that strays twice as often in each of ten cells need not
    stand out in any. Of each cell it is given how many answers of each server stand alone,
    upstream's and the generated tree's.
    """
    strays = [tuple([count > 0 for count in side] for side in cell) for cell in cells if all(cell)]
    every = [[stray for cell in strays for stray in cell[side]] for side in (0, 1)]
    upstream, generated = ((sum(side), len(side)) for side in every)
    draw = random.Random(0)
    drawn = (
        sum(sum(draw.sample(mine + theirs, len(theirs))) for mine, theirs in strays)
        for _ in range(MOST - 1)
    )
    return Pooled(upstream, generated, (1 + sum(count >= generated[0] for count in drawn)) / MOST)


def _text(answer: Answer | None) -> str:
    if answer is None:
        return ""
    return json.dumps(
        [answer.status, answer.content_type, answer.error, answer.body], sort_keys=True
    )


def _tested(
    tables: dict[str, _Table], labels: Sequence[frozenset[int]], first: int
) -> dict[str, float]:
    """Name → probability that some request of the cell stands out as much under a labelling drawn
    at random; empty where there are too few labellings for `LEVEL` to be reached.

    The maximum over all requests (Westfall and Young) keeps the chance of one false alarm in a cell
    at `LEVEL`, however many requests vary and however they depend on each other.
    """
    if len(labels) * LEVEL < 1:
        return {}
    rows: list[tuple[str, list[float]]] = []
    for name, table in tables.items():
        for matrix in table:
            sums = [sum(row) for row in matrix]
            raw = [_apart(matrix, sums, chosen) for chosen in labels]
            middle, width = fmean(raw), pstdev(raw)
            if width > 0:
                rows.append((name, [(value - middle) / width for value in raw]))
    # Where every labelling gives the same number, nothing tells the trees apart.
    found = dict.fromkeys(tables, 1.0)
    if not rows:
        return found
    highest = [max(values[index] for _, values in rows) for index in range(len(labels))]
    at = labels.index(frozenset(range(first)))
    for name, values in rows:
        share = sum(value >= values[at] - 1e-9 for value in highest) / len(labels)
        found[name] = min(share, found[name])
    return found


def _apart(
    matrix: Sequence[Sequence[float]], sums: Sequence[float], chosen: frozenset[int]
) -> float:
    """Return how much further the two sides are from each other than from themselves, by how far
    each two runs are, and the sums of these rows.
    """
    size, mine = len(matrix), len(chosen)
    within = sum(sum(map(matrix[run].__getitem__, chosen)) for run in chosen)
    across = sum(sums[run] for run in chosen) - within
    inside = sum(sums) / 2 - across
    pairs = mine * (size - mine)
    return across / (pairs or 1) - inside / ((comb(size, 2) - pairs) or 1)


def _judge(
    name: str, runs: Sequence[Answers], table: _Table, first: int, probability: float | None
) -> Judgement:
    mine, theirs = range(first), range(first, len(runs))
    own = max((table.fields[a][b] for a, b in combinations(mine, 2)), default=0)
    if not any(map(any, table.fields)):
        answer = runs[0].get(name)
        return Judgement(name, "unanswered" if answer is None or answer.error else "identical", own)
    nearest = {
        run: min(mine, key=lambda other: (table.fields[run][other], other)) for run in theirs
    }
    worst = max(theirs, key=lambda run: (table.fields[run][nearest[run]], -run))
    found = differences(name, runs[nearest[worst]].get(name), runs[worst].get(name))
    met = [table.fields[run][nearest[run]] == 0 for run in theirs]
    if all(met):
        return Judgement(name, "member", own)
    if not own:
        # A fault shows in every run; where one of the tree's runs agrees with all of upstream's, it
        # was chance: `alone` asks of the whole cell whether upstream has as much of it.
        return Judgement(name, "lone" if any(met) else "outside", own, None, found)
    if probability is None:
        return Judgement(name, "open", own, None, found)
    return Judgement(name, "outside" if probability < LEVEL else "span", own, probability, found)
