"""`shrinker leftovers` and strict mode, what a rule does by itself (`ablate`), on a small tree."""

from pathlib import Path

import pytest

from shrinker.pipeline import Progress, Request, Result, shrink
from shrinker.values.errors import EvidenceError
from tests.cli.small import Done, World
from tests.small import rule

CUDA = "upstream/python/sglang/srt/cuda.py"
WORDS = "\n" + rule("platform", "words", words=["npu", "hip"])
OUTSIDE = "\n" + rule(
    "api", "outside", users="people", names=["sglang.srt.cuda.stop", "sglang.srt.server.*"]
)
"""What nothing else names is here to be judged."""
REASON = "\n" + rule(
    "leftover", "message", 'in = ["message"]', why="Text for people.", kind=["strings"]
)


@pytest.fixture
def judged(world: World) -> World:
    """The small world with words to judge by, and a file that is kept as it is."""
    world.add("rules/world.toml", WORDS + OUTSIDE + REASON)
    world.add(
        "upstream/python/sglang/srt/server.py", "\nif is_npu():\n    PORT = 1\n\nSTARTED = is_npu\n"
    )
    world.add(CUDA, "\n\ndef stop():\n    raise ValueError('not on an NPU')\n")
    return world


def ask(world: World, *more: str) -> Done:
    return world.ask(
        "leftovers", "--rules", str(world.rules), "--upstream", f"path:{world.upstream}", *more
    )


def mend(world: World) -> None:
    """Take the last question out of upstream."""
    path = world.upstream / "python/sglang/srt/server.py"
    path.write_text(path.read_text().replace("\nSTARTED = is_npu\n", ""))


def test_a_clean_tree(judged: World) -> None:
    mend(judged)
    assert judged.shrink().code == 0
    done = ask(judged)
    assert done.code == 0, done.out
    assert "message: 1. Text for people." in done.out and "without a reason" not in done.out
    site = "python/sglang/srt/cuda.py:6: not on an NPU  (message in sglang.srt.cuda.stop)"
    assert site not in done.out
    done = ask(judged, "--all")
    assert done.code == 0 and site in done.out


def test_an_unexplained_leftover(judged: World) -> None:
    assert judged.shrink().code == 0
    done = ask(judged)
    assert done.code == 1
    rows = done.out.splitlines()
    first = next(
        n for n, row in enumerate(rows) if row.startswith("predicates: 3 without a reason")
    )
    assert (
        rows[first + 1].startswith("  python/sglang/srt/server.py:")
        and "sglang.srt.utils.is_npu" in rows[first + 1]
    )
    assert rows.index("message: 1. Text for people.") > first


def test_json(judged: World) -> None:
    assert judged.shrink().code == 0
    done = ask(judged, "--json")
    document = done.document
    assert done.code == 1 and document["clean"] is False
    assert document["leftovers"]["predicates"] == {"total": 3, "explained": 0, "idle": 0}
    assert {site["rule"] for site in document["sites"]} == {"", "message"}
    assert document["reasons"] == {"message": 1}


def test_no_tree(world: World, tmp_path: Path) -> None:
    done = ask(world, "--json")
    assert done.code == 2 and "SHRINK.json" in done.document["error"]


def test_strict_passes_a_clean_tree(judged: World) -> None:
    mend(judged)
    done = judged.shrink("--strict").expect(0)
    assert "lines removed by folding" in done.out and "files touched by folding" in done.out


def test_strict_refuses_a_predicate_that_no_rule_names_until_the_proposal_is_pasted(
    judged: World,
) -> None:
    mend(judged)
    judged.add(
        CUDA,
        (
            "\n\ndef is_hip():\n    return start() == 1\n\n\nif is_hip():\n    MODE = 1\n    "
            "print(MODE)\n"
        ),
    )
    assert judged.shrink().code == 0
    before = judged.left()
    done = judged.shrink("--strict", "--json")
    error = done.document["error"]
    assert (
        done.code == 1 and "python/sglang/srt/cuda.py:13: [unnamed-predicate] `is_hip()`" in error
    )
    assert (judged.left(), judged.hidden()) == (before, [])

    table = error[error.index("[[fact]]") :].split("\n  ", 5)
    pasted = "\n".join(row.strip() for row in table[:5])
    judged.add("rules/world.toml", f"\n{pasted}\n")
    judged.shrink("--strict").expect(0)


def test_strict_refuses_a_fact_in_a_construct_that_is_not_understood(judged: World) -> None:
    done = judged.shrink("--strict", "--json")
    assert done.code == 1
    error = done.document["error"]
    assert "[undecided-fact] rule npu (world.toml:6) decides" in error and "[[leftover]]" in error


def test_contradicting_rules_are_refused_before_anything_is_read(judged: World) -> None:
    judged.add(
        "rules/world.toml",
        "\n" + rule("fact", "other", calls=["sglang.srt.utils.is_npu"], value=True),
    )
    done = judged.shrink()
    assert done.code == 2
    assert "world.toml:6: rule npu says" in done.err and "rule other says" in done.err
    assert "] facts" not in done.err


# Neither of the two does anything alone.
TWICE = "\n" + rule("fact", "npu-again", calls=["sglang.**.is_npu"], value=False)


def _effect(world: World, *names: str) -> list[dict[str, object]]:
    """What `ablate` prints of these rules; of names, those that begin with a dash are options."""
    places = [
        "--upstream",
        f"path:{world.upstream}",
        "--rules",
        str(world.rules),
        "--profile",
        world.profile,
    ]
    done = world.run(["ablate", *names, *places, "--jobs", "1", "--json"]).expect(0)
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
    assert [row["lines"] for row in _effect(world, "npu", "npu-again")] == [
        {"back": 0, "gone": 0}
    ] * 2


def test_what_a_root_keeps(world: World) -> None:
    (row,) = _effect(world, "root")
    assert row["files"] == {"back": 0, "gone": 3}
    assert row["lines"] == {"back": 0, "gone": 8}


def test_a_tree_is_only_judged_when_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --judge no evidence is asked: the counts come all the same, and equal those of a
    judged tree.
    """
    judged = _effect(world, "npu", "--judge")

    def refuse(*_: object) -> None:
        raise AssertionError("judged")

    monkeypatch.setattr("tools.ablation.shrink", refuse)
    assert _effect(world, "npu") == judged


def test_a_rule_that_evidence_needs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Request, progress: Progress) -> Result:
        if request.without:
            raise EvidenceError(
                "level references found 1 thing wrong:\n  a.py:1: undefined", "look at it"
            )
        return shrink(request, progress)

    monkeypatch.setattr("tools.ablation.shrink", refuse)
    row, other = _effect(world, "npu", "remove-npu", "--judge")
    assert "a.py:1: undefined" in str(row["failed"]) and row["files"] == {"back": 0, "gone": 0}
    assert "a.py:1: undefined" in str(other["failed"])


def test_an_unknown_rule_is_named_with_its_nearest(world: World) -> None:
    done = world.run(["ablate", "npus", "--rules", str(world.rules), "--profile", world.profile])
    assert done.code == 2
    assert "no rule 'npus'" in done.err and "'npu'" in done.err
