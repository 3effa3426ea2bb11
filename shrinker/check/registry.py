"""What a check is: a name, the level that asks it, and a function that looks at something and says what is wrong there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from shrinker.values.outcome import Evidence, Finding

Subject = TypeVar("Subject")
"""Both trees, or both versions of one changed file."""


@dataclass(slots=True)
class Seen:
    """What one check looked at, and what it found."""

    check: str
    counts: Counter[str] = field(default_factory=Counter)
    """How many things were looked at, by what they are."""
    findings: list[Finding] = field(default_factory=list)
    inherited: list[Finding] = field(default_factory=list)
    """What upstream gets wrong in the same place."""
    open: list[Finding] = field(default_factory=list)
    """Questions, see `Evidence.open`."""

    def look(self, times: int = 1, check: str = "") -> None:
        """Count what was looked at, by default under the check's own name."""
        self.counts[check or self.check] += times

    def find(self, path: str, line: int, message: str, *, check: str = "", inherited: bool = False) -> None:
        """Say what is wrong; `inherited` where upstream has it, too."""
        (self.inherited if inherited else self.findings).append(Finding(check or self.check, path, line, message))

    def ask(self, path: str, line: int, message: str, *, check: str = "") -> None:
        """Say what somebody has to answer for."""
        self.open.append(Finding(check or self.check, path, line, message))


@dataclass(frozen=True, slots=True)
class Check(Generic[Subject]):
    """One question about a generated tree."""

    name: str
    level: str
    run: Callable[[Subject, Seen], None]
    counts: tuple[str, ...] | None = None
    """Names of what it always counts, in the order of a report; its own by default."""

    def __call__(self, subject: Subject) -> Seen:
        """Ask it."""
        seen = Seen(self.name, Counter(dict.fromkeys((self.name,) if self.counts is None else self.counts, 0)))
        self.run(subject, seen)
        return seen


def evidence(level: str, seen: Iterable[Seen]) -> Evidence:
    """All that the checks of a level found, each thing once."""
    seen = list(seen)
    counts: Counter[str] = Counter()
    for each in seen:
        counts.update(each.counts)
    findings = _sorted(finding for each in seen for finding in each.findings)
    return Evidence(
        level=level,
        passed=not findings,
        checks=tuple(counts.items()),
        findings=findings,
        inherited=_sorted(finding for each in seen for finding in each.inherited),
        open=_sorted(finding for each in seen for finding in each.open),
    )


def _sorted(findings: Iterator[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(set(findings), key=lambda f: (f.path, f.line, f.check, f.message)))
