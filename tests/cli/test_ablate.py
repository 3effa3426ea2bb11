"""What a rule does by itself: the tree without it against the tree with all rules."""

from __future__ import annotations

import pytest

from shrinker.pipeline import Progress, Request, Result, shrink
from shrinker.values.errors import EvidenceError
from tests.cli.small import World
from tests.small import rule

# Neither of the two does anything alone.
TWICE = "\n" + rule("fact", "npu-again", calls=["sglang.**.is_npu"], value=False)


def _effect(world: World, *names: str) -> list[dict[str, object]]:
    """What `ablate` prints of these rules; of names, those that begin with a dash are options."""
    places = ["--upstream", f"path:{world.upstream}", "--rules", str(world.rules), "--profile", world.profile]
    done = world.run(["ablate", *names, *places, "--jobs", "1", "--json"])
    assert done.code == 0, done.err
    rows = done.document
    assert isinstance(rows, list)
    return rows


def test_what_a_fact_removes(world: World) -> None:
    """Without it the test is asked again, and with it the file of the predicate is there."""
    (row,) = _effect(world, "npu")
    assert row["failed"] == ""
    assert row["paths"] == ["python/sglang/srt/utils.py"]
    assert row["files"] == {"back": 1, "gone": 0}
    assert row["definitions"] == {"back": 1, "gone": 0}
    # Five of that file, and the five of the test that are gone from server.py.
    assert row["lines"] == {"back": 10, "gone": 0}
    assert row["counted"] == {"decisions": 2, "folded_lines": 2}


def test_a_rule_whose_file_nothing_reaches_does_nothing_alone(world: World) -> None:
    (row,) = _effect(world, "remove-npu")
    assert (row["paths"], row["lines"], row["failed"]) == ([], {"back": 0, "gone": 0}, "")


def test_one_of_two_equal_rules_does_nothing_alone(world: World) -> None:
    world.add("rules/world.toml", TWICE)
    assert [row["lines"] for row in _effect(world, "npu", "npu-again")] == [{"back": 0, "gone": 0}] * 2


def test_what_a_root_keeps(world: World) -> None:
    (row,) = _effect(world, "root")
    assert row["files"] == {"back": 0, "gone": 3}
    assert row["lines"] == {"back": 0, "gone": 8}


def test_a_tree_is_only_judged_when_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --judge no evidence is asked: the counts come all the same, and equal those of a judged tree."""
    judged = _effect(world, "npu", "--judge")

    def refuse(*_: object) -> None:
        raise AssertionError("judged")

    monkeypatch.setattr("tools.ablation.shrink", refuse)
    assert _effect(world, "npu") == judged


def test_a_rule_that_evidence_needs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Request, progress: Progress) -> Result:
        if request.without:
            raise EvidenceError("level references found 1 thing wrong:\n  a.py:1: undefined", "look at it")
        return shrink(request, progress)

    monkeypatch.setattr("tools.ablation.shrink", refuse)
    row, other = _effect(world, "npu", "remove-npu", "--judge")
    assert "a.py:1: undefined" in str(row["failed"]) and row["files"] == {"back": 0, "gone": 0}
    assert "a.py:1: undefined" in str(other["failed"])


def test_an_unknown_rule_is_named_with_its_nearest(world: World) -> None:
    done = world.run(["ablate", "npus", "--rules", str(world.rules), "--profile", world.profile])
    assert done.code == 2
    assert "no rule 'npus'" in done.err and "'npu'" in done.err
