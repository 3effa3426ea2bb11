"""Ctrl-C, SIGTERM, a killed worker, a full disk, runs killed or side by side: the tree, its reports
and its lock stay one run's, and the cache tells no lie. `tests/benchmarks` kills runs at any
moment.
"""

import multiprocessing
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from shrinker.cache.workers import WorkerPool
from tests.cli.small import World, large, small_world
from tests.small import content


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A large small world with a tree, generated once; tests take a copy."""
    world = small_world(tmp_path_factory.mktemp("template"), large())
    world.shrink().expect(0)
    return world


@pytest.fixture
def previous(template: World, tmp_path: Path) -> World:
    """A generated tree, and an upstream that would give another one."""
    shutil.copytree(template.folder, tmp_path, dirs_exist_ok=True)
    return _changed(World(tmp_path))


@pytest.fixture
def little(generated: World) -> World:
    """The same of a world of a few lines, where no worker is at work."""
    return _changed(generated)


def _changed(world: World) -> World:
    file = world.upstream / "python/sglang/srt/cuda.py"
    file.write_text(file.read_text().replace("'cuda'", "'new'"))
    return world


@pytest.mark.parametrize(
    ("phase", "number", "group"),
    [
        ("source", signal.SIGINT, False),
        ("facts+", signal.SIGINT, True),
        ("fold and graph+", signal.SIGINT, True),
        ("fold and graph+", signal.SIGTERM, False),
        ("emit", signal.SIGINT, True),
        ("emit", signal.SIGTERM, False),
        ("verify references", signal.SIGHUP, False),
        ("report", signal.SIGTERM, True),
    ],
)
def test_a_signal_in_the_middle(
    previous: World, phase: str, number: signal.Signals, group: bool
) -> None:
    before = previous.left()
    done = previous.paused(phase, jobs=2).signal(number, group)
    assert done.code == 130, done.err
    assert "interrupted" in done.err and "Traceback" not in done.err
    assert (previous.left(), previous.hidden()) == (before, [])


@pytest.mark.parametrize("phase", ["facts+", "fold and graph+"])
def test_a_killed_worker(previous: World, phase: str) -> None:
    before = previous.left()
    paused = previous.paused(phase, jobs=2, then="slow 0.15")
    os.kill(paused.workers[0], signal.SIGKILL)
    # While the run waits: the pool needs a moment to see it.
    time.sleep(0.3)
    done = paused.go_on()
    assert done.code == 2, done.err
    assert (
        "worker process was killed" in done.err
        and "JOBS" in done.err
        and "Traceback" not in done.err
    )
    assert (previous.left(), previous.hidden()) == (before, [])


def _large(marker: str) -> bytes:
    Path(marker).write_text("")
    return bytes(30_000_000)


def test_a_worker_killed_in_the_middle_of_a_large_result(tmp_path: Path) -> None:
    """The standard pool waits for ever for the rest of it."""
    marker = tmp_path / "working"
    with WorkerPool(1) as pool:
        futures = [pool.submit(_large, str(marker)) for _ in range(50)]
        while not marker.exists():
            time.sleep(0.001)
        [worker] = multiprocessing.active_children()
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            futures[-1].result(timeout=60)
        folder = Path(pool._folder.name)
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", ["cuda.py", "SHRINK.json", "keep.txt", "graph.json", "shrink.lock.json"]
)
def test_a_full_disk(little: World, name: str) -> None:
    before = little.left()
    done = little.paused("source", then=f"full {name}").go_on()
    assert done.code == 2, done.err
    assert "No space left" in done.err and "space" in done.err.splitlines()[-1]
    assert (little.left(), little.hidden()) == (before, [])


def test_a_killed_run_leaves_nothing_for_the_next(little: World) -> None:
    before = little.left()
    paused = little.paused("verify form")
    os.kill(paused.process.pid, signal.SIGKILL)
    assert paused.end().code == -signal.SIGKILL
    assert len(little.hidden()) == 2
    assert {
        name: data for name, data in little.left().items() if not name.startswith(".")
    } == before
    # Still the previous run's, and whole.
    assert little.ask("why", "cuda.py").code == 0
    assert little.shrink().code == 0
    assert little.hidden() == []
    assert b"'new'" in little.left()["tree/python/sglang/srt/cuda.py"]


@pytest.mark.parametrize("renames", [0, 1, 2, 3, -2, -1])
def test_a_run_that_dies_in_the_replacement_is_seen_and_mended(little: World, renames: int) -> None:
    old = little.left()
    # The old tree away, the new one in, and every report; the lock is the last of these.
    every = 2 + sum(1 for _ in little.reports.iterdir())
    before = renames % every
    done = little.paused("source", then=f"die {before}").go_on()
    assert done.code == 9, done.err
    left = little.left()
    if before == 0:
        assert {name: data for name, data in left.items() if not name.startswith(".")} == old
    elif before == 1:
        assert not little.out.exists()
        assert little.ask("why", "cuda.py").code == 2
    else:
        assert b"'new'" in left["tree/python/sglang/srt/cuda.py"]
        assert left["tree.reports/shrink.lock.json"] == old["tree.reports/shrink.lock.json"]
        told = little.ask("why", "cuda.py")
        assert told.code == 2 and "killed before it ended" in told.err
        told = little.verify("--level", "form")
        assert told.code == 1 and "lock: FAILED" in told.out
    assert little.shrink().code == 0
    assert little.hidden() == []
    assert little.verify("--level", "form").code == 0
    assert little.ask("why", "cuda.py").code == 0


def test_a_first_run_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    world = small_world(tmp_path)
    assert world.paused("report").signal(signal.SIGINT).code == 130
    assert world.left() == {} and world.hidden() == []


def test_an_interrupted_run_with_json(little: World) -> None:
    paused = little.paused("verify form", more=("--json",))
    done = paused.signal(signal.SIGTERM)
    assert done.code == 130 and done.document["exit"] == 130


def test_an_error_in_a_process_of_its_own(little: World) -> None:
    done = little.process([*little.arguments(upstream="release:x"), "--json"])
    assert done.code == 2 and done.document["exit"] == 2


@pytest.mark.parametrize("same", [True, False])
def test_two_runs_at_once(world: World, same: bool) -> None:
    other = World(world.folder)
    if not same:
        other = World(world.folder / "second")
        shutil.copytree(world.upstream, other.upstream)
        shutil.copytree(world.rules, other.rules)
    shared = {"SHRINKER_CACHE": str(world.folder / "cache"), "HOME": str(world.folder / "home")}
    with ThreadPoolExecutor() as both:
        codes = [
            done.code
            for done in both.map(lambda one: one.process(one.arguments(), **shared), (world, other))
        ]
    assert sorted(codes) in ([[0, 0], [0, 2]] if same else [[0, 0]])
    first = content(world.out)
    assert world.hidden() == [] and other.hidden() == []
    assert content(other.out) == first
    assert world.shrink("--no-cache").code == 0
    assert content(world.out) == first
    world.verify().expect(0)


def test_a_cache_that_cannot_be_written_costs_time_and_nothing_else(
    world: World, tmp_path: Path
) -> None:
    assert world.shrink("--no-cache").code == 0
    first = content(world.out)
    results = world.folder / "cache/results"
    shutil.rmtree(results, ignore_errors=True)
    # A file where the folder is to be: nothing can be written there, as on a full disk.
    results.parent.mkdir(exist_ok=True)
    results.write_text("")
    assert world.shrink().code == 0
    assert content(world.out) == first
