"""The small world, which every comparison changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.small import World, small_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return small_world(tmp_path)
