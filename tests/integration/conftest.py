"""The releases, each shrunk once a run, whichever processes ask for it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.source.cache import default_folder, locked
from shrinker.source.pins import load_pins
from tests.integration.shrunk import REPOSITORY, Shrunk


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str, testrun_uid: str) -> Path:
    """A folder that all processes of this run have.

    `SHRINKER_TREES` names one that stays, so that a person who mends a test waits for no tree.
    Trees in it are taken as they are: empty it after a change to the tool or its rules.
    """
    if kept := os.environ.get("SHRINKER_TREES"):
        Path(kept).mkdir(exist_ok=True)
        return Path(kept)
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / testrun_uid
    folder.mkdir(exist_ok=True)
    runs = folder.parents[1]
    for old in (default_folder() / "compiled" / runs.relative_to(runs.anchor)).glob("*"):
        # What simulated processes compiled of the trees of a run that pytest has removed.
        if not (runs / old.name).exists():
            shutil.rmtree(old, ignore_errors=True)
    return folder


PINNED = load_pins(REPOSITORY).default_release
"""The default release: every profile of it is generated strictly."""


def shrunk(shared: Path, release: str, profile: str = "deepseek") -> Shrunk:
    """Made by the process that asks first; the others wait."""
    folder = shared / f"{release}-{profile}"
    tree = Shrunk(release, folder, jobs=2, profile=profile, strict=release == PINNED)
    with locked(tree.folder):
        if not (tree.folder / "result.json").exists():
            tree.folder.mkdir(exist_ok=True)
            tree.make()
    return tree


@pytest.fixture(scope="session")
def pinned(shared: Path) -> Callable[[str], Shrunk]:
    """Give the default release in a profile, generated strictly."""
    return lambda profile: shrunk(shared, PINNED, profile)


@pytest.fixture(scope="session")
def newest(pinned: Callable[[str], Shrunk]) -> Shrunk:
    """The default release."""
    return pinned("deepseek")


@pytest.fixture(scope="session")
def former(shared: Path) -> Shrunk:
    """The release that was the default one before."""
    return shrunk(shared, "0.5.15.post1")


@pytest.fixture(scope="session")
def older(shared: Path) -> Shrunk:
    """The release of the 57 % criterion."""
    return shrunk(shared, "0.5.7")


@pytest.fixture(scope="session")
def narrower(pinned: Callable[[str], Shrunk]) -> Shrunk:
    """The default release in the profile of the production build."""
    return pinned("deepseek-r1-nvfp4")


@pytest.fixture(scope="session")
def smallest(pinned: Callable[[str], Shrunk]) -> Shrunk:
    """The default release in the profile of one cluster."""
    return pinned("deepseek-r1-minimal")
