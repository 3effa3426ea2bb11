"""What a level that runs the trees collects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shrinker.values.outcome import Evidence, Finding, LevelResult


@dataclass(slots=True)
class Ledger:
    """Collects what a level counts and finds while it runs."""

    level: str
    checks: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    inherited: list[Finding] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    def count(self, check: str, number: int = 1) -> None:
        """So many more things were looked at."""
        self.checks[check] = self.checks.get(check, 0) + number

    def find(self, check: str, path: str, message: str, line: int = 0) -> None:
        """The generated tree differs."""
        self.findings.append(Finding(check, path, line, message))

    def inherit(self, check: str, path: str, message: str) -> None:
        """Something is wrong in upstream, too."""
        self.inherited.append(Finding(check, path, 0, message))

    def figure(self, name: str, value: str) -> None:
        """A number to read."""
        self.figures.append((name, value))

    def limit(self, sentence: str) -> None:
        """What is not shown."""
        if sentence not in self.limits:
            self.limits.append(sentence)

    def result(self, seconds: float, required: Sequence[str]) -> LevelResult:
        """The result; where nothing was found, a required check that looked at nothing is a finding of its own."""
        for check in () if self.findings else required:
            if not self.checks.get(check):
                self.find(check, "", "looked at nothing, so that it proves nothing")
        checks = tuple((name, number) for name, number in self.checks.items())
        evidence = Evidence(self.level, not self.findings, checks, tuple(self.findings), tuple(self.inherited))
        return LevelResult(evidence, tuple(self.figures), tuple(self.limits), seconds)


__all__ = ["Ledger", "LevelResult"]
