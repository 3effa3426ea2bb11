"""Level *trace*: every line that upstream executes in the levels model and server stands in the
generated tree.

Checks:
    programs: whose lines were followed on upstream; those that the profile refuses are left out.
        files, executed lines: of upstream's package, by all processes of these programs. one line
        for each way in which an executed line was accounted for: found word for word, found
        simplified, or missing for a reason of the closed list `equivalence.trace.reasons`. What is
        missing without one is a finding.

Limits: says nothing of what no program executed. A line that is simplified within itself (an
operand, an argument) counts as
found: what may be left out of a line is the level form's own question.
"""

from collections.abc import Sequence
from pathlib import Path

from equivalence.levels import model, server
from equivalence.levels.result import Ledger
from equivalence.levels.scenarios import (
    CONFIGURATIONS,
    RUNS,
    SCENARIOS,
    Configuration,
    Run,
    Scenario,
)
from equivalence.levels.setting import UPSTREAM, Following, Setting
from equivalence.simulation.executed import together
from equivalence.trace.compare import EXECUTED, KINDS, compare
from shrinker.values.outcome import LevelResult

_REQUIRED = ("programs", "files", EXECUTED, "found word for word")

Program = Configuration | Run | Scenario
# Wrong values run through refusals, of which the server compares the answers.
_PROGRAMS: Sequence[Program] = (
    *CONFIGURATIONS,
    *RUNS,
    *(one for one in SCENARIOS if not one.fields),
)


def run(
    upstream: Path, generated: Path, setting: Setting, asked: Sequence[Program] = _PROGRAMS
) -> LevelResult:
    """Look for every line that upstream executed in what the levels model and server run; programs
    whose lines are known are not run again.
    """
    ledger, following = Ledger("trace"), setting.following
    assert following is not None
    known = []
    for one in ledger.admitted(asked, setting.expected):
        message = f"{one.name}: upstream did not run to its end, so that its lines are not known"
        if found := following.known(_followed(one, upstream, setting, following)):
            ledger.checks["programs"] += 1
            known.append(found)
        elif isinstance(one, Scenario) and not one.needed:
            # Said by the level server, too: such a scenario is shown where a simulation can run it.
            ledger.limit(f"{message}.")
        else:
            (ledger.inherit if setting.where_upstream_runs else ledger.find)(
                "programs", "", message
            )
    setting.progress(f"trace: lines of {len(known)} programs")
    lines = together(known)
    compared = compare(
        lines.running, lines.importing, upstream / "sglang", generated / "sglang", following.stated
    )
    ledger.checks["files"] += len({*lines.running, *lines.importing})
    ledger.checks[EXECUTED] += compared.lines.total() + len(compared.missing)
    for kind in filter(compared.lines.get, KINDS):
        ledger.checks[kind] += compared.lines[kind]
    ledger.findings += compared.missing
    return ledger.result(_REQUIRED)


def _followed(one: Program, upstream: Path, setting: Setting, following: Following) -> str:
    """Return what a program's lines are known by; it runs where they are not known yet."""
    if isinstance(one, Scenario):
        follow = server.followed(one, setting)
        if following.known(follow) is None:
            server.observe(one, UPSTREAM, upstream, setting)
        return follow
    call = model.call_of(one, setting)
    if following.known(call.follow) is None:
        setting.progress(f"trace: {one.name}")
        setting.program(UPSTREAM, upstream, call)
    return call.follow
