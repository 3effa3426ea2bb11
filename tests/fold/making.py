"""What statements of generated programs are made with."""

from __future__ import annotations

from random import Random
from typing import Protocol

from tests.fold.layout import Block, Compound

Item = str | Compound


class Maker(Protocol):
    """Makes the parts of one place."""

    @property
    def random(self) -> Random:
        """Where choices come from."""

    @property
    def function(self) -> bool:
        """True inside a function."""

    def condition(self) -> str:
        """An expression."""

    def block(self, most: int = 3) -> Block:
        """A body."""

    def leaving(self) -> str:
        """A statement after which nothing comes."""


def together(*block: Item) -> Compound:
    """Several statements where one is asked for."""
    return Compound((("if True", block),))


def one(header: str, *body: Item) -> Compound:
    """A statement with one clause."""
    return Compound(((header, body),))


DECIDED = ("_is_hip", "is_npu()", "not is_cuda()", "_off", "derived and _is_hip")
"""False wherever they stand."""
DECIDED_LOCALLY = (*DECIDED, "thing.is_npu", 'device == "npu"')
"""False in a function with the parameters of `f`."""
