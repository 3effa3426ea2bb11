from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from shrinker.source.wheels import Wheel, cached_wheel, load_wheels, open_wheel
from shrinker.values.errors import InputError
from tests.source.upstreams import Index

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
    "text", ["", "[[wheel]]\nname = 'a'\n", "[[wheel]]\nname = 'a'\nfile = '../a.whl'\nsha256 = 'x'\nwhy = ''\n", "["]
)
def test_bad_pins_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "embedders.toml").write_text(text)
    with pytest.raises(InputError, match=r"embedders\.toml"):
        load_wheels(tmp_path)
