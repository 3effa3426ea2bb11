"""The order in which members are looked for, compared with Python's own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shrinker.program.symbols.mixins import merge

Bases = list[list[int]]


@st.composite
def hierarchies(draw: st.DrawFn) -> Bases:
    """By number, the bases of each class: earlier ones, each once."""
    size = draw(st.integers(1, 7))
    return [
        draw(st.lists(st.sampled_from(range(number)), unique=True, max_size=4)) if number else []
        for number in range(size)
    ]


@given(hierarchies())
def test_the_order_is_pythons(hierarchy: Bases) -> None:
    made: list[type] = []
    orders: list[list[str]] = []
    for number, bases in enumerate(hierarchy):
        names = [str(base) for base in bases]
        rest = merge([*(orders[base] for base in bases), names])
        try:
            made.append(type(str(number), tuple(made[base] for base in bases), {}))
        except TypeError:
            assert rest is None
            return
        assert rest is not None
        orders.append([str(number), *rest])
        assert orders[-1] == [each.__name__ for each in made[-1].__mro__[:-1]]
