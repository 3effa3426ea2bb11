"""`shrinker leftovers`, and strict mode on a small tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.small import Done, World
from tests.small import rule

CUDA = "upstream/python/sglang/srt/cuda.py"
WORDS = "\n" + rule("platform", "words", words=["npu", "hip"])
OUTSIDE = "\n" + rule("api", "outside", users="people", names=["sglang.srt.cuda.stop", "sglang.srt.server.*"])
"""What nothing else names is here to be judged."""
REASON = "\n" + rule("leftover", "message", 'in = ["message"]', why="Text for people.", kind=["strings"])


@pytest.fixture
def judged(world: World) -> World:
    """The small world with words to judge by, and a file that is kept as it is."""
    world.add("rules/world.toml", WORDS + OUTSIDE + REASON)
    world.add("upstream/python/sglang/srt/server.py", "\nif is_npu():\n    PORT = 1\n\nSTARTED = is_npu\n")
    world.add(CUDA, "\n\ndef stop():\n    raise ValueError('not on an NPU')\n")
    return world


def ask(world: World, *more: str) -> Done:
    return world.ask("leftovers", "--rules", str(world.rules), "--upstream", f"path:{world.upstream}", *more)


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
    first = next(n for n, row in enumerate(rows) if row.startswith("predicates: 3 without a reason"))
    assert rows[first + 1].startswith("  python/sglang/srt/server.py:") and "sglang.srt.utils.is_npu" in rows[first + 1]
    assert rows.index("message: 1. Text for people.") > first


def test_json(judged: World) -> None:
    assert judged.shrink().code == 0
    done = ask(judged, "--json")
    document = done.document
    assert done.code == 1 and document["clean"] is False
    assert document["leftovers"]["predicates"] == {"total": 3, "explained": 0, "idle": 0}
    assert {site["rule"] for site in document["sites"]} == {"", "message"}
    assert document["residues"]["constant tests"] == 0
    assert document["reasons"] == {"message": 1}


def test_no_tree(world: World, tmp_path: Path) -> None:
    done = ask(world, "--json")
    assert done.code == 2 and "SHRINK.json" in done.document["error"]


def test_strict_passes_a_clean_tree(judged: World) -> None:
    mend(judged)
    done = judged.shrink("--strict")
    assert done.code == 0, done.err
    assert "lines removed by folding" in done.out and "files touched by folding" in done.out


def test_strict_refuses_a_predicate_that_no_rule_names_until_the_proposal_is_pasted(judged: World) -> None:
    mend(judged)
    judged.add(CUDA, "\n\ndef is_hip():\n    return start() == 1\n\n\nif is_hip():\n    MODE = 1\n")
    assert judged.shrink().code == 0
    before = judged.left()
    done = judged.shrink("--strict", "--json")
    error = done.document["error"]
    assert done.code == 1 and "python/sglang/srt/cuda.py:14: [unnamed-predicate] `is_hip()`" in error
    assert (judged.left(), judged.hidden()) == (before, [])

    table = error[error.index("[[fact]]") :].split("\n  ", 5)
    pasted = "\n".join(row.strip() for row in table[:5])
    judged.add("rules/world.toml", f"\n{pasted}\n")
    done = judged.shrink("--strict")
    assert done.code == 0, done.err


def test_strict_refuses_a_fact_in_a_construct_that_is_not_understood(judged: World) -> None:
    done = judged.shrink("--strict", "--json")
    assert done.code == 1
    error = done.document["error"]
    assert "[undecided-fact] rule npu (world.toml:6) decides" in error and "[[leftover]]" in error


def test_contradicting_rules_are_refused_before_anything_is_read(judged: World) -> None:
    judged.add("rules/world.toml", "\n" + rule("fact", "other", calls=["sglang.srt.utils.is_npu"], value=True))
    done = judged.shrink()
    assert done.code == 2
    assert "world.toml:6: rule npu says" in done.err and "rule other says" in done.err
    assert "] facts" not in done.err
