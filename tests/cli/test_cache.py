"""The cache of results changes how long a run takes, and nothing else."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from shrinker.program.symbols.saved import found_symbols
from shrinker.report.write import Begun, begin_reports
from shrinker.values.errors import InputError
from tests.cli.small import RULES, World, write

LAYERS = {"folded", "form", "imports", "outlines", "rewritten", "structure", "symbols"}


def _outcome(world: World) -> dict[str, bytes]:
    """Everything that a run wrote but what differs from run to run."""
    return {path: data for path, data in world.left().items() if not path.endswith("run.json")}


def _counts(world: World) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = json.loads((world.reports / "run.json").read_text())["cache"]
    return counts


def _computed(world: World) -> dict[str, int]:
    return {name: row["asked"] - row["found"] for name, row in _counts(world).items()}


def _run(world: World, *more: str) -> dict[str, bytes]:
    done = world.shrink(*more)
    assert done.code == 0, done.err
    return _outcome(world)


def test_the_same_bytes_cold_and_warm(world: World) -> None:
    without = _run(world, "--no-cache")
    assert not (world.folder / "cache/results").exists()
    assert _run(world) == without
    assert _computed(world)["folded"] > 3
    assert _run(world) == without
    assert _counts(world).keys() >= LAYERS
    assert {name: _computed(world)[name] for name in LAYERS} == dict.fromkeys(LAYERS, 0)


def test_reports_beside_the_evidence_are_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that finds its analysis again writes them in a process of their own."""
    begun: list[int] = []

    def here(*arguments: Any, **named: Any) -> Begun:
        begun.append(os.getpid())
        return begin_reports(*arguments, **named)

    monkeypatch.setattr("shrinker.pipeline.begin_reports", here)
    assert world.run(world.arguments(jobs=2)).code == 0
    first = _outcome(world)
    assert begun == [os.getpid()]
    assert world.run(world.arguments(jobs=2)).code == 0
    assert _outcome(world) == first
    assert begun == [os.getpid()]
    # What it found counts, and what it asked counts once.
    assert _counts(world)["structure"] == {"asked": 1, "found": 1}
    assert {name: _computed(world)[name] for name in LAYERS} == dict.fromkeys(LAYERS, 0)


@pytest.mark.parametrize("killed", [True, False])
def test_reports_that_fail_beside_the_evidence_replace_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    _run(world)
    before = world.left()

    def fails(*_: Any, **__: Any) -> Begun:
        if killed:
            os.kill(os.getpid(), signal.SIGKILL)
        raise InputError("no space left on the device", "free some")

    monkeypatch.setattr("shrinker.pipeline.begin_reports", fails)
    done = world.run(world.arguments(jobs=2))
    assert done.code == 2 and ("was killed" if killed else "no space left") in done.err
    assert world.left() == before and world.hidden() == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("python/sglang/srt/server.py", "PORT = 30000", "PORT = 30001"),
        ("python/sglang/srt/utils.py", "return hasattr", "print()\n    return hasattr"),
        ("python/sglang/srt/utils.py", "def is_npu", "def is_other"),
        ("python/sglang/srt/cuda.py", "def start", "from sglang.srt import orphan\n\n\ndef start"),
        ("LICENSE", "License", "License 2"),
    ],
)
def test_one_file_changed_and_changed_back(world: World, path: str, old: str, new: str) -> None:
    first = _run(world)
    file = world.upstream / path
    before = file.read_text()
    assert old in before
    file.write_text(before.replace(old, new))
    warm = _run(world)
    computed = _computed(world)
    # What the facts decided without it is in the names of upstream that are gone, and nowhere else.
    others = [{name: data for name, data in left.items() if name != "tree.reports/api.md"} for left in (first, warm)]
    for left in others:
        graph = json.loads(left.pop("tree.reports/graph.json"))
        del graph["gone"]
        left["graph"] = json.dumps(graph).encode()
    assert (others[0] == others[1]) is (new == "def is_other")
    assert _run(world, "--no-cache") == warm
    assert computed["outlines"] <= 1
    file.write_text(before)
    assert _run(world) == first
    assert _computed(world)["folded"] == 0


def test_an_edit_inside_a_function_folds_one_module(world: World) -> None:
    _run(world)
    write(world.upstream, {"python/sglang/srt/cuda.py": "def start():\n    name = 'cuda'\n    return name\n"})
    _run(world)
    # Once as it is, and once with what the refinement rounds found out for it.
    assert 1 <= _computed(world)["folded"] <= 2
    assert _counts(world)["folded"]["asked"] >= 4


