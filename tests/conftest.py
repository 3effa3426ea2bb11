"""Prints the figures that tests record, below the result of the whole run."""

from __future__ import annotations

from pytest import TerminalReporter


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """A test records one with `record_property("figure", text)`; it comes through other processes too."""
    reports = [r for rows in terminalreporter.stats.values() for r in rows if getattr(r, "when", "") == "call"]
    for name, value in [pair for report in reports for pair in report.user_properties]:
        if name == "figure":
            terminalreporter.write_line(str(value))
