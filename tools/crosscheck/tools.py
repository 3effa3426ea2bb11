"""Run ruff, vulture, pyrefly and pydeps on the Python package of a tree; each is a process of its
own and sees files only.
"""

import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from equivalence.processes import execute
from shrinker.check.ruff import find_ruff
from shrinker.values.errors import InputError

PACKAGE = "python/sglang"
_UNUSED_IMPORT = "F401"
_TIMEOUT = 900
"""Seconds: the slowest tool takes less than a minute for a whole upstream."""
_VULTURE = re.compile(r"^(?P<path>.*?):(?P<line>\d+): (?P<text>.+) \(\d+% confidence\)$")
_QUOTED = re.compile(r"[`'](?P<name>[^`']+)[`']")
_SUBJECT = re.compile(
    r"(?:has no attribute |^(?=`\w+` (?:may be|is) uninitialized))`(?P<name>\w+)`"
)
_LINE = re.compile(r"\bline \d+")
_OF_KEYS = "is not assignable to dict key"
"""Of a dict that declares no types pyrefly takes those of its first values for all there may be:
that says nothing of the code.
"""
_PYTHON = "3.12"
"""The Python that serves: pyrefly judges by its grammar and library."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a tool's output."""

    tool: str
    path: str
    line: int
    kind: str
    """The tool's name for it: ``F841``, ``unused method``, ``missing-attribute``."""
    text: str
    """What it says, without a position: equal for the same finding in two trees."""
    subject: str = ""
    """The name that it speaks of, where it speaks of one."""
    reason: str = ""
    """Why upstream has it not; empty where none was found."""


ImportGraph = dict[str, int]
"""Imports of one tree, as pydeps sees them: a number for each of `COUNTED`."""
COUNTED = {
    "modules": "modules",
    "imports": "imports",
    "cycles": "groups of modules that import each other",
    "largest cycle": "modules in the largest",
}


def ruff(root: Path) -> list[Finding]:
    """Return names and syntax (ruff's F and E9), without upstream's own settings."""
    command = [
        find_ruff(),
        "check",
        "--isolated",
        "--no-cache",
        "--quiet",
        "--select=F,E9",
        "--output-format=json",
    ]
    found: list[Finding] = []
    for row in json.loads(_run(root, [*command, PACKAGE]) or "[]"):
        path, line, text = _below(root, row["filename"]), row["location"]["row"], row["message"]
        name = _bound(root / path, row) if row["code"] == _UNUSED_IMPORT else _name(text)
        found.append(
            Finding("ruff", path, line, row["code"] or "syntax", _LINE.sub("line", text), name)
        )
    return found


def vulture(root: Path) -> list[Finding]:
    """Code that nothing names."""
    found: list[Finding] = []
    for line in _run_module(root, "vulture", PACKAGE).splitlines():
        if match := _VULTURE.match(line):
            text = match["text"]
            name = _name(text)
            kind = (
                text.replace(f"'{name}'", "").strip()
                if name and text.startswith("unused")
                else text
            )
            found.append(Finding("vulture", match["path"], int(match["line"]), kind, text, name))
    return found


def pyrefly(root: Path) -> list[Finding]:
    """Types.

    Nothing that the package imports is installed for it, neither here nor for upstream.
    """
    options = f"--output-format=json --python-version={_PYTHON} --skip-interpreter-query --config={os.devnull}".split()
    output = _run_module(
        root, "pyrefly", "check", *options, f"--search-path={root / 'python'}", PACKAGE
    )
    found: list[Finding] = []
    for row in json.loads(output or '{"errors": []}')["errors"]:
        text = row["description"].split("\n")[0]
        if row["name"] != "missing-import" and _OF_KEYS not in text:
            subject = _SUBJECT.search(text)
            name = subject["name"] if subject else ""
            found.append(
                Finding("pyrefly", _below(root, row["path"]), row["line"], row["name"], text, name)
            )
    return found


def pydeps(root: Path) -> ImportGraph:
    """Return modules, imports and import cycles, as pydeps sees them in the compiled code."""
    package = PACKAGE.rpartition("/")[2]
    options = ("--show-deps", "--no-output", "--no-config", "--max-bacon=0")
    graph = nx.DiGraph()
    for name, row in json.loads(_run_module(root / "python", "pydeps", package, *options)).items():
        if name.partition(".")[0] == package:
            graph.add_node(name)
            graph.add_edges_from(
                (name, other) for other in row.get("imports", ()) if other.startswith(f"{package}.")
            )
    cycles = [group for group in nx.strongly_connected_components(graph) if len(group) > 1]
    numbers = (
        graph.number_of_nodes(),
        graph.number_of_edges(),
        len(cycles),
        max(map(len, cycles), default=0),
    )
    return dict(zip(COUNTED, numbers, strict=True))


TOOLS: tuple[Callable[[Path], Any], ...] = (pyrefly, vulture, pydeps, ruff)
"""The slowest first."""


def _run_module(folder: Path, name: str, *arguments: str) -> str:
    """Standard output of a tool of this Python environment; InputError when it is not installed,
    failed or took too long.
    """
    if importlib.util.find_spec(name) is None:
        raise InputError(
            f"{name} is not installed", "make the environment again: rm -rf .venv && make shrink"
        )
    return _run(folder, [sys.executable, "-m", name, *arguments])


def _run(root: Path, command: Sequence[str]) -> str:
    done = execute(command, seconds=_TIMEOUT, folder=root)
    # 1 and 3 say that something was found.
    if done.returncode not in (0, 1, 3) or (done.returncode and not done.stdout):
        raise InputError(
            f"{' '.join(command[:4])} failed in {root}: {done.stderr.strip()[-300:]}",
            "run it by hand",
        )
    return done.stdout


def _below(root: Path, path: str) -> str:
    return Path(path).relative_to(root).as_posix() if Path(path).is_absolute() else path


def _bound(file: Path, row: dict[str, Any]) -> str:
    """Read the name that an import binds where ruff points: `use` of `from a import b as use`."""
    # The message has the imported name only, and it is the bound one that the code says.
    lines = file.read_text("utf-8", "replace").split("\n")
    start, end = (int(row[at]["column"]) - 1 for at in ("location", "end_location"))
    return lines[int(row["location"]["row"]) - 1][start:end]


def _name(text: str) -> str:
    match = _QUOTED.search(text)
    return match["name"] if match else ""
