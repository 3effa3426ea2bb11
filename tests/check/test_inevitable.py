"""A named error is right where something was asked for, and a fault on the straight way through a program. What is no fault comes first."""

from pathlib import Path

import pytest

from tests.check.trees import Build, Files
from tests.small import read_cases

HERE = Path(__file__).parent
ASKED = read_cases(HERE / "asked_errors.txtar")
FAULTS = read_cases(HERE / "faulty_errors.txtar")


def found(case: Build, files: Files) -> list[str]:
    made = case(files, files)
    return [finding.message for finding in made.evidence("references").open if finding.check == "ways through"]


@pytest.mark.parametrize("name", ASKED)
def test_where_something_was_asked_for_it_is_right(name: str, case: Build) -> None:
    assert found(case, ASKED[name]) == []


@pytest.mark.parametrize("name", FAULTS)
def test_on_the_straight_way_it_is_a_fault(name: str, case: Build) -> None:
    files = {**FAULTS[name]}
    what = files.pop("said").strip()
    assert [message.partition(" comes to")[0] for message in found(case, files)] == [what]
