"""One program on both trees, and what a level that runs them collects."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from equivalence.levels.scenarios import Declared
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Expected, Outcome, Setting
from equivalence.serving.record import MISSING, walk
from equivalence.simulation import calls
from shrinker.cache.workers import run_in_child
from shrinker.values.errors import ShrinkerError
from shrinker.values.outcome import Evidence, Finding, LevelResult

Asking = TypeVar("Asking", bound=Declared)
Shown = TypeVar("Shown")


class Ledger:
    """Collects what a level counts and finds while it runs."""

    def __init__(self, level: str) -> None:
        self.level = level
        self.checks = defaultdict[str, int](int)
        """How many things were looked at."""
        self.findings: list[Finding] = []
        self.inherited: list[Finding] = []
        self.figures: list[tuple[str, str]] = []
        """Numbers to read: a name, and the value in words."""
        self.limits: dict[str, None] = {}
        self._start = time.monotonic()

    def find(self, check: str, path: str, message: str) -> None:
        """The generated tree differs."""
        self.findings.append(Finding(check, path, 0, message))

    def inherit(self, check: str, path: str, message: str) -> None:
        """Something is wrong in upstream, too."""
        self.inherited.append(Finding(check, path, 0, message))

    def limit(self, sentence: str) -> None:
        """What is not shown."""
        self.limits[sentence] = None

    def admitted(self, asked: Iterable[Asking], expected: Expected) -> Iterator[Asking]:
        """Yield what the profile does not refuse; the rest is not shown."""
        for one in asked:
            if refused := expected.refuses(one.asks):
                self.limit(f"{one.name}: the profile refuses {refused}.")
            else:
                yield one

    def same(
        self,
        check: str,
        where: str,
        before: Any,
        after: Any,
        most: int = 5,
        count: int | None = None,
    ) -> None:
        """Both trees showed the same value, of so many things; else the first places where it
        differs are found.
        """
        if count is not None:
            self.checks[check] += count
        found = list(walk(before, after))
        for place, left, right in found[:most]:
            name = " ".join(map(str, place))
            said = f"{where}: {name} is {_short(right)}, in upstream {_short(left)}"
            self.find(check, "", said.replace(":  is", ": it is"))
        if len(found) > most > 1:
            self.find(check, "", f"{where}: and {len(found) - most} more")

    def compare_calls(self, before: calls.Called, after: calls.Called, where: str = "") -> None:
        """The kernels that were called are the same, and nothing without a reference was; the same
        compiled modules were loaded.
        """
        start = f"{where}: " if where else ""
        self.checks["kernels"] += len(after[calls.KERNEL])
        self.checks["compiled modules"] += len(after[calls.COMPILED])
        for kind in (calls.KERNEL, calls.LOADED, calls.COMPILED):
            check = "compiled modules" if kind == calls.COMPILED else "kernels"
            for name in sorted(before[kind] ^ after[kind]):
                side = "upstream" if name in before[kind] else "the generated tree"
                self.find(check, "", f"{start}{kind} {name}: only in {side}")
        for name in sorted(before[calls.STUB] | after[calls.STUB]):
            which = (
                "both trees" if name in before[calls.STUB] & after[calls.STUB] else "one tree only"
            )
            self.find("kernels", "", f"{start}{name} was called in {which}, and has no reference")

    def result(self, required: Sequence[str]) -> LevelResult:
        """Return the result; where nothing was found, a required check that looked at nothing is a
        finding of its own.
        """
        checks = tuple(self.checks.items())
        for check in [check for check in required if not self.findings and not self.checks[check]]:
            self.find(check, "", "looked at nothing, so that it proves nothing")
        evidence = Evidence(
            self.level, not self.findings, checks, tuple(self.findings), tuple(self.inherited)
        )
        return LevelResult(
            evidence, tuple(self.figures), tuple(self.limits), time.monotonic() - self._start
        )


def _short(value: Any) -> str:
    text = "not there" if value is MISSING else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def show_both(
    setting: Setting, name: str, show: Callable[[str, Setting], Shown], cores: int = 1
) -> dict[str, Shown]:
    """Return what each side shows, by side: at the same time where there are as many `cores` as
    both need.

    What `show` gives of a side travels between processes. Raises ShrinkerError where the process of
    one side was killed.
    """
    if setting.jobs < 2 * cores:
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
            said = (
                f"{name}: the process that ran the generated tree was killed (often: out of memory)"
            )
            raise ShrinkerError(said, "run again with --jobs 1") from error


def both(
    trees: Mapping[str, Path], setting: Setting, ledger: Ledger, call: Call
) -> tuple[Outcome, Outcome] | None:
    """Run a program on both trees, upstream first; None, and a finding, when one of them gives
    nothing.

    Where only what upstream itself can run here is judged, an equal failure of both is no finding.
    """
    found = show_both(setting, call.name, lambda side, made: made.program(side, trees[side], call))
    before, after = found[UPSTREAM].failure, found[GENERATED].failure
    if before and after and setting.where_upstream_runs and _last(before) == _last(after):
        ledger.inherit(call.name, "", f"upstream itself does not run here: {_last(before)}")
    elif before and after:
        ledger.find(call.name, "", f"upstream itself does not run here: {before}")
    elif before:
        ledger.find(call.name, "", f"runs on the generated tree and not on upstream: {before}")
    elif after:
        ledger.find(call.name, "", f"runs on upstream and not on the generated tree: {after}")
    else:
        return found[UPSTREAM], found[GENERATED]
    return None


def _last(failure: str) -> str:
    """Return the line that says what failed, without what differs from process to process."""
    lines = [line.partition("]: ")[2] or line for line in failure.splitlines() if line.strip()]
    return lines[-1].strip() if lines else failure
