"""Two trees of the small world, and what `diff` tells of them."""

import shutil
from pathlib import Path
from typing import Any

from tests.cli.small import Done, World
from tests.small import write

SERVER = "python/sglang/srt/server.py"
CUDA = "python/sglang/srt/cuda.py"


def second(world: World, files: dict[str, str], rules: dict[str, str] | None = None) -> tuple[Path, Path]:
    """The tree of the world as it is, kept aside, and the one that it gives after the changes; both with their upstream."""
    world.shrink().expect(0)
    old = world.folder / "old"
    shutil.copytree(world.out, old / "tree")
    shutil.copytree(world.reports, old / "tree.reports")
    shutil.copytree(world.upstream, world.folder / "before")
    write(world.upstream, files)
    write(world.rules, rules or {})
    world.shrink().expect(0)
    return old / "tree", world.out


def diff(world: World, *words: str, jobs: int = 1) -> Done:
    """The command, by the rules of the world."""
    return world.run(["diff", *words, "--rules", str(world.rules), "--profile", world.profile, "--jobs", str(jobs)])


def told(world: World, *words: str) -> dict[str, Any]:
    """What the command writes for programs, its tables with the rest."""
    done = diff(world, *words, "--json")
    assert done.code == 1, done.err
    document: dict[str, Any] = done.document
    return {**document, **document["tables"]}


def compared(world: World, trees: tuple[Path, Path]) -> dict[str, Any]:
    """What is told of two trees whose upstreams are there."""
    upstreams = ["--old-upstream", f"path:{world.folder / 'before'}", "--new-upstream", f"path:{world.upstream}"]
    return told(world, *map(str, trees), *upstreams)


def changed(world: World, before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    """What is told when upstream's files change."""
    write(world.upstream, before)
    return compared(world, second(world, after))
