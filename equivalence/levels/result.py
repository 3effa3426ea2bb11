"""What a level that runs the trees collects."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from equivalence.levels.scenarios import Configuration, Run, Scenario
from equivalence.levels.setting import Expected
from equivalence.serving.record import walk
from equivalence.simulation import calls
from shrinker.values.outcome import Evidence, Finding, LevelResult

Asking = TypeVar("Asking", bound=Configuration | Run | Scenario)


class Ledger:
    """Collects what a level counts and finds while it runs."""

    def __init__(self, level: str) -> None:
        self.level = level
        self.checks = defaultdict[str, int](int)
        self.findings: list[Finding] = []
        self.inherited: list[Finding] = []
        self.figures: list[tuple[str, str]] = []
        self.limits: dict[str, None] = {}
        self._start = time.monotonic()

    def count(self, check: str, number: int = 1) -> None:
        """So many more things were looked at."""
        self.checks[check] += number

    def find(self, check: str, path: str, message: str) -> None:
        """The generated tree differs."""
        self.findings.append(Finding(check, path, 0, message))

    def inherit(self, check: str, path: str, message: str) -> None:
        """Something is wrong in upstream, too."""
        self.inherited.append(Finding(check, path, 0, message))

    def figure(self, name: str, value: str) -> None:
        """A number to read."""
        self.figures.append((name, value))

    def limit(self, sentence: str) -> None:
        """What is not shown."""
        self.limits[sentence] = None

    def admitted(self, asked: Iterable[Asking], expected: Expected) -> Iterator[Asking]:
        """What the profile does not refuse; the rest is not shown."""
        for one in asked:
            if refused := expected.refuses(one.asks):
                self.limit(f"{one.name}: the profile refuses {refused}.")
            else:
                yield one

    def same(self, check: str, where: str, before: Any, after: Any, most: int = 5) -> None:
        """Both trees showed the same value; else the first places where it differs are found."""
        found = list(walk(before, after))
        for place, left, right in found[:most]:
            name = " ".join(map(str, place))
            said = f"{where}: {name} is {_short(right)}, in upstream {_short(left)}"
            self.find(check, "", said.replace(":  is", ": it is"))
        if len(found) > most > 1:
            self.find(check, "", f"{where}: and {len(found) - most} more")

    def compare_calls(self, before: calls.Called, after: calls.Called, where: str = "") -> None:
        """The kernels that were called are the same, and nothing without a reference was."""
        start = f"{where}: " if where else ""
        self.count("kernels", len(after[calls.KERNEL]))
        for kind in (calls.KERNEL, calls.LOADED):
            for name in sorted(before[kind] ^ after[kind]):
                side = "upstream" if name in before[kind] else "the generated tree"
                self.find("kernels", "", f"{start}{kind} {name}: only in {side}")
        for name in sorted(before[calls.STUB] | after[calls.STUB]):
            which = "both trees" if name in before[calls.STUB] & after[calls.STUB] else "one tree only"
            self.find("kernels", "", f"{start}{name} was called in {which}, and has no reference")

    def result(self, required: Sequence[str]) -> LevelResult:
        """The result; where nothing was found, a required check that looked at nothing is a finding of its own."""
        checks = tuple(self.checks.items())
        for check in [check for check in required if not self.findings and not self.checks[check]]:
            self.find(check, "", "looked at nothing, so that it proves nothing")
        evidence = Evidence(self.level, not self.findings, checks, tuple(self.findings), tuple(self.inherited))
        return LevelResult(evidence, tuple(self.figures), tuple(self.limits), time.monotonic() - self._start)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
