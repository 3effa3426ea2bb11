"""A named error is right where something was asked for, and a fault on the straight way through a
program. What is no fault comes first.
"""

from pathlib import Path

import pytest

from tests.check.trees import Build, Files
from tests.small import read_cases

HERE = Path(__file__).parent
ASKED = read_cases(HERE / "asked_errors.txtar")
FAULTS = read_cases(HERE / "faulty_errors.txtar")


def found(case: Build, files: Files) -> list[str]:
    made = case(files, files)
    return [
        finding.message
        for finding in made.evidence("references").open
        if finding.check == "ways through"
    ]


@pytest.mark.parametrize("name", ASKED)
def test_where_something_was_asked_for_it_is_right(name: str, case: Build) -> None:
    assert found(case, ASKED[name]) == []


@pytest.mark.parametrize("name", FAULTS)
def test_on_the_straight_way_it_is_a_fault(name: str, case: Build) -> None:
    files = {**FAULTS[name]}
    what = files.pop("said").strip()
    assert [message.partition(" comes to")[0] for message in found(case, files)] == [what]


ERROR = 'raise RuntimeError("shrinker: sglang.gone is not part of this server")'
EARLIER = {
    "a test leaves before": f"def ready(x):\n    if x:\n        return 1\n    {ERROR}\n",
    "a test asks for it": f"def ready(x):\n    if x:\n        {ERROR}\n    return 1\n",
    "it gives something before": f"def ready(x):\n    yield x\n    {ERROR}\n",
    "its name says what is dropped": f"def ready_npu(x):\n    {ERROR}\n",
    "so does its class": f"class Npu:\n    def ready(self):\n        {ERROR}\n",
}
ALWAYS = {
    "nothing before it": f"def ready(x):\n    {ERROR}\n",
    "a test before it, which leaves nothing": f"def ready(x):\n    if x:\n        print(x)\n    {ERROR}\n",
    "within `with`": f"def ready(x):\n    with x:\n        {ERROR}\n",
    "a method": f"class Server:\n    def ready(self):\n        {ERROR}\n",
    "beside a function of its own": f"def ready(x):\n    def inner():\n        return 1\n    {ERROR}\n",
}


DROPPED = '[[dropped]]\nid = "dropped-npu"\nwhy = "A rule of a test."\nwords = ["npu"]\n'


def ended(case: Build, text: str) -> list[str]:
    files = {"server.py": text}
    asked = case(files, files).ruled(DROPPED).evidence("references").open
    return [each.path for each in asked if each.check == "functions that end"]


@pytest.mark.parametrize("name", EARLIER)
def test_a_function_may_end_where_something_is_asked_for(name: str, case: Build) -> None:
    assert ended(case, EARLIER[name]) == []


@pytest.mark.parametrize("name", ALWAYS)
def test_a_function_that_ends_whatever_it_is_given_is_a_question(name: str, case: Build) -> None:
    assert ended(case, ALWAYS[name]) == ["python/sglang/server.py"]
