from __future__ import annotations

import pytest

from shrinker.source.declared import from_metadata, from_pyproject, version_in
from shrinker.values.errors import InputError
from tests.source.upstreams import ENTRY_POINTS, METADATA, PYPROJECT


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


def test_version() -> None:
    assert version_in(METADATA) == "1.2.0"
    assert version_in(b"Name: x\n") is None


@pytest.mark.parametrize(
    "content", [b"[", b"", b"[project]\n", b'[project]\nname = "x"\ndependencies = ["a b"]\n', b"\xff"]
)
def test_unreadable_pyproject(content: bytes) -> None:
    with pytest.raises(InputError, match=r"python/pyproject\.toml"):
        from_pyproject(content, "python/pyproject.toml")


@pytest.mark.parametrize(
    "content", [b"Version: 1\n", b"Name: x\nRequires-Dist: a b\n", b'Name: x\nRequires-Dist: a; extra == "none"\n']
)
def test_unreadable_metadata(content: bytes) -> None:
    with pytest.raises(InputError, match="METADATA"):
        from_metadata(content, b"", "METADATA")
