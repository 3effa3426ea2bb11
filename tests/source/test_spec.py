"""What is said of an upstream: its specification, its metadata, and the wheels that are pinned
beside it.
"""

import hashlib
from pathlib import Path

import pytest
from packaging.version import Version

from shrinker.source.declared import from_metadata, from_pyproject
from shrinker.source.spec import GitSpec, parse_spec
from shrinker.source.wheels import Wheel, cached_wheel, load_wheels, open_wheel
from shrinker.values.errors import InputError
from tests.source.upstreams import ENTRY_POINTS, METADATA, PYPROJECT, Index


@pytest.mark.parametrize(
    "text",
    ["", "0.5.7", "release:", "release:latest", "git:", "git:/x", "git:/x@", "git:git@host:x/y.git", "git:@abc", "git:-u@abc",
     "git:/x@--upload-pack=y", "git:/x@a b", "git:/x@a^{}", "path:", "submodule:x", "svn:x"],
)  # fmt: skip
def test_refused_with_the_next_step(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse_spec(text)
    assert error.value.next_step


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("release:0.5.7", Version("0.5.7")),
        ("release:v0.5.15-post1", Version("0.5.15.post1")),
        ("submodule", "submodule"),
        ("path:some/where", Path("some/where")),
        ("git:/x/y@0b3b", GitSpec("/x/y", "0b3b")),
        ("git:git@host.org:x/y.git@v0.5.7", GitSpec("git@host.org:x/y.git", "v0.5.7")),
        ("git:https://u@host/x@release/1", GitSpec("https://u@host/x", "release/1")),
    ],
)
def test_forms(text: str, spec: object) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("repository", "is_url"),
    [
        ("https://h/x", True),
        ("ssh://h/x", True),
        ("git@h.org:x.git", True),
        ("h.org:x.git", True),
        ("/no/such", False),
        ("no/such", False),
        (".", False),
    ],
)
def test_url_or_folder(repository: str, is_url: bool) -> None:
    assert GitSpec(repository, "a").is_url is is_url


def test_both_forms_give_one_value() -> None:
    declared = from_pyproject(PYPROJECT, "a")
    assert from_metadata(METADATA, ENTRY_POINTS, "b") == declared
    assert declared.requires_python == ">=3.10"
    assert declared.dependencies == (
        'av; sys_platform == "linux" and (platform_machine == "a" or platform_machine == "b")',
        "llguidance<0.8.0,>=0.7.11",
        "numpy",
    )
    assert declared.extras == {
        "dev": ("sglang[fast_x]",),
        "fast-x": ('ray[default]>=2; platform_machine != "a" and platform_machine != "b"',),
    }
    assert declared.scripts == {"sglang": "sglang.cli.main:main"}


@pytest.mark.parametrize(
    "content",
    [b"[", b"", b"[project]\n", b'[project]\nname = "x"\ndependencies = ["a b"]\n', b"\xff"],
)
def test_unreadable_pyproject(content: bytes) -> None:
    with pytest.raises(InputError, match=r"python/pyproject\.toml"):
        from_pyproject(content, "python/pyproject.toml")


@pytest.mark.parametrize(
    "content",
    [
        b"Version: 1\n",
        b"Name: x\nRequires-Dist: a b\n",
        b'Name: x\nRequires-Dist: a; extra == "none"\n',
    ],
)
def test_unreadable_metadata(content: bytes) -> None:
    with pytest.raises(InputError, match="METADATA"):
        from_metadata(content, b"", "METADATA")


FILE = "embedder-1.0-py3-none-any.whl"
DATA = b"a wheel, which nobody opens here"
HASH = hashlib.sha256(DATA).hexdigest()
WHEEL = Wheel("sglang", FILE, HASH, "Serves the tests.")


def quiet(line: str) -> None:
    pass


def test_a_wheel_is_downloaded_once(index: Index, cache: Path) -> None:
    index.add(FILE, DATA)
    assert cached_wheel(WHEEL, cache) is None
    file = open_wheel(WHEEL, cache, quiet)
    assert file.name == FILE and file.read_bytes() == DATA
    asked = len(index.requests)
    assert open_wheel(WHEEL, cache, quiet) == cached_wheel(WHEEL, cache) == file
    assert len(index.requests) == asked


def test_a_damaged_wheel_counts_as_none(index: Index, cache: Path) -> None:
    index.add(FILE, DATA)
    file = open_wheel(WHEEL, cache, quiet)
    file.write_bytes(b"other")
    assert cached_wheel(WHEEL, cache) is None
    assert open_wheel(WHEEL, cache, quiet).read_bytes() == DATA


@pytest.mark.parametrize("there", [{"embedder-2.0-py3-none-any.whl": DATA}, {FILE: b"other"}])
def test_another_file_is_refused(index: Index, cache: Path, there: dict[str, bytes]) -> None:
    for name, data in there.items():
        index.add(name, data)
    with pytest.raises(InputError, match=FILE):
        open_wheel(WHEEL, cache, quiet)
    assert cached_wheel(WHEEL, cache) is None


def test_pins_of_this_repository_are_whole() -> None:
    pins = load_wheels(Path(__file__).resolve().parents[2])
    assert len({pin.sha256 for pin in pins}) == len(pins) > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[[wheel]]\nname = 'a'\n",
        "[[wheel]]\nname = 'a'\nfile = '../a.whl'\nsha256 = 'x'\nwhy = ''\n",
        "[",
    ],
)
def test_bad_pins_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "embedders.toml").write_text(text)
    with pytest.raises(InputError, match=r"embedders\.toml"):
        load_wheels(tmp_path)
