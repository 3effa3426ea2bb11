"""Level *tests*: upstream's own tests that need no GPU, run on both trees: what passes in upstream
passes in the generated tree.

Checks:
    tests: each test that passes in upstream, and that asks for nothing that was removed, passes in
        the generated tree.

docs/design/evidence.md says when a test asks for what was removed. What nobody but a test calls is
removed as well.

Limits: a test that fails in upstream's tree here, for want of a package or of the network, is not
judged. Nothing of the rules or the engine is asked.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from equivalence.levels.result import Ledger, both
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Setting
from shrinker.check.allowances import ERROR_PREFIX
from shrinker.values.errors import InputError
from shrinker.values.outcome import LevelResult

TESTS = "tests"
REASONS = Path(__file__).resolve().parent / "tests.toml"
_MARK = "register_cpu_ci"
"""What upstream's tests that need no GPU call, so that its own CI finds them."""
_SECONDS = 150
"""For one file."""
_TOGETHER = 40
"""Files that one process asks about."""
_NAMED = re.compile(rf"{ERROR_PREFIX}(?:the )?(.*?) is not part of this server")
_USED = re.compile(r"UsesRemoved: ([\w.]+)")
_LOST = re.compile(
    r"<module '([\w.]+)' from [^>]*> does not have the attribute '(\w+)'|has no attribute '(\w+)'"
)

_PASSES, _FAILS, _DIFFERS = "passes in both", "does not pass in upstream", "differs"

Ended = Mapping[str, tuple[str, str]]
"""Test → how it ended, and the end of what it said; the empty name for the file itself."""


def run(upstream: Path, generated: Path, setting: Setting) -> LevelResult:
    """Run upstream's tests on both trees. Raises InputError where there are none."""
    folder = setting.tests
    every = folder.rglob("test_*.py") if folder else ()
    files = sorted(
        str(path.relative_to(folder))
        for path in every
        if folder and _MARK in path.read_text("utf-8")
    )
    if not files:
        raise InputError(
            f"{folder or 'a release of the package index'} has no test that calls {_MARK}",
            (
                "check out upstream's repository at the same commit, and name its folder `test` "
                "with --tests"
            ),
        )
    ledger, trees = Ledger(TESTS), {UPSTREAM: upstream, GENERATED: generated}
    ended: tuple[dict[str, Ended], dict[str, Ended]] = ({}, {})
    folders = [str(folder), str(upstream / "sglang/test")]
    given = {"folders": folders, "seconds": _SECONDS, "refusal": ERROR_PREFIX}
    for start in range(0, len(files), _TOGETHER):
        some = files[start : start + _TOGETHER]
        sides = {side: {**given, "files": some, "stand_in": side == GENERATED} for side in SIDES}
        call = Call(
            "tests",
            sides,
            60.0 * len(some),
            f"tests-{start + 1}-to-{start + len(some)}-of-{len(files)}",
        )
        for side, outcome in zip(ended, both(trees, setting, ledger, call) or (), strict=False):
            side |= outcome.data
    _judge(*ended, generated, ledger)
    return ledger.result((TESTS,))


def _judge(
    before: Mapping[str, Ended], after: Mapping[str, Ended], generated: Path, ledger: Ledger
) -> None:
    asked = _Asked(generated)
    found = defaultdict[str, Counter[str]](Counter)
    for file, tests in before.items():
        if not tests:
            ledger.limit(f"test/{file} does not end in upstream's tree here within {_SECONDS} s.")
        early = "failed", after[file].get("", ("", "the file ended early"))[1]
        for name, (outcome, _) in tests.items():
            ended, said = after[file].get(name, early)
            test, kind, subject = name.rpartition("::")[2], _PASSES, ""
            if outcome != "passed":
                kind = _FAILS
            elif ended != "passed":
                kind, subject = asked.of(f"{file}::{test}", said)
            found[kind][subject] += 1
            if kind == _DIFFERS:
                ledger.find(TESTS, f"test/{file}", f"{test}: {subject}")
    counts = Counter({kind: subjects.total() for kind, subjects in found.items()})
    ledger.checks[TESTS] += counts[_PASSES]
    for kind, count in sorted(counts.items()):
        subjects = ", ".join(sorted(filter(None, found[kind])))
        ledger.figures.append((kind, f"{count}: {subjects}" if subjects else str(count)))
    ledger.limit(f"{counts[_FAILS]} tests do not pass in upstream's tree here, and are not judged.")
    excused = counts.total() - counts[_PASSES] - counts[_FAILS] - counts[_DIFFERS]
    ledger.limit(
        f"{excused} tests that pass in upstream ask for what was removed; the figures say for what."
    )


class _Asked:
    """For what tests ask that pass in upstream only."""

    def __init__(self, tree: Path) -> None:
        texts = {
            path.relative_to(tree): path.read_text("utf-8")
            for path in (tree / "sglang").rglob("*.py")
        }
        # This one tells of what went.
        texts.pop(Path("sglang/removed_features.py"), None)
        self._words = {path: frozenset(re.findall(r"\w+", text)) for path, text in texts.items()}
        rows = tomllib.loads(REASONS.read_text("utf-8"))["reason"]
        self._reasons = {test: row["why"] for row in rows for test in row["tests"]}

    def of(self, test: str, said: str) -> tuple[str, str]:
        """In which way a test, by its file and its name, and for what; of one that asks for nothing
        removed what it ends with.
        """
        if found := _NAMED.search(said):
            return "named error", found[1]
        if found := _USED.search(said):
            return "uses what its file cannot import", found[1]
        if looked := [*_LOST.finditer(said)]:
            module, patched, member = looked[-1].groups()
            if not self._written(module, patched or member):
                return "looks up what is written nowhere", patched or member
        if test in self._reasons:
            return "has a reason", self._reasons[test]
        wrong = [line[1:].strip() for line in said.splitlines() if line.startswith("E ")]
        return _DIFFERS, wrong[0][:300] if wrong else said.strip()[-300:]

    def _written(self, module: str | None, name: str) -> bool:
        """Tell whether a name stands anywhere in the tree, or in the module that a test patches."""
        if not module:
            return any(name in words for words in self._words.values())
        place = Path(*module.split("."))
        return any(
            name in self._words.get(path, ())
            for path in (place.with_suffix(".py"), place / "__init__.py")
        )
