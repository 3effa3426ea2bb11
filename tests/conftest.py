"""Prints the figures that tests record, below the result of the whole run; which tests come first;
what all with random input share.
"""

import gc

from pytest import Item, TerminalReporter

try:
    from hypothesis import HealthCheck, settings
except ModuleNotFoundError:
    # The environment of simulated runs, which has its own tests.
    pass
else:
    # A busy machine is slow: that says nothing of the code, and the same inputs are made each time.
    settings.register_profile(
        "shrinker",
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("shrinker")


def pytest_collection_modifyitems(items: list[Item]) -> None:
    """What takes minutes first: at the end one process would wait for the other.

    Then what loads PyTorch, too, before it has to be read from disk again.
    """
    items.sort(
        key=lambda item: [part not in item.path.parts for part in ("integration", "equivalence")]
    )


def pytest_collection_finish() -> None:
    """A tenth of the time went into looking through all that is loaded for garbage, again and
    again.
    """
    gc.freeze()
    gc.set_threshold(100_000)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """A test records one with `record_property("figure", text)`; it comes through other processes
    too.
    """
    reports = [
        r
        for rows in terminalreporter.stats.values()
        for r in rows
        if getattr(r, "when", "") == "call"
    ]
    for name, value in [pair for report in reports for pair in report.user_properties]:
        if name == "figure":
            terminalreporter.write_line(str(value))
