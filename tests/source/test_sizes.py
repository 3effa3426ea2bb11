"""The size of what a machine would download."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shrinker.source import sizes
from shrinker.values.errors import InputError

FILES = [
    ("a_b-1.0-py3-none-any.whl", 10),
    ("a_b-2.0-cp312-cp312-macosx_11_0_arm64.whl", 20),
    ("a_b-2.0-cp312-cp312-manylinux_2_28_aarch64.whl", 30),
    ("a_b-2.0-cp312-cp312-manylinux_2_28_x86_64.whl", 40),
    ("a_b-2.0.tar.gz", 50),
    ("a_b-3.0.tar.gz", 60),
    ("not a file of a distribution.exe", 70),
]


def answer(kind: str, body: bytes) -> Any:
    return lambda url: (kind, body, url)


@pytest.mark.parametrize(
    ("requirement", "size"), [("a-b", 60), ("a-b==2.0", 40), ("a-b<2", 10), ("a-b>3", None), ("a-b[x]>=2,<3", 40)]
)
def test_newest_that_fits(monkeypatch: pytest.MonkeyPatch, requirement: str, size: int | None) -> None:
    body = json.dumps({"files": [{"filename": name, "size": size} for name, size in FILES]}).encode()
    monkeypatch.setattr(sizes, "fetch", answer("application/vnd.pypi.simple.v1+json", body))
    assert sizes.download_size("https://index/simple", requirement) == size


@pytest.mark.parametrize("body", [b"", b"[]", b'{"files": [{"filename": "a_b-1.0.tar.gz"}]}', b'{"files": 1}'])
def test_what_the_index_does_not_tell(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    monkeypatch.setattr(sizes, "fetch", answer("application/vnd.pypi.simple.v1+json", body))
    assert sizes.download_size("https://index/simple", "a-b") is None
    monkeypatch.setattr(sizes, "fetch", answer("text/html", b"<a>"))
    assert sizes.download_size("https://index/simple", "a-b") is None


def test_no_network_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str) -> Any:
        raise InputError("cannot be reached", "check the network")

    monkeypatch.setattr(sizes, "fetch", refuse)
    assert sizes.download_size("https://index/simple", "a-b") is None