_METHODS = """\
def start():
    return Engine().run()


class Engine:
    def run(self):
        self.state = "{}"
        return self.state


def unused():
    return 1
"""
_ANEW = "decided anew"


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("old", "new", "anew"),
    [
        ("        return self.state", "        return unused()", True),
        ("        return self.state", "        return str(self.state)", False),
        ("        self.state", "\n        self.state", False),
    ],
    ids=["another symbol lives", "the same symbols live", "lines moved"],
)
def test_a_run_that_supposes_what_a_search_will_find(world: World, old: str, new: str, anew: bool, jobs: int) -> None:
    """The tree is written before it is known whether it holds: what is put in its place does."""
    path = "python/sglang/srt/cuda.py"
    write(world.upstream, {path: _METHODS})
    first = _run(world)
    write(world.upstream, {path: _METHODS.replace(old, new)})
    done = world.run(world.arguments(jobs=jobs))
    assert done.code == 0 and (_ANEW in done.err) is anew
    warm = _outcome(world)
    assert warm != first and world.hidden() == []
    assert _run(world, "--no-cache") == warm


def test_a_search_that_is_killed_proves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "python/sglang/srt/cuda.py"
    write(world.upstream, {path: _METHODS})
    _run(world)
    write(world.upstream, {path: _METHODS.replace("return self.state", "return str(self.state)")})

    def killed(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patched:
        patched.setattr("shrinker.pipeline.rebase.search_again", killed)
        done = world.run(world.arguments())
    assert done.code == 0 and _ANEW in done.err
    warm = _outcome(world)
    assert _run(world, "--no-cache") == warm


@pytest.mark.parametrize("killed", [True, False])
def test_what_a_search_found_is_told_beside(world: World, monkeypatch: pytest.MonkeyPatch, killed: bool) -> None:
    """Where little is left to do, a process of its own tells it; where that is killed, this one does."""
    path = "python/sglang/srt/cuda.py"
    # Few of many are folded anew then.
    others = {f"python/sglang/srt/part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(40)}
    named = "\n".join(f"from sglang.srt.part{n} import part{n}" for n in range(40))
    called = ", ".join(f"part{n}()" for n in range(40))
    write(world.upstream, {path: f"{named}\n\n\ndef start():\n    return {called}\n", **others})
    _run(world)
    write(
        world.upstream,
        {"python/sglang/srt/part7.py": "def part7():\n    return more()\n\n\ndef more():\n    return 1\n"},
    )
    told: list[int] = []
    parent = os.getpid()

    def here(*arguments: Any) -> Any:
        if killed and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        told.append(os.getpid())
        return found_symbols(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr("shrinker.pipeline.analysis.found_symbols", here)
        done = world.run(world.arguments(jobs=2))
    assert done.code == 0 and told == [parent] * killed
    warm = _outcome(world)
    assert _run(world, "--no-cache") == warm


def test_a_changed_rule_is_a_changed_result(world: World) -> None:
    first = _run(world)
    text = RULES["world.toml"].partition("[[remove]]")[0].replace("value = false", "value = true")
    write(world.rules, {"world.toml": text})
    warm = _run(world)
    assert warm != first
    assert _run(world, "--no-cache") == warm
    write(world.rules, RULES)
    assert _run(world) == first


def test_a_broken_cache_is_no_cache(world: World) -> None:
    first = _run(world)
    file = world.folder / "cache/results/results.sqlite"
    whole = file.read_bytes()
    for damage in (b"", whole[:5000], whole[: len(whole) // 2], b"x" * len(whole), _scrambled(whole)):
        file.write_bytes(damage)
        assert _run(world) == first
    assert _run(world) == first
    assert _computed(world)["folded"] == 0


def _scrambled(whole: bytes) -> bytes:
    half = len(whole) // 2
    return whole[:4096] + bytes(byte ^ 1 for byte in whole[4096:half]) + whole[half:]


def test_judging_again_takes_nothing_from_the_cache(world: World) -> None:
    _run(world)
    results = world.folder / "cache/results/results.sqlite"
    before = results.read_bytes()
    done = world.run(["verify", "--out", str(world.out), "--upstream", f"path:{world.upstream}"])
    assert done.code == 0, done.err
    assert results.read_bytes() == before


def test_a_tree_that_was_changed_after_a_run_is_still_judged(world: World) -> None:
    _run(world)
    file = world.out / "python/sglang/srt/server.py"
    file.write_text(file.read_text() + "PORT = 1\n")
    done = world.run(["verify", "--out", str(world.out), "--upstream", f"path:{world.upstream}"])
    assert done.code == 1


def test_the_cache_is_cleared_with_the_rest(world: World) -> None:
    from shrinker.source.cache import clear

    _run(world)
    cache = world.folder / "cache"
    assert {p.name for p in cache.iterdir()} >= {"results", "stamps", "trees"}
    (cache / "mine").mkdir()
    clear(cache)
    assert [p.name for p in cache.iterdir()] == ["mine"]
