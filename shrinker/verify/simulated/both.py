"""One program on both trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shrinker.verify.simulated.result import Ledger
from shrinker.verify.simulated.setting import GENERATED, SIDES, UPSTREAM, Call, Outcome, Setting


def both(trees: Mapping[str, Path], setting: Setting, ledger: Ledger, call: Call) -> dict[str, Outcome] | None:
    """Run a program on both trees; None, and a finding, when one of them gives nothing.

    Where only what upstream itself can run here is judged, an equal failure of both is no finding.
    """
    found = {}
    for side in SIDES:
        setting.progress(f"{call.name or call.program}: {side}")
        found[side] = setting.program(side, trees[side], call)
    before, after = found[UPSTREAM].failure, found[GENERATED].failure
    if before and after and setting.where_upstream_runs and _last(before) == _last(after):
        ledger.inherit(call.name or call.program, "", f"upstream itself does not run here: {_last(before)}")
    elif before and after:
        ledger.find(call.name or call.program, "", f"upstream itself does not run here: {before}")
    elif before:
        ledger.find(call.name or call.program, "", f"runs on the generated tree and not on upstream: {before}")
    elif after:
        ledger.find(call.name or call.program, "", f"runs on upstream and not on the generated tree: {after}")
    else:
        return found
    return None


def _last(failure: str) -> str:
    """The line that says what failed, without what differs from process to process."""
    lines = [line.partition("]: ")[2] or line for line in failure.splitlines() if line.strip()]
    return lines[-1].strip() if lines else failure
