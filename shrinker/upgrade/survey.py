"""One upstream, looked at with the rules as they are: what comes out, and what strict mode would refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shrinker.pipeline import Progress, Request, Result, shrink
from shrinker.report.place import reports_beside
from shrinker.values.outcome import Finding

UNKNOWN = "unnamed-predicate"


@dataclass(frozen=True, slots=True)
class Survey:
    """What one run said."""

    result: Result
    findings: tuple[Finding, ...]
    """What strict mode would refuse."""

    @property
    def undefined_names(self) -> int:
        """Names that folding left without a definition; evidence refuses a tree with such a one, too."""
        left = self.result.leftovers
        return sum(item.kind == "undefined names" for item in left.residues) if left is not None else 0

    @property
    def unknown_predicates(self) -> tuple[str, ...]:
        """Names of predicates that look like a platform test and that no rule names."""
        rows = (finding.message.split("`") for finding in self.findings if finding.check == UNKNOWN)
        return tuple(row[1] for row in rows if len(row) > 1)

    def by_check(self) -> dict[str, int]:
        """How many findings of each check."""
        out: dict[str, int] = {}
        for finding in self.findings:
            out[finding.check] = out.get(finding.check, 0) + 1
        return dict(sorted(out.items()))


def survey(
    upstream: str | None, profile: str, out: Path, jobs: int, progress: Progress, rules: Path | None = None
) -> Survey:
    """Generate a tree with all its evidence, and look at it as strict mode does; nothing is refused for that.

    Args:
        out: where the tree goes; its reports beside it.

    Raises:
        InputError: the upstream or the rules cannot be read.
        EvidenceError: the tree failed its evidence.
    """
    reports = reports_beside(out)
    result = shrink(Request(upstream, profile, out, jobs, reports=reports, rules=rules, look=True), progress)
    return Survey(result, result.strict)


def first_line(findings: Sequence[Finding]) -> str:
    """The first finding in one line."""
    return findings[0].message.partition("\n")[0] if findings else ""
