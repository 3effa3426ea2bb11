import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.source.index import IndexFile, choose, download_size, index_url
from shrinker.source.spec import without_password
from shrinker.values.errors import InputError
from tests.source.upstreams import LICENCE, PACKAGE, Index, Open, make_wheel

COMPILED = "python/sglang/srt/_core.cpython-311-x86_64-linux-gnu.so"
PATHS = ["LICENSE", COMPILED, *(f"python/{name}" for name in PACKAGE)]
WHEEL = "sglang-1.2.0-py3-none-any.whl"


def test_wheel_becomes_the_repository_layout(index: Index, opened: Open) -> None:
    index.add(WHEEL, make_wheel())
    tree = opened("release:1.2.0")
    assert [file.path for file in tree.files] == sorted(PATHS)
    assert tree.read("python/sglang/srt/server.py") == b"PORT = 30000\n"
    assert tree.read("LICENSE") == LICENCE
    assert all(
        hashlib.sha256(tree.read(file.path)).hexdigest() == file.sha256 for file in tree.files
    )
    assert (
        tree.identity.spec == "release:1.2.0"
        and tree.identity.version == "1.2.0"
        and tree.identity.commit is None
    )
    assert tree.declared.scripts == {"sglang": "sglang.cli.main:main"}


def test_each_member_of_a_wheel_is_in_the_tree_or_among_what_is_not_read(
    index: Index, opened: Open
) -> None:
    tag = "cp311-cp311-manylinux_2_34_x86_64"
    wheel = make_wheel(
        extra=lambda archive: archive.writestr("sglang-1.2.0.dist-info/WHEEL", f"Tag: {tag}\n")
    )
    index.add(WHEEL, wheel)
    tree = opened("release:1.2.0")
    members = zipfile.ZipFile(io.BytesIO(wheel)).namelist()
    said = [*tree.by_path, *tree.unread]
    places = {
        f"python/{m}" if m.startswith("sglang/") else m
        for m in members
        if not m.endswith("/LICENSE")
    }
    assert sorted(said) == sorted({*places, "LICENSE"})
    assert (
        tree.unread["tools/tag.py"] and "metadata" in tree.unread["sglang-1.2.0.dist-info/METADATA"]
    )
    assert tree.declared.tag == tag


@pytest.mark.parametrize(("setting", "value"), [("json", False), ("failures", 2)])
def test_an_index_of_html_and_one_that_is_not_there_at_once(
    index: Index, opened: Open, setting: str, value: int
) -> None:
    setattr(index, setting, value)
    index.add(WHEEL, make_wheel())
    assert opened("release:1.2.0").files


def test_default_is_the_release_of_upstream_toml_and_says_so(index: Index, opened: Open) -> None:
    index.add(WHEEL, make_wheel())
    lines: list[str] = []
    tree = opened(None, progress=lines.append)
    assert tree.identity.spec == "release:1.2.0"
    assert "release:1.2.0" in lines[0] and "not given" in lines[0]


def test_second_run_needs_no_network(index: Index, opened: Open) -> None:
    index.add(WHEEL, make_wheel())
    first = opened("release:1.2.0")
    asked = len(index.requests)
    index.server.shutdown()
    index.server.server_close()
    assert opened("release:1.2.0") == first
    assert len(index.requests) == asked


def test_no_network(index: Index, opened: Open) -> None:
    index.server.shutdown()
    index.server.server_close()
    with pytest.raises(InputError, match="cannot be reached") as error:
        opened("release:1.2.0")
    assert "UPSTREAM=git" in error.value.next_step


def test_unknown_version_names_the_nearest(index: Index, opened: Open) -> None:
    for version in ("1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.10.0"):
        index.add(f"sglang-{version}-py3-none-any.whl", b"")
    with pytest.raises(
        InputError,
        match=r"no sglang 1\.2\.1 \(nearest: 1\.1\.0, 1\.2\.0, 1\.3\.0, 1\.10\.0; newest: 1\.10\.0\)",
    ):
        opened("release:1.2.1")


@pytest.mark.parametrize(
    ("content", "sha256", "below", "said"),
    [
        (make_wheel(), "0" * 64, "", "sha256"),
        (make_wheel(), "", "", "no sha256"),
        (make_wheel({"other/__init__.py": b""}), None, "", "no package"),
        (make_wheel(), None, "/nothing", "404"),
    ],
    ids=["another hash", "no hash", "a wheel that is not SGLang", "an index without the project"],
)
def test_what_is_refused_is_not_kept(
    index: Index,
    opened: Open,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    sha256: str | None,
    below: str,
    said: str,
) -> None:
    index.add(WHEEL, content, sha256)
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.url + below)
    with pytest.raises(InputError, match=said):
        opened("release:1.2.0")
    kept = [path for path in cache.rglob("*") if path.is_file() and not path.name.endswith(".lock")]
    assert kept == [] or said == "no package", "a sound download stays"


