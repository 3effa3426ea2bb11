"""A cross-check as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tools.crosscheck.finding import CrossCheck, Explained


def cross_check_lines(found: CrossCheck, everything: bool) -> Iterator[str]:
    """What a person reads.

    Args:
        found: the cross-check.
        everything: list explained findings too.
    """
    new = Counter(item.finding.tool for item in found.new)
    open_ = Counter(item.finding.tool for item in found.unexplained)
    yield f"{'':10}{'upstream':>10}{'generated':>11}{'new':>7}{'unexplained':>13}"
    for tool, (before, after) in found.counts.items():
        yield f"{tool:10}{before:>10,}{after:>11,}{new[tool]:>7,}{open_[tool]:>13,}"
    before_, after_ = found.imports
    yield f"{'pydeps':10}{before_.modules:>10,}{after_.modules:>11,}  modules"
    yield f"{'':10}{before_.imports:>10,}{after_.imports:>11,}  imports"
    yield f"{'':10}{before_.cycles:>10,}{after_.cycles:>11,}  groups of modules that import each other"
    yield f"{'':10}{before_.largest:>10,}{after_.largest:>11,}  modules in the largest"
    shown = found.new if everything else found.unexplained
    if shown:
        yield ""
    yield from map(_line, shown)


def _line(item: Explained) -> str:
    finding = item.finding
    reason = f"\n    {item.reason}" if item.reason else ""
    return f"{finding.path}:{finding.line}: {finding.tool} {finding.kind}: {finding.text}{reason}"
