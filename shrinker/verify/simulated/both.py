"""One program on both trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shrinker.verify.simulated.result import Ledger
from shrinker.verify.simulated.setting import GENERATED, SIDES, UPSTREAM, Call, Outcome, Setting


def both(trees: Mapping[str, Path], setting: Setting, ledger: Ledger, call: Call) -> dict[str, Outcome] | None:
    """Run a program on both trees; None, and a finding, when one of them gives nothing."""
    found = {}
    for side in SIDES:
        setting.progress(f"{call.name or call.program}: {side}")
        found[side] = setting.program(side, trees[side], call)
    before, after = found[UPSTREAM].failure, found[GENERATED].failure
    if before and after:
        ledger.find(call.name or call.program, "", f"upstream itself does not run here: {before}")
    elif before:
        ledger.find(call.name or call.program, "", f"runs on the generated tree and not on upstream: {before}")
    elif after:
        ledger.find(call.name or call.program, "", f"runs on upstream and not on the generated tree: {after}")
    else:
        return found
    return None