def test_a_changed_download_is_fetched_again(index: Index, opened: Open, cache: Path) -> None:
    index.add(WHEEL, make_wheel())
    first = opened("release:1.2.0")
    (download,) = cache.glob("downloads/*/*.whl")
    download.write_bytes(b"changed")
    assert opened("release:1.2.0") == first
    assert download.read_bytes() == index.files[WHEEL]


def test_credentials_are_sent_and_not_printed(
    index: Index, opened: Open, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(WHEEL, make_wheel())
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.url.replace("://", "://me:p%40ss@"))
    lines: list[str] = []
    opened("release:1.2.0", progress=lines.append)
    assert index.authorization[0] == "Basic bWU6cEBzcw=="
    assert not any("p%40ss" in line or "p@ss" in line for line in lines)
    assert not any("p%40ss" in path.read_text(errors="replace") for path in cache.rglob("*.json"))


def test_choice_is_the_same_on_every_machine() -> None:
    names = [
        "sglang-1.0-cp312-cp312-manylinux_2_34_x86_64.whl",
        "sglang-1.0-cp311-cp311-manylinux_2_34_x86_64.whl",
        "sglang-1.0-cp310-cp310-manylinux_2_34_aarch64.whl",
        "sglang-1.0.tar.gz",
        "sglang-1.0.exe",
        "other-1.0-py3-none-any.whl",
    ]
    files = tuple(IndexFile(name, "", "0" * 64) for name in names)
    assert choose(files, "1.0", "x").filename == names[1]
    assert choose(files[::-1], "1.0", "x").filename == names[1]
    assert choose(files[2:], "1.0", "x").filename == names[2]
    with pytest.raises(InputError, match=r"no sglang 1\.0"):
        choose(files[3:], "1.0", "x")
    pure = IndexFile("sglang-1.0-py3-none-any.whl", "", "0" * 64)
    assert choose((*files, pure), "1.0", "x") == pure


def test_index_variables() -> None:
    assert index_url({}) == "https://pypi.org/simple"
    assert index_url({"PIP_INDEX_URL": "https://a/simple/"}) == "https://a/simple"
    assert index_url({"PIP_INDEX_URL": "https://a", "UV_INDEX_URL": "https://b"}) == "https://b"
    assert (
        index_url({"UV_DEFAULT_INDEX": "name=https://c?x=y", "UV_INDEX_URL": "https://b"})
        == "https://c?x=y"
    )
    with pytest.raises(InputError, match="PIP_INDEX_URL"):
        index_url({"PIP_INDEX_URL": "/folder"})
    assert without_password("https://u:p@h:1/x") == "https://h:1/x"


SIZES = {
    "a_b-1.0-py3-none-any.whl": 10,
    "a_b-2.0-cp312-cp312-macosx_11_0_arm64.whl": 20,
    "a_b-2.0-cp312-cp312-manylinux_2_28_aarch64.whl": 30,
    "a_b-2.0-cp312-cp312-manylinux_2_28_x86_64.whl": 40,
    "a_b-2.0.tar.gz": 50,
    "a_b-3.0.tar.gz": 60,
    "not a file of a distribution.exe": 70,
}
JSON = "application/vnd.pypi.simple.v1+json"


@pytest.mark.parametrize(
    ("requirement", "size"),
    [("a-b", 60), ("a-b==2.0", 40), ("a-b<2", 10), ("a-b>3", None), ("a-b[x]>=2,<3", 40)],
)
def test_the_size_of_the_newest_file_that_fits(
    monkeypatch: pytest.MonkeyPatch, requirement: str, size: int | None
) -> None:
    rows = [{"filename": name, "url": name, "size": size} for name, size in SIZES.items()]
    body = json.dumps({"files": rows}).encode()
    monkeypatch.setattr("shrinker.source.index.fetch", lambda url: (JSON, body, url))
    assert download_size("https://index/simple", requirement) == size


def _refuse(url: str) -> None:
    raise InputError("cannot be reached", "check the network")


@pytest.mark.parametrize(
    "fetch",
    [
        _refuse,
        *(
            lambda url, kind=kind, body=body: (kind, body, url)
            for kind in (JSON, "text/html")
            for body in (
                b"",
                b"[]",
                b'{"files": [{"filename": "a_b-1.0.tar.gz", "url": ""}]}',
                b'{"files": 1}',
            )
        ),
    ],
)
def test_a_size_that_the_index_does_not_tell_is_no_error(
    monkeypatch: pytest.MonkeyPatch, fetch: Callable[[str], object]
) -> None:
    monkeypatch.setattr("shrinker.source.index.fetch", fetch)
    assert download_size("https://index/simple", "a-b") is None
