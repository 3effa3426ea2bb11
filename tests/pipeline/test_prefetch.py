"""What is read ahead is what would be read later; without it only time is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from shrinker.cache import Cache, unpack
from shrinker.check.prefetch import prefetch_upstream
from shrinker.check.reader import read_symbols
from shrinker.check.symbols import SYMBOLS
from shrinker.pipeline import prefetch
from shrinker.ruleset import Ruleset
from shrinker.values.graph import Graph
from tests.cli.small import RULES, World, large, write
from tests.fold.programs import make_tree

MODULES = {f"python/sglang/m{n}.py": f"import os\n\n\ndef f{n}():\n    return os.name\n" for n in range(30)}
FILES = MODULES | {"python/sglang/broken.py": "def\n", "notes/read.txt": "words\n"}


def test_the_judge_finds_what_it_would_read(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "up", FILES)
    paths = [path for path in FILES if path.endswith(".py")]
    cache = Cache(tmp_path / "cache")
    prefetch_upstream(tree, paths, Ruleset(), cache)
    layer = cache.layer(SYMBOLS)
    found = layer.load({path: layer.key(path, tree.by_path[path].sha256) for path in paths})
    assert {path: unpack(data) for path, data in found.items()} == {
        path: read_symbols(tree.root / path, path) for path in paths
    }
    again = Cache(tmp_path / "cache")
    prefetch_upstream(tree, paths, Ruleset(), again)
    assert {
        name: (count.asked, count.found)
        for name, count in again.counts.items()
        if name in (SYMBOLS, "constant functions")
    } == {
        SYMBOLS: (31, 31),
        "constant functions": (31, 31),
    }


def _kept() -> Graph:
    return Graph((), dict.fromkeys(FILES, "kept"), {}, ())


def test_it_leaves_the_results_in_the_cache_and_ends(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "up", FILES)
    cache = Cache(tmp_path / "cache")
    with ExitStack() as stack:
        process = prefetch.SpareTime(tree, Ruleset(), cache, stack)
        process.start(_kept())
        layer = cache.layer(SYMBOLS)
        keys = {path: layer.key(path, tree.by_path[path].sha256) for path in MODULES}
        deadline = time.monotonic() + 30
        while len(layer.load(keys)) < len(keys) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert layer.load(keys).keys() == keys.keys()
        # Once is enough.
        process.start(_kept())
        assert len(multiprocessing.active_children()) == 1
    assert multiprocessing.active_children() == []


def test_it_ends_when_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"

    def slow(*_: object) -> None:
        begun.touch()
        time.sleep(0.2)

    monkeypatch.setattr(prefetch, "prefetch_upstream", slow)
    monkeypatch.setattr(prefetch, "_FILES", 1)
    tree = make_tree(tmp_path / "up", FILES)
    with ExitStack() as stack:
        process = prefetch.SpareTime(tree, Ruleset(), Cache(tmp_path / "cache"), stack)
        process.start(_kept())
        while not begun.exists():
            time.sleep(0.01)
        start = time.monotonic()
        process.stop()
    # Thirty files were left.
    assert time.monotonic() - start < 3


def test_without_a_cache_nothing_is_begun(tmp_path: Path) -> None:
    with ExitStack() as stack:
        prefetch.SpareTime(make_tree(tmp_path, FILES), Ruleset(), Cache.off(), stack).start(_kept())
        assert multiprocessing.active_children() == []


@pytest.mark.parametrize("way", ["whole", "killed", "failed"])
def test_the_tree_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    owner = os.getpid()

    def ahead(*arguments: object) -> None:
        assert os.getpid() != owner
        if way == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if way == "failed":
            raise OSError("no such file")
        prefetch_upstream(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(prefetch, "prefetch_upstream", ahead)
    world = World(tmp_path)
    write(world.upstream, large())
    write(world.rules, RULES)
    assert world.run(world.arguments("--no-cache")).code == 0
    without = {path: data for path, data in world.left().items() if not path.endswith("run.json")}
    done = world.run(world.arguments(jobs=2))
    assert done.code == 0, done.err
    assert {path: data for path, data in world.left().items() if not path.endswith("run.json")} == without
    assert "Traceback" not in done.err
