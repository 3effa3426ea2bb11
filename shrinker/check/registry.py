"""What a check looked at, and what it found."""

from collections import Counter
from dataclasses import dataclass, field

from shrinker.values.outcome import Finding


@dataclass(slots=True)
class Seen:
    """What checks looked at, and what they found."""

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
