"""What strangers' programs reach, planted behind the back of the engine: a static level finds each
fault by itself.
"""

from pathlib import Path

import pytest

from tests.check.trees import Build, what_is_left
from tests.small import read_cases, rule

CASES = read_cases(Path(__file__).with_name("reached.txtar"))
CHECKS = {
    "a module that a try binds": "held modules",
    "a submodule of a library": "loaded submodules",
    "a submodule of the tree": "module attributes",
    "a field of a format": "members",
    "a local of a frame": "frames",
    "an entry that a walk asks for": "names by text",
    "an alias of types": "undefined names",
}
RULES = rule("remove", "remove-npu", feature="NPU", modules=["sglang.npu_config"])


def found(case: Build, name: str, *, planted: bool) -> set[str]:
    """The checks of the level *references* that speak of a case."""
    files = CASES[name]
    generated = what_is_left(files) if planted else dict.fromkeys(files, "=")
    evidence = case(files, generated).ruled(RULES).evidence("references")
    return {finding.check for finding in (*evidence.findings, *evidence.open)}


@pytest.mark.parametrize("name", CHECKS)
def test_a_tree_without_the_fault_passes(case: Build, name: str) -> None:
    assert found(case, name, planted=False) == set()


@pytest.mark.parametrize("name", CHECKS)
def test_the_fault_is_found(case: Build, name: str) -> None:
    assert CHECKS[name] in found(case, name, planted=True)


def test_every_case_has_its_check() -> None:
    assert list(CASES) == list(CHECKS)


def test_what_reads_frames_of_others_alone_asks_nothing(case: Build) -> None:
    files = CASES["a local of a frame"]
    others = rule("external", "frames", frames=["sglang.main"])
    evidence = case(files, what_is_left(files)).ruled(others).evidence("references")
    assert [finding.check for finding in evidence.findings] == []
