"""The files that make the generated tree an installable package: `pyproject.toml` and `_version.py`."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable

from packaging.version import InvalidVersion, Version

from shrinker.values.distributions import Distributions
from shrinker.values.upstream import DeclaredPackage


def pyproject(
    declared: DeclaredPackage, version: str | None, kept: Container[str], required: Distributions | None = None
) -> str:
    """Text of `python/pyproject.toml`.

    Args:
        declared: what upstream declares.
        version: of the package; ``0.0.0`` when it is not known.
        kept: paths of the tree; an entry point of a module that went is left out.
        required: requirements and extras that are left; all that is declared when it is not given.
    """
    lines = [
        "[build-system]",
        'requires = ["setuptools>=77"]',
        'build-backend = "setuptools.build_meta"',
        "",
        "[project]",
        f"name = {_string(declared.name)}",
        f"version = {_string(version or '0.0.0')}",
        'description = "SGLang reduced to what one profile of shrinker serves; see NOTICE."',
        'license = "Apache-2.0"',
    ]
    if declared.requires_python:
        lines.append(f"requires-python = {_string(declared.requires_python)}")
    extras = declared.extras if required is None else required.extras
    lines += _array("dependencies", (declared if required is None else required).dependencies)
    if extras:
        lines += ["", "[project.optional-dependencies]"]
        lines += [line for name, rows in sorted(extras.items()) for line in _array(_string(name), rows)]
    scripts = {name: target for name, target in sorted(declared.scripts.items()) if _is_kept(target, kept)}
    if scripts:
        lines += ["", "[project.scripts]", *(f"{_string(n)} = {_string(t)}" for n, t in scripts.items())]
    lines += [
        "",
        "[tool.setuptools.packages.find]",
        f"include = [{_string(declared.name + '*')}]",
        "",
        "[tool.setuptools.package-data]",
        '"*" = ["*"]',
        "",
    ]
    return "\n".join(lines)


def version_module(version: str) -> str:
    """Text of `python/sglang/_version.py`: the names that the version tool of upstream's build defines, nothing else.

    A release carries the file that its build made, a commit carries none: one canonical text for both.
    """
    return f"__version__ = version = {version!r}\n__version_tuple__ = version_tuple = {version_tuple(version)!r}\n"


def version_tuple(version: str) -> tuple[int | str, ...]:
    """As setuptools-scm writes it: ``0.5.15.post1`` is ``(0, 5, 15, 'post1')``."""
    try:
        parsed = Version(version)
    except InvalidVersion:
        return (version,)
    found: list[int | str] = [parsed.epoch] if parsed.epoch else []
    found += parsed.release
    if parsed.pre is not None:
        found.append("".join(map(str, parsed.pre)))
    if parsed.post is not None:
        found.append(f"post{parsed.post}")
    if parsed.dev is not None:
        found.append(f"dev{parsed.dev}")
    if parsed.local is not None:
        found.append(parsed.local)
    return tuple(found)


def _array(key: str, items: Iterable[str]) -> list[str]:
    return [f"{key} = [", *(f"  {_string(item)}," for item in items), "]"]


def _is_kept(target: str, kept: Container[str]) -> bool:
    path = "python/" + target.partition(":")[0].strip().replace(".", "/")
    return f"{path}.py" in kept or f"{path}/__init__.py" in kept


def _string(text: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
