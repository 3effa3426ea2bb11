"""Ratios from pairs of runs."""

from __future__ import annotations

from equivalence.gpu.turns import Estimate, Sample, estimate, finding


def pairs(*ratios, places="ab"):
    """The trees change places from pair to pair."""
    return [Sample(places[at % len(places)], 10.0, 10.0 * ratio) for at, ratio in enumerate(ratios)]


def of(samples) -> Estimate:
    found = estimate(samples)
    assert found is not None
    return found


def test_what_a_place_does_to_both_trees_goes_out():
    # On one GPU the other tree is a tenth faster, on the other one a tenth slower: it is neither.
    found = of([*pairs(*[1.1] * 5, places="a"), *pairs(*[1 / 1.1] * 5, places="b")])
    assert abs(found.ratio - 1) < 1e-9 and found.pairs == 10


def test_five_pairs_give_an_interval_and_four_none():
    assert of(pairs(0.9, 0.91, 0.92, 0.93)).low is None
    found = of(pairs(0.9, 0.91, 0.92, 0.93, 0.94))
    assert found.low is not None and found.high is not None
    assert of(pairs(*[0.9] * 9, places="a")).low is None, "the other place may be as much faster"
    assert 0.9 <= found.low <= found.ratio <= found.high <= 0.94
    assert estimate(pairs(0.9, 0.91, 0.92, 0.93, 0.94)) == found, "the same interval each time"
    assert estimate([]) is None and estimate([Sample("a", 0.0, 1.0)]) is None


def test_a_finding_is_slower_beyond_doubt_and_beyond_the_copy():
    slow, wide = (of(pairs(*ratios)).document() for ratios in ([0.9] * 6, [0.9, 1.2, 0.9, 1.2, 0.95, 0.94]))
    even, late = of(pairs(*[1.0] * 6)).document(), of(pairs(*[1.1] * 6)).document()
    assert finding(slow, even, higher=True) and finding(slow, None, higher=True)
    assert not finding(slow, slow, higher=True), "the copy of upstream is as slow"
    assert not finding(wide, even, higher=True), "the interval holds 1"
    assert not finding(even, None, higher=True)
    assert finding(late, even, higher=False) and not finding(late, even, higher=True), "of seconds less is better"
    assert not finding(of(pairs(*[0.9] * 4)).document(), None, higher=True), "too few pairs"
