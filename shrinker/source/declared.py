"""What upstream declares of its package, the same value from `pyproject.toml` and from a wheel's
metadata.

Requirement strings go through `packaging`, so that order, quotes and spaces do not tell the two
apart.
"""

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes
from typing import Any

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from shrinker.source.layout import PYPROJECT
from shrinker.values.errors import InputError
from shrinker.values.upstream import DeclaredPackage

UNDECLARED = DeclaredPackage(
    name="sglang", requires_python="", dependencies=(), extras={}, scripts={}
)
"""For a folder without `pyproject.toml`."""

_EXTRA_MARKER = re.compile(r"^(?:(?P<rest>.*) and )?extra == \"(?P<extra>[^\"]+)\"$")


def from_repository(
    files: Iterable[tuple[str, bytes]], write: Callable[[str, bytes], None], where: str
) -> DeclaredPackage:
    """Hand every file to `write`, by path and content; returns what the `pyproject.toml` among them
    declares. Raises InputError.
    """
    content = b""
    for path, data in files:
        write(path, data)
        if path == PYPROJECT:
            content = data
    return from_pyproject(content, f"{where}: {PYPROJECT}") if content else UNDECLARED


def from_pyproject(content: bytes, where: str) -> DeclaredPackage:
    """Read the `[project]` table of a `pyproject.toml`, which messages call `where`.

    Raises InputError: not TOML, no `[project]` table, or a requirement that is not PEP 508.
    """
    with _reading(where):
        return _declared(tomllib.loads(content.decode("utf-8"))["project"])


def from_metadata(
    metadata: bytes, entry_points: bytes, where: str, wheel: bytes = b""
) -> DeclaredPackage:
    """Read a wheel's METADATA, its entry_points.txt and its WHEEL (each empty where the wheel has
    none).

    Raises InputError: a field is missing or a requirement is not PEP 508.
    """
    with _reading(where):
        message, _ = parse_email(metadata)
        extras: dict[str, list[str]] = {
            canonicalize_name(extra): [] for extra in message.get("provides_extra", [])
        }
        dependencies: list[str] = []
        for line in message.get("requires_dist", []):
            requirement, extra = _split_extra(line)
            (dependencies if extra is None else extras[extra]).append(requirement)
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read_string(entry_points.decode("utf-8"))
        scripts = dict(parser["console_scripts"]) if parser.has_section("console_scripts") else {}
        project = {"name": message["name"], "requires-python": message.get("requires_python", "")}
        lists = {"dependencies": dependencies, "optional-dependencies": extras, "scripts": scripts}
        tags = [
            tag
            for tag in message_from_bytes(wheel).get_all("Tag", [])
            if not tag.endswith("-none-any")
        ]
        return replace(_declared({**project, **lists}), tag=tags[0] if tags else "")


def _declared(project: Mapping[str, Any]) -> DeclaredPackage:
    """Return the value of a `[project]` table."""
    extras, scripts = project.get("optional-dependencies", {}), project.get("scripts", {})
    return DeclaredPackage(
        name=canonicalize_name(project["name"]),
        requires_python=str(SpecifierSet(project.get("requires-python", ""))),
        dependencies=_normalised(project.get("dependencies", ())),
        extras={
            canonicalize_name(extra): _normalised(rows) for extra, rows in sorted(extras.items())
        },
        scripts={script: target.replace(" ", "") for script, target in sorted(scripts.items())},
    )


def _normalised(requirements: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({str(Requirement(line)) for line in requirements}))


def _split_extra(line: str) -> tuple[str, str | None]:
    """Take `extra == "x"`, which a wheel adds to the marker, off again; the requirement and the
    normalised extra.
    """
    requirement = Requirement(line)
    match = _EXTRA_MARKER.match(str(requirement.marker)) if requirement.marker else None
    if match is None:
        return line, None
    requirement.marker = None
    rest = match["rest"]
    return f"{requirement} ; {rest}" if rest else str(requirement), canonicalize_name(
        match["extra"]
    )


@contextmanager
def _reading(where: str) -> Iterator[None]:
    """Turn what cannot be read into an InputError."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, configparser.Error) as error:
        kind = (
            "requirement"
            if isinstance(error, InvalidRequirement | InvalidSpecifier)
            else "package metadata"
        )
        next_step = "check that this is an unchanged SGLang source"
        raise InputError(f"{where}: {kind} cannot be read: {error}", next_step) from error
