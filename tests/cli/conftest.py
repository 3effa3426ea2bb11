"""The small world, once as it is and once with its tree generated."""

from pathlib import Path

import pytest

from tests.cli.small import World, small_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return small_world(tmp_path)


@pytest.fixture
def generated(world: World) -> World:
    world.shrink().expect(0)
    return world
