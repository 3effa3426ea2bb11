"""Level *trace*: every line that upstream executes in the levels model and server stands in the generated tree.

Checks:
    programs: whose lines were followed on upstream; those that the profile refuses are left out.
    files, executed lines: of upstream's package, by all processes of these programs.
    one line for each way in which an executed line was accounted for: found word for word, found simplified, or missing
        for a reason of the closed list `verify.executed.reasons`. What is missing without one is a finding.

Limits: says nothing of what no program executed. A line that is simplified within itself (an operand, an argument) counts as
found: what may be left out of a line is the level form's own question.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from equivalence.levels import model, server
from equivalence.levels.configurations import CONFIGURATIONS, Configuration
from equivalence.levels.following import Following, together
from equivalence.levels.result import Ledger, LevelResult
from equivalence.levels.setting import UPSTREAM, Setting
from equivalence.simulation.environment import has_triton
from equivalence.trace import compare, kinds

_REQUIRED = ("programs", "files", "executed lines", "found word for word")


def run(
    upstream: Path,
    generated: Path,
    setting: Setting,
    *,
    configurations: Sequence[Configuration] = CONFIGURATIONS,
    runs: Sequence[model.Run] = model.RUNS,
    scenarios: Sequence[server.Scenario] = server.SCENARIOS,
) -> LevelResult:
    """Look for every line that upstream executed.

    Args:
        upstream, generated: folders that hold the package `sglang`.
        setting: with what to run; programs that it knows the lines of are not run again.
        configurations, runs: of the level model.
        scenarios: of the level server.
    """
    start = time.monotonic()
    ledger = Ledger("trace")
    following = setting.following or Following(setting.work)
    setting = replace(setting, following=following)
    followed = _models(upstream, setting, configurations, runs, ledger)
    if scenarios and has_triton(setting.simulation):
        followed += _servers(upstream, setting, scenarios, ledger)
    known = []
    for name, program in followed:
        if (lines := following.known(program)) is None:
            said = ledger.inherit if setting.where_upstream_runs else ledger.find
            said("programs", "", f"{name}: upstream did not run to its end, so that its lines are not known")
        else:
            ledger.count("programs")
            known.append(lines)
    setting.progress(f"trace: lines of {len(known)} programs")
    lines = together(known)
    found = compare(lines.running, lines.importing, upstream / "sglang", generated / "sglang", following.stated)
    ledger.count("files", found.files)
    ledger.count("executed lines", sum(found.lines.values()) + len(found.missing))
    for kind in kinds():
        if found.lines[kind]:
            ledger.count(kind, found.lines[kind])
    for missing in found.missing:
        message = f"upstream executed this line of {missing.where}, which the tree has not got: {missing.text[:200]}"
        ledger.find("executed lines", f"python/sglang/{missing.path}", message, missing.line)
    return ledger.result(time.monotonic() - start, _REQUIRED)


def _models(
    upstream: Path,
    setting: Setting,
    configurations: Sequence[Configuration],
    runs: Sequence[model.Run],
    ledger: Ledger,
) -> list[tuple[str, str]]:
    """Name of each program of the level model, and what it is known by; those whose lines are not known yet run."""
    asked: list[Configuration | model.Run] = [*configurations]
    if has_triton(setting.simulation):
        asked += runs
    else:
        ledger.limit(
            "Triton has no wheel for this system: only what builds models was followed. Run this level on Linux."
        )
    calls = []
    for one in asked:
        if refused := setting.expected.refuses(one.asks):
            ledger.limit(f"{one.name}: the profile refuses {refused}.")
        elif isinstance(one, Configuration):
            calls.append((one.name, model.meta_call(one, setting)))
        else:
            calls.append((one.name, model.run_call(one, setting)))
    assert setting.following is not None
    for name, call in calls:
        if setting.following.known(call.follow) is None:
            setting.progress(f"trace: {name}")
            setting.program(UPSTREAM, upstream, call)
    return [(name, call.follow) for name, call in calls]


def _servers(
    upstream: Path, setting: Setting, scenarios: Sequence[server.Scenario], ledger: Ledger
) -> list[tuple[str, str]]:
    """The same of the level server."""
    followed = []
    assert setting.following is not None
    for scenario in scenarios:
        if refused := setting.expected.refuses(scenario.options):
            ledger.limit(f"{scenario.name}: the profile refuses {refused}.")
            continue
        program = server.followed(scenario, setting)
        if setting.following.known(program) is None:
            server.observe(scenario, UPSTREAM, upstream, setting, Ledger("server"))
        followed.append((scenario.name, program))
    return followed
