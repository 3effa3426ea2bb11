"""What command lines and HTTP servers of a generated tree take and answer otherwise than
upstream's.
"""

from dataclasses import dataclass

from shrinker.values.outcome import Finding

UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One thing that a person at the command line, or a client, finds otherwise."""

    where: str
    """Module, and class or function below it."""
    subject: str
    """``--flag``, ``GET /path``, or the whole command."""
    kind: str
    """``removed``, ``changed``, ``added``; ``choice removed``, ``choices changed``, ``default
    changed``.
    """
    before: str
    after: str
    rule: str
    """Several are joined by ``+``; ``unreachable`` where nothing kept uses it; ``unexplained``."""
    path: str
    """In upstream."""
    line: int
    names: tuple[str, ...] = ()
    """All names of a flag; method, path and environment variable of an endpoint."""


@dataclass(frozen=True, slots=True, order=True)
class Refused:
    """A value that the command line still takes and the run then refuses by name."""

    subject: str
    """The flag; else the attribute, or the argument, that is looked at."""
    rule: str
    values: tuple[str, ...]
    """Empty where `only` counts, or any value is refused."""
    only: tuple[str, ...]
    instead: str
    where: str = ""
    """The command line of the flag, as of a difference; without a flag the functions that look."""


@dataclass(frozen=True, slots=True)
class Interface:
    """All differences, sorted."""

    flags: tuple[Difference, ...] = ()
    refused: tuple[Refused, ...] = ()
    endpoints: tuple[Difference, ...] = ()
    unread: tuple[Finding, ...] = ()
    """Declarations of upstream that look like flags, and that no command line was read of: nothing
    is known of them.
    """

    def unexplained(self) -> list[Finding]:
        """Differences that no rule made, and what was not read, as strict mode refuses them."""
        found = (d for d in (*self.flags, *self.endpoints) if d.rule == UNEXPLAINED)
        changes = ((d, f"{d.before or '(nothing)'} became {d.after or '(nothing)'}") for d in found)
        return [
            *self.unread,
            *(
                Finding(
                    "interface",
                    d.path,
                    d.line,
                    f"{d.where}: {d.subject} {d.kind}, and no rule says why: {change}",
                )
                for d, change in changes
            ),
        ]


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
    """The refusal of the flag, or the rule that says on what it depends; empty for a loss that
    nothing explains.
    """
    readers: tuple[str, ...] = ()
    """Files of upstream that read it, the first ones."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What was found."""

    claims: tuple[Judged, ...] = ()
    flags: tuple[Effect, ...] = ()
    findings: tuple[Finding, ...] = ()
