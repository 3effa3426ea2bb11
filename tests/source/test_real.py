"""The real thing: the default release and, where a clone of upstream is at hand, the commit that
equals it.

SHRINKER_TEST_GIT=/path/to/sglang pytest -m network tests/source
"""

import hashlib
import os
import tomllib
from pathlib import Path

import pytest

from shrinker.project import pins_file
from shrinker.source import open_upstream
from shrinker.source.pins import load_pins
from shrinker.values.upstream import COMPILED, PACKAGE_PREFIX, SourceFile, UpstreamTree

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = dict(os.environ)

pytestmark = pytest.mark.network


@pytest.fixture
def real_environment(plain_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index and the cache of this machine: what is downloaded here serves the next run too."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def _package(tree: UpstreamTree) -> list[SourceFile]:
    return [file for file in tree.files if file.path.startswith(PACKAGE_PREFIX)]


@pytest.mark.parametrize("version", [load_pins(REPOSITORY).default_release, "0.5.7"])
def test_release(version: str, real_environment: None) -> None:
    tree = open_upstream(f"release:{version}", repository=REPOSITORY)
    assert len(_package(tree)) > 1000
    assert tree.by_path["LICENSE"].size > 10_000
    assert len(tree.declared.dependencies) > 50 and tree.declared.scripts["sglang"]
    assert f"{PACKAGE_PREFIX}_version.py" in tree.unread


def _content(tree: UpstreamTree) -> str:
    # A release has modules compiled, of which a commit has the sources alone.
    files = (file for file in _package(tree) if not file.path.endswith(COMPILED))
    lines = sorted(f"{file.path} {file.sha256}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


PAIRS = tomllib.loads(pins_file(REPOSITORY).read_text("utf-8"))["pair"]
CLONES = [path for path in (os.environ.get("SHRINKER_TEST_GIT"),) if path]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["release"])
def test_release_has_the_content_of_its_commit(
    pair: dict[str, str], real_environment: None
) -> None:
    release = open_upstream(f"release:{pair['release']}", repository=REPOSITORY)
    assert _content(release) == pair["content"]
    assert release.identity.commit == pair["commit"]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["release"])
def test_commit_of_a_clone(pair: dict[str, str], real_environment: None) -> None:
    """Compares with the release in every clone that SHRINKER_TEST_GIT names; the content alone
    where there is none.
    """
    for clone in CLONES:
        tree = open_upstream(f"git:{clone}@{pair['commit']}", repository=REPOSITORY)
        release = open_upstream(f"release:{pair['release']}", repository=REPOSITORY)
        assert _content(tree) == pair["content"]
        assert tree.declared == release.declared
        assert tree.by_path["LICENSE"] == release.by_path["LICENSE"]
        assert (tree.identity.version, tree.identity.commit) == (
            release.identity.version,
            release.identity.commit,
        )
