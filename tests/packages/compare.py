"""Shrinks a small package by the whole pipeline, and compares what it prints before and after."""

import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from shrinker.pipeline import Run, generate
from shrinker.project import RULES_FOLDER
from shrinker.ruleset import Ruleset
from shrinker.ruleset.load import load_rules
from tests.program.small_tree import tree_of
from tests.small import Silent, write

_HERE = Path(__file__).parent
_ROOT = "python/sglang"
_AROUND = {
    f"{_ROOT}/__init__.py": "import sys\n",
    f"{_ROOT}/srt/__init__.py": "",
    f"{_ROOT}/srt/utils.py": "def is_hip():\n    return False\n",
    f"{_ROOT}/gone/__init__.py": "",
}


@cache
def package_rules() -> Ruleset:
    """Read the rules of all packages: a root, a platform that is not there, what is removed."""
    return load_rules([_HERE / "rules.toml", RULES_FOLDER / "package/protocols.toml"])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program did."""

    printed: str
    error: str
    """Class and text of the error that it ended with; empty where it ended well."""


class Programs:
    """Runs programs, each in a process of its own."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-S", "-E", str(_HERE / "runner.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def run(self, folder: Path) -> Outcome:
        """Run `sglang.launch_server` of the package that lies in a folder."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(f"{folder}\n")
        self._server.stdin.flush()
        return Outcome(**json.loads(self._server.stdout.readline()))

    def printed(self, files: Mapping[str, str]) -> Outcome:
        """Run a package as it is."""
        with tempfile.TemporaryDirectory(prefix="package-") as folder:
            return self.run(write(Path(folder), with_nobody(files)) / "python")


def with_nobody(files: Mapping[str, str]) -> dict[str, str]:
    """Add a module that nothing loads and that names every function.

    A public method that no code of upstream names would stay for code outside.
    """
    names: set[str] = set()
    for text in (text for path, text in files.items() if path.endswith(".py")):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                names.add(node.name)
    lines = [f"x.{name}()\n" for name in sorted(names)]
    return {**_AROUND, **files, f"{_ROOT}/nobody.py": "".join(lines)}


def difference(files: Mapping[str, str], programs: Programs) -> str | None:
    """Tell in words what the shrunk package does otherwise; None where it does the same.

    Args:
        files: text of each module by its path in upstream's layout.
        programs: what runs them.
    """
    folder = Path(tempfile.mkdtemp(prefix="package-"))
    try:
        upstream = write(folder / "upstream", with_nobody(files))
        before = programs.run(upstream / "python")
        try:
            generate(
                Run(tree_of(upstream), package_rules(), 1, Silent(), explained=False),
                folder / "left",
            )
        except Exception as error:
            return f"no tree is generated: {type(error).__name__}: {error}"
        after = programs.run(folder / "left" / "python")
    finally:
        shutil.rmtree(folder)
    if before == after:
        return None
    return f"before: {before}\nafter:  {after}"
