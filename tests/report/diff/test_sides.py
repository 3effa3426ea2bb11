"""What may be compared: trees, upstreams, locks; and what is no comparison."""

from __future__ import annotations

import os
import shutil
import signal

import pytest

from shrinker.report.diff.values import Change
from tests.cli.small import FILES, World
from tests.report.diff.compared import CUDA, SERVER, diff, second, told
from tests.small import write


def test_a_tree_and_itself(world: World) -> None:
    assert world.shrink().code == 0
    done = diff(world, str(world.out), str(world.out), "--new-upstream", f"path:{world.upstream}")
    assert done.code == 0, done.err
    assert "The generated files are the same." in done.out


def test_upstreams_are_generated_once_and_taken_again(world: World) -> None:
    shutil.copytree(world.upstream, world.folder / "before")
    write(world.upstream, {CUDA: FILES[CUDA].replace("'cuda'", "'cuda 2'")})
    sides = [f"path:{world.folder / 'before'}", f"path:{world.upstream}"]
    done = diff(world, *sides)
    assert done.code == 1, done.err
    assert "generating" in done.err and "-    return 'cuda'\n+    return 'cuda 2'" in done.out
    again = diff(world, *sides)
    assert again.out == done.out and "generating" not in again.err
    assert diff(world, *sides, jobs=2).out == done.out
    shutil.rmtree(world.folder / "cache/generated")
    together = diff(world, *sides, jobs=2)
    assert together.out == done.out, together.err


def test_locks_alone_tell_the_files(world: World) -> None:
    old, new = second(world, {SERVER: FILES[SERVER] + "\nfrom sglang.srt import orphan\n\nprint(orphan.LOST)\n"})
    named = {"a": old, "b": new}
    places = [shutil.copy(tree / "SHRINK.json", world.folder / f"{name}.json") for name, tree in named.items()]
    found = told(world, *map(str, places))
    assert [row["path"] for row in found["kept"]] == ["python/sglang/srt/orphan.py"]
    assert found["kept"][0]["reason"]["cause"] == "unknown"
    assert sum("only the lock is there" in note for note in found["notes"]) == 2 and not found["text"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_unknown_predicates_are_looked_for_in_a_process_of_their_own(
    world: World, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """Where there is one for them; one that is killed is an error with a next step, and nobody waits for it."""
    process = os.getpid()

    def looked(*_: object) -> tuple[list[Change], list[str]]:
        if os.getpid() != process:
            os.kill(os.getpid(), signal.SIGKILL)
        return [], ["looked here"]

    monkeypatch.setattr("shrinker.upgrade.sides.unknown_predicates", looked)
    trees = second(world, {CUDA: FILES[CUDA] + "\n"})
    done = diff(world, *map(str, trees), jobs=jobs)
    if jobs == 1:
        assert done.code == 1 and "looked here" in done.out
    else:
        assert done.code == 2 and "was killed" in done.err and "--no-predicates" in done.err


def test_bad_input_is_no_difference(world: World) -> None:
    assert world.shrink().code == 0
    for name in ("nowhere", "git:nowhere", "release:x y", str(world.rules)):
        done = diff(world, name, str(world.out))
        assert done.code == 2 and "next: " in done.err, done.err


def test_an_upstream_that_fails_its_evidence_is_no_difference(world: World) -> None:
    write(world.upstream, {CUDA: "def start(:\n"})
    done = diff(world, f"path:{world.upstream}", f"path:{world.upstream}")
    assert done.code == 2, done.err
