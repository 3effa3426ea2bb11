"""One program on both trees."""

from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from equivalence.levels.result import Ledger
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Outcome, Setting
from shrinker.cache.workers import run_in_child
from shrinker.values.errors import ShrinkerError

Shown = TypeVar("Shown")


def show_both(
    setting: Setting, name: str, show: Callable[[str, Setting], Shown], *, processes: int = 1
) -> dict[str, Shown]:
    """What each side shows, by side: at the same time where there are cores for both.

    Args:
        show: shows one side; its result travels between processes.
        processes: how many cores one side needs.

    Raises:
        ShrinkerError: the process of one side was killed.
    """
    if setting.jobs < 2 * processes:
        found = {}
        for side in SIDES:
            setting.progress(f"{name}: {side}")
            found[side] = show(side, setting)
        return found
    setting.progress(f"{name}: both trees")
    silent = replace(setting, progress=lambda line: None)
    with run_in_child(lambda _: show(GENERATED, silent)) as generated:
        try:
            return {UPSTREAM: show(UPSTREAM, setting), GENERATED: generated()}
        except BrokenProcessPool as error:
            said = f"{name}: the process that ran the generated tree was killed (often: out of memory)"
            raise ShrinkerError(said, "run again with --jobs 1") from error


def both(trees: Mapping[str, Path], setting: Setting, ledger: Ledger, call: Call) -> tuple[Outcome, Outcome] | None:
    """Run a program on both trees, upstream first; None, and a finding, when one of them gives nothing.

    Where only what upstream itself can run here is judged, an equal failure of both is no finding.
    """
    found = show_both(setting, call.label, lambda side, made: made.program(side, trees[side], call))
    before, after = found[UPSTREAM].failure, found[GENERATED].failure
    if before and after and setting.where_upstream_runs and _last(before) == _last(after):
        ledger.inherit(call.label, "", f"upstream itself does not run here: {_last(before)}")
    elif before and after:
        ledger.find(call.label, "", f"upstream itself does not run here: {before}")
    elif before:
        ledger.find(call.label, "", f"runs on the generated tree and not on upstream: {before}")
    elif after:
        ledger.find(call.label, "", f"runs on upstream and not on the generated tree: {after}")
    else:
        return found[UPSTREAM], found[GENERATED]
    return None


def _last(failure: str) -> str:
    """The line that says what failed, without what differs from process to process."""
    lines = [line.partition("]: ")[2] or line for line in failure.splitlines() if line.strip()]
    return lines[-1].strip() if lines else failure
