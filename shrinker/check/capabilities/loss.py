"""What a finding of capabilities is about."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN = 120
"""Characters of a text."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that upstream may do and the generated tree does not."""

    line: int
    """In upstream's file."""
    where: str
    """Qualified name of the function or class within the module."""
    reason: str | None
    """The row whose words explain it; None where what is around it may be right without it."""
    what: str
    """What is gone, in words."""


def shortened(text: str) -> str:
    """One line of source text, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
