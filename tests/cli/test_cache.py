"""The cache of results changes how long a run takes, and nothing else."""

import json
from typing import Any

import pytest

from shrinker.values.errors import InputError
from tests.cli.small import World

LAYERS = {"analyses", "form", "rewritten", "symbols"}


def _outcome(world: World) -> dict[str, bytes]:
    """Everything that a run wrote but what differs from run to run."""
    return {path: data for path, data in world.left().items() if not path.endswith("run.json")}


def _counts(world: World) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = json.loads((world.reports / "run.json").read_text())[
        "cache"
    ]
    return counts


def _computed(world: World) -> dict[str, int]:
    return {name: row["asked"] - row["found"] for name, row in _counts(world).items()}


def _run(world: World, *more: str) -> dict[str, bytes]:
    world.shrink(*more).expect(0)
    return _outcome(world)


def test_the_same_bytes_cold_and_warm(world: World) -> None:
    without = _run(world, "--no-cache")
    assert not (world.folder / "cache/results").exists()
    assert _run(world) == without
    assert _computed(world)["folded"] > 3
    assert _run(world) == without
    assert _counts(world).keys() >= LAYERS
    assert {name: _computed(world)[name] for name in LAYERS} == dict.fromkeys(LAYERS, 0)


def test_reports_that_fail_replace_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(world)
    before = world.left()

    def fails(*_: Any, **__: Any) -> None:
        raise InputError("no space left on the device", "free some")

    monkeypatch.setattr("shrinker.pipeline.write_reports", fails)
    done = world.run(world.arguments(jobs=2))
    assert done.code == 2 and "no space left" in done.err
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
    gone = ("tree.reports/api.md", "tree.reports/index.html")
    others = [
        {name: data for name, data in left.items() if name not in gone} for left in (first, warm)
    ]
    for left in others:
        graph = json.loads(left.pop("tree.reports/graph.json"))
        del graph["gone"]
        left["graph"] = json.dumps(graph).encode()
    assert (others[0] == others[1]) is (new == "def is_other")
    assert _run(world, "--no-cache") == warm
    # A file that no step keeps changes nothing.
    assert computed.get("outlines", 0) <= 1
    file.write_text(before)
    assert _run(world) == first
    assert _computed(world)["analyses"] == 0


def test_judging_again_takes_nothing_from_the_cache(world: World) -> None:
    _run(world)
    results = world.folder / "cache/results/results.sqlite"
    before = results.read_bytes()
    world.verify().expect(0)
    assert results.read_bytes() == before


def test_the_cache_is_cleared_with_the_rest(world: World) -> None:
    from shrinker.source.cache import clear

    _run(world)
    cache = world.folder / "cache"
    assert {p.name for p in cache.iterdir()} >= {"results", "trees"}
    (cache / "mine").mkdir()
    clear(cache)
    assert [p.name for p in cache.iterdir()] == ["mine"]
