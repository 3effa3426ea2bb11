"""The small world, once as it is and once with its tree generated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.small import FILES, RULES, World, write


@pytest.fixture
def world(tmp_path: Path) -> World:
    write(tmp_path / "upstream", FILES)
    write(tmp_path / "rules", RULES)
    return World(tmp_path)


@pytest.fixture
def generated(world: World) -> World:
    done = world.shrink()
    assert done.code == 0, done.err
    return world
