"""What a bump may cost: a profile's budget, held against what two trees keep, require and import."""

from __future__ import annotations

from shrinker.report.diff import Review
from shrinker.ruleset.models import Budget

_LARGEST = 5
"""Folders that are named."""


def overruns(review: Review, budget: Budget) -> list[str]:
    """What of a budget a new tree exceeds, a sentence each."""
    found: list[str] = []
    if budget.lines is not None and review.new.python_lines > budget.lines:
        grown = [row for row in review.growth if row.kind.startswith("+")][:_LARGEST]
        where = ", ".join(f"{row.subject} {row.kind}" for row in grown)
        found.append(f"{review.new.python_lines:,} lines of Python, of at most {budget.lines:,} (most: {where})")
    added = [row.subject for row in review.dependencies if row.kind == "added"]
    if budget.distributions is not None and len(added) > budget.distributions:
        found.append(f"{len(added)} new distributions, of at most {budget.distributions}: {', '.join(added)}")
    for row in review.dependencies:
        if row.kind in ("added", "import added") and row.subject in budget.forbidden:
            found.append(f"{row.subject} is forbidden: {row.kind}, {row.where or row.after}")
    return found
