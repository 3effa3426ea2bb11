"""The releases, each shrunk once a session.

All tests of one release are in one file: pytest runs with `--dist=loadfile`, so one process makes the tree once.
"""

from __future__ import annotations

import pytest

from tests.integration.shrunk import Shrunk


@pytest.fixture(scope="session")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Shrunk:
    """The default release."""
    return Shrunk("0.5.15.post1", tmp_path_factory.mktemp("newest"), jobs=2).make()


@pytest.fixture(scope="session")
def older(tmp_path_factory: pytest.TempPathFactory) -> Shrunk:
    """The release of the 57 % criterion."""
    return Shrunk("0.5.7", tmp_path_factory.mktemp("older"), jobs=2).make()


@pytest.fixture(scope="session")
def narrower(tmp_path_factory: pytest.TempPathFactory) -> Shrunk:
    """The default release in the profile of the production build."""
    folder = tmp_path_factory.mktemp("narrower")
    return Shrunk("0.5.15.post1", folder, jobs=2, profile="deepseek-r1-nvfp4").make()
