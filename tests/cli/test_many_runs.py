"""Runs that are killed at any moment, runs side by side, a full disk under the cache: the output is whole, and the cache tells no lie."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.small import FILES, World
from tests.small import content, write

CUDA = "python/sglang/srt/cuda.py"
KILLS = 20


def _start(world: World, jobs: int = 1, **extra: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "shrinker.cli", *world.arguments(jobs=jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=world.folder,
        env=world.environment(**extra),
        start_new_session=True,
    )


def test_killed_at_twenty_random_moments(generated: World) -> None:
    world = generated
    states = {"cuda": content(world.out)}
    write(world.upstream, {CUDA: FILES[CUDA].replace("'cuda'", "'new'")})
    start = time.perf_counter()
    fresh = World(world.folder)
    done = fresh.process(fresh.arguments())
    assert done.code == 0, done.err
    usual = time.perf_counter() - start
    states["new"] = content(world.out)
    chance = random.Random(7)
    killed = 0
    for number in range(KILLS):
        text = "'new'" if number % 2 else "'cuda'"
        write(world.upstream, {CUDA: FILES[CUDA].replace("'cuda'", text)})
        run = _start(world, jobs=1 + number % 2)
        time.sleep(chance.uniform(0.05, 0.75) * usual)
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            killed += 1
        run.communicate(timeout=60)
        # Away for a moment only when it died between two renames: the next run moves it back.
        assert not world.out.exists() or content(world.out) in states.values()
    # Fewer than half are alive then where the machine gets faster in between.
    assert killed >= KILLS // 4, "otherwise this shows nothing"
    for name in ("cuda", "new"):
        write(world.upstream, {CUDA: FILES[CUDA].replace("'cuda'", f"'{name}'")})
        done = world.shrink()
        assert done.code == 0, done.err
        assert content(world.out) == states[name], "what killed runs left in the cache is right"
        assert world.hidden() == []
    done = world.verify()
    assert done.code == 0, done.out


@pytest.mark.parametrize("same", [True, False])
def test_two_runs_at_once(world: World, same: bool) -> None:
    other = World(world.folder)
    if not same:
        other = World(world.folder / "second")
        shutil.copytree(world.upstream, other.upstream)
        shutil.copytree(world.rules, other.rules)
    shared = {"SHRINKER_CACHE": str(world.folder / "cache"), "HOME": str(world.folder / "home")}
    runs = [_start(world, 1, **shared), _start(other, 1, **shared)]
    for run in runs:
        _, said = run.communicate(timeout=120)
        assert run.returncode == 0 or (same and run.returncode == 2), said
    assert any(run.returncode == 0 for run in runs)
    first = content(world.out)
    assert world.hidden() == [] and other.hidden() == []
    if not same:
        assert content(other.out) == first
    assert world.shrink("--no-cache").code == 0
    assert content(world.out) == first
    done = world.verify()
    assert done.code == 0, done.out


def test_a_cache_that_cannot_be_written_costs_time_and_nothing_else(world: World, tmp_path: Path) -> None:
    assert world.shrink("--no-cache").code == 0
    first = content(world.out)
    results = world.folder / "cache/results"
    shutil.rmtree(results, ignore_errors=True)
    # A file where the folder is to be: nothing can be written there, as on a full disk.
    results.parent.mkdir(exist_ok=True)
    results.write_text("")
    assert world.shrink().code == 0
    assert content(world.out) == first
