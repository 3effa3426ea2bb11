"""pyproject.toml, _version.py and NOTICE."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from shrinker.emit.package import HEADER, notice, pyproject, version_module, version_tuple
from shrinker.values.distributions import Distributions
from shrinker.values.upstream import DeclaredPackage, Identity

DECLARED = DeclaredPackage(
    "sglang",
    ">=3.10",
    ("numpy", 'av ; sys_platform == "linux"'),
    {},
    {"sglang": "sglang.cli.main:main", "gone": "sglang.gone:main"},
)


def test_pyproject() -> None:
    data = tomllib.loads(pyproject(DECLARED, "0.5.7", {"python/sglang/cli/main.py"}))
    assert data["project"]["name"] == "sglang"
    assert data["project"]["version"] == "0.5.7"
    assert data["project"]["requires-python"] == ">=3.10"
    assert data["project"]["dependencies"] == list(DECLARED.dependencies)
    assert data["project"]["scripts"] == {"sglang": "sglang.cli.main:main"}
    assert data["tool"]["setuptools"]["packages"]["find"]["include"] == ["sglang*"]


def test_pyproject_with_extras_and_what_is_left_of_them() -> None:
    declared = replace(DECLARED, extras={"spans": ("spans-sdk", "spans-bus")})
    assert tomllib.loads(pyproject(declared, None, set()))["project"]["optional-dependencies"] == {
        "spans": ["spans-sdk", "spans-bus"]
    }
    left = Distributions(dependencies=("numpy",), extras={"spans": ("spans-bus",)})
    project = tomllib.loads(pyproject(declared, None, set(), left))["project"]
    assert project["dependencies"] == ["numpy"]
    assert project["optional-dependencies"] == {"spans": ["spans-bus"]}
    assert "optional-dependencies" not in tomllib.loads(pyproject(declared, None, set(), Distributions()))["project"]


def test_pyproject_of_an_unknown_version() -> None:
    data = tomllib.loads(pyproject(DECLARED, None, set()))
    assert data["project"]["version"] == "0.0.0"
    assert "scripts" not in data["project"]


@pytest.mark.parametrize(
    ("version", "parts"),
    [
        ("0.5.7", (0, 5, 7)),
        ("0.5.15.post1", (0, 5, 15, "post1")),
        ("1.0rc2", (1, 0, "rc2")),
        ("0.1.dev3+gabc", (0, 1, "dev3", "gabc")),
    ],
)
def test_version(version: str, parts: tuple[int | str, ...]) -> None:
    assert version_tuple(version) == parts
    names: dict[str, object] = {}
    exec(version_module(version), names)
    assert names["__version__"] == names["version"] == version
    assert names["__version_tuple__"] == names["version_tuple"] == parts


def test_notice() -> None:
    identity = Identity("release", "release:0.5.7", "0.5.7", None, False)
    text = notice(identity, profile="deepseek", tool_version="1.2", upstream_notice="Theirs.\n")
    assert "release 0.5.7" in text and "shrinker 1.2" in text and "'deepseek'" in text
    assert text.endswith("SGLang's own NOTICE:\n\nTheirs.\n")
    assert "path:here" in notice(Identity("path", "path:here", None, None, False), profile="p", tool_version="1")
    assert HEADER.startswith("# ") and "\n" not in HEADER
