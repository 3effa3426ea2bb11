"""Level *tests*: tests of a small upstream, run on its tree and on trees that lost something.

Judged without a finding: what passes in both, what asks for what was removed. Never excused: a test
that fails otherwise.
"""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from equivalence.levels import tests as level
from equivalence.levels.setting import Call, Outcome, Setting
from equivalence.simulation.environment import Simulation
from shrinker.values.errors import InputError
from shrinker.values.outcome import LevelResult
from tests.simulations import simulation_python, write_package
from tests.small import read_cases, write

UPSTREAM, TESTS, GENERATED = read_cases(Path(__file__).with_name("tests.txtar"), "/").values()

Judge = Callable[..., LevelResult]


class UpstreamOnce(Setting):
    """A setting in which upstream's tests run once."""

    ended: ClassVar[list[Outcome]] = []

    def program(self, side: str, tree: Path, call: Call) -> Outcome:
        if side == "generated":
            return super().program(side, tree, call)
        if not self.ended:
            self.ended.append(super().program(side, tree, call))
        return self.ended[0]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """`judge(name=text)`: the level on a tree that has these modules otherwise; upstream's tests
    run once.
    """
    folder = tmp_path_factory.mktemp("level")
    upstream = write_package(folder / "upstream", UPSTREAM)
    write(folder / "test/unit", TESTS)
    made = Simulation(simulation_python())
    setting = UpstreamOnce(made, folder / "work", jobs=2, tests=folder / "test")

    def run(**changed: str) -> LevelResult:
        generated = tmp_path_factory.mktemp("generated")
        write_package(generated, GENERATED | {f"{name}.py": text for name, text in changed.items()})
        return level.run(upstream, generated, setting)

    return run


def test_what_asks_for_what_was_removed_is_no_finding(judge: Judge) -> None:
    result = judge()
    assert result.evidence.findings == ()
    assert dict(result.evidence.checks) == {"tests": 1}
    assert dict(result.figures) == {
        "passes in both": "1",
        "does not pass in upstream": "1",
        "uses what its file cannot import": "2: only_there, scale",
        "looks up what is written nowhere": "2: LIMIT, reset",
    }


@pytest.mark.parametrize(
    ("sums", "said"),
    [
        (GENERATED["sums.py"].replace("a + b", "a - b"), "test_add: assert 0 == 2"),
        (GENERATED["sums.py"] + "\n\ndef scale(a):\n    return a\n", "test_scale: assert 4 == 8"),
        (GENERATED["sums.py"] + "\n\nNAMES = ['reset']\n", "test_reset: AttributeError"),
    ],
)
def test_what_fails_otherwise_is_found(judge: Judge, sums: str, said: str) -> None:
    (finding,) = judge(sums=sums).evidence.findings
    assert finding.path == "test/unit/test_sums.py" and said in finding.message


def test_a_process_that_dies_is_found(judge: Judge) -> None:
    findings = judge(sums="import os\n\nos._exit(1)\n").evidence.findings
    assert len(findings) == 5 and all(
        "the file ended early" in finding.message for finding in findings
    )


def test_a_reason_excuses_the_test_that_it_names(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = tmp_path / "tests.toml"
    reasons.write_text('[[reason]]\nwhy = "sums"\ntests = ["unit/test_sums.py::test_add"]\n')
    monkeypatch.setattr(level, "REASONS", reasons)
    worse = GENERATED["sums.py"].replace("a + b", "a - b") + "\n\ndef scale(a):\n    return a\n"
    (finding,) = judge(sums=worse).evidence.findings
    assert finding.message.startswith("test_scale")


def test_an_upstream_without_tests_says_where_they_are(tmp_path: Path) -> None:
    upstream = write_package(tmp_path, {"__init__.py": ""})
    with pytest.raises(InputError, match="has no test that calls") as raised:
        level.run(upstream, upstream, Setting(Simulation(Path("python")), tmp_path / "work"))
    assert "--tests" in raised.value.next_step
