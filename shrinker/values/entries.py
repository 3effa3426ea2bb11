"""What comes into a server from outside, and what became of it in a generated tree."""

from dataclasses import dataclass

from shrinker.values.outcome import Finding

KEPT, GONE, NEVER = "kept", "gone", "none in upstream"
"""What became of what a flag does."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A fact or domain, where what it speaks of comes in, and what is missing."""

    rule: str
    enters: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    """What became of what a flag does."""

    flag: str
    effect: str
    rule: str = ""
    """The refusal of the flag, or the rule that says on what it depends; empty for a loss that nothing explains."""
    readers: tuple[str, ...] = ()
    """Files of upstream that read it, the first ones."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What was found."""

    claims: tuple[Judged, ...] = ()
    flags: tuple[Effect, ...] = ()
    findings: tuple[Finding, ...] = ()
