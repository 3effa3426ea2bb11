"""How a library is built, read from its build lists: sources, folders of headers, and what is defined; torch's own headers."""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from equivalence.processes import execute
from equivalence.simulation.environment import find_python
from shrinker.source.cache import default_folder
from shrinker.syntax.cmake import Command, read_cmake
from shrinker.values.errors import InputError

VARIABLE = "SHRINKER_HEADERS"
"""Folder with the sources that build lists fetch, each as ``NAME@TAG``: ``cutlass@57e3cfb…``."""
_FETCHED = re.compile(r"\$\{([\w-]+)_SOURCE_DIR\}/(.*)")
_DEFINE = re.compile(r"-D[A-Za-z_]\w*(=[\w.-]*)?")
_TAKES_HEADERS = ("set", "target_include_directories")
_COMPILED = (".c", ".cc", ".cpp", ".cu")


@dataclass(frozen=True, slots=True)
class Build:
    """One library of one tree."""

    folder: Path
    sources: tuple[str, ...]
    """Below the folder, sorted."""
    headers: tuple[Path, ...]
    defines: tuple[str, ...]
    """``-DNAME=value``."""
    missing: tuple[str, ...]
    """What is fetched and not there: a folder and where it comes from."""


def read_build(folder: Path) -> Build:
    """Read the build lists of a library."""
    lists = sorted([*folder.glob("CMakeLists.txt"), *folder.glob("cmake/*.cmake")])
    commands = [command for path in lists for command in read_cmake(path.read_text("utf-8"))]
    fetched = dict(_fetched(commands))
    headers = [folder / "include", folder / "csrc"]
    sources, defines = set[str](), set[str]()
    missing: dict[str, None] = {}
    for name, text in ((command.name, each.text) for command in commands for each in command.arguments):
        path = posixpath.normpath(text)
        if path.endswith(_COMPILED) and "$" not in path and (folder / path).is_file():
            sources.add(path)
        elif _DEFINE.fullmatch(text):
            defines.add(text)
        elif name in _TAKES_HEADERS and (third := _FETCHED.match(text)) and third[1] in fetched:
            place, origin = fetched[third[1]]
            if not place.is_dir() and not text.endswith(_COMPILED):
                missing[f"{place} ({origin})"] = None
            headers.append(place / third[2])
    known = dict.fromkeys(path for path in headers if path.is_dir())
    return Build(folder, tuple(sorted(sources)), tuple(known), tuple(sorted(defines)), tuple(missing))


def _fetched(commands: Iterable[Command]) -> Iterator[tuple[str, tuple[Path, str]]]:
    folder = Path(os.environ.get(VARIABLE) or default_folder() / "headers")
    for command in commands:
        if command.name == "fetchcontent_declare":
            name, *rest = (argument.text for argument in command.arguments)
            given = dict(zip(rest[::2], rest[1::2], strict=False))
            archive, _, packed = given.get("URL", "").partition("/archive/")
            origin = given.get("GIT_REPOSITORY", archive)
            tag = given.get("GIT_TAG", packed.removesuffix(".tar.gz"))
            base = origin.rstrip("/").rpartition("/")[2].removesuffix(".git")
            yield name, (folder / f"{base}@{tag}", f"{origin} at {tag}")


_ASK = (
    "import sysconfig as s, importlib.util as u; print(u.find_spec('torch').origin, s.get_path('include'), sep='\\n')"
)


def torch_headers() -> tuple[Path, ...]:
    """Of the environment of simulated runs: a wheel for the CPU has the headers of CUDA code, too.
    Raises InputError where there is no such environment, or it has no torch."""
    lines = execute([str(find_python()), "-c", _ASK], seconds=600).stdout.splitlines()
    if len(lines) != 2:
        raise InputError("torch's headers were not found", "make the environment with `make simulation`")
    include = Path(lines[0]).parent / "include"
    return include, include / "torch/csrc/api/include", Path(lines[1])
