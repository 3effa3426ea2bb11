"""What the tests of `source` share: an empty environment, a repository of SGLang's shape,
an index.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from shrinker.source import open_upstream
from tests.small import committed, git, write
from tests.source.upstreams import LICENCE, PACKAGE, PYPROJECT, Index, Open


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No index, cache or proxy of the machine reaches a test."""
    for name in list(os.environ):
        if (
            name.lower().endswith("_proxy")
            or name.startswith(("UV_", "PIP_", "GIT_"))
            or name in ("SHRINKER_CACHE", "XDG_CACHE_HOME")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shrinker.source.index.time.sleep", lambda seconds: None)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout of shrinker, as far as `source` looks at it."""
    pins = 'default_release = "1.2.0"\n[submodule]\npath = "upstream"\nurl = "https://example.invalid/x"\n'
    return write(tmp_path / "shrinker", {"upstream.toml": f'{pins}commit = "{"a" * 40}"\n'})


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def opened(repository: Path, cache: Path) -> Open:
    """`opened(spec)`: from this checkout, with this cache."""
    return partial(open_upstream, repository=repository, cache=cache)


@pytest.fixture
def upstream_git(tmp_path: Path) -> Path:
    """A repository of SGLang's shape: package, native code, one link to a file, one link that
    leaves the repository.
    """
    folder = tmp_path / "sglang"
    write(folder / "python", {**PACKAGE, "pyproject.toml": PYPROJECT})
    write(
        folder,
        {"LICENSE": LICENCE, "sgl-kernel/a.cu": "// kernel\n", "docs/readme.md": "not read\n"},
    )
    (folder / "sgl-kernel/LICENSE").symlink_to("../LICENSE")
    (folder / "sgl-kernel/passwd").symlink_to("/etc/passwd")
    (folder / "sgl-kernel/loop").symlink_to("loop")
    git(folder, "init", "--quiet", "--initial-branch=main")
    committed(folder, {}, "one")
    git(folder, "tag", "-a", "v1.2.0", "-m", "release")
    committed(folder, {"python/sglang/srt/server.py": "PORT = 1\n"}, "two")
    return folder


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    served = Index()
    monkeypatch.setenv("UV_DEFAULT_INDEX", served.url)
    yield served
    served.server.shutdown()
    served.server.server_close()
