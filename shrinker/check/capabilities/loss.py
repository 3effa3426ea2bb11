"""What a finding of capabilities is about."""

from dataclasses import dataclass


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
