"""Names that nothing defines, as ruff sees them (F821, F822, F823), and star imports, where ruff is blind."""

import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shrinker.values.errors import InputError

STAR = "F405"
"""May come from a star import; `references` resolves these itself."""

_NAME = re.compile(r"`([^`]+)`")
# Files are named one by one: then no `.gitignore` and no excluded folder name ("dist") hides one.
_FILES_A_RUN = 1500
_ALONE = ("--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--exit-zero")
_COMMAND = ("check", *_ALONE, "--target-version=py312", "--output-format=json", f"--select=F821,F822,F823,{STAR}")


@dataclass(frozen=True, slots=True)
class Undefined:
    """One diagnostic."""

    path: str
    line: int
    code: str
    name: str
    message: str


def find_ruff() -> str:
    """Path of ruff: the one of this Python environment, else the one on PATH.

    Raises:
        InputError: there is none.
    """
    own = Path(sysconfig.get_path("scripts")) / "ruff"
    found = str(own) if own.is_file() else shutil.which("ruff")
    if found is None:
        raise InputError("ruff is not installed; undefined names cannot be checked", "install it: `pip install ruff`")
    return found


class RuffRun:
    """ruff at work on some files of a tree; it starts at once and `result` waits for it.

    Args:
        root: of the tree.
        paths: files below it.
    """

    def __init__(self, root: Path, paths: Sequence[str]) -> None:
        self._root = root
        self._pending: list[subprocess.Popen[bytes]] = []
        ruff = find_ruff() if paths else ""
        for start in range(0, len(paths), _FILES_A_RUN):
            command = [ruff, *_COMMAND, "--", *paths[start : start + _FILES_A_RUN]]
            pipe = subprocess.PIPE
            started = subprocess.Popen(command, cwd=root, stdout=pipe, stderr=pipe, stdin=subprocess.DEVNULL)
            self._pending.append(started)

    def result(self) -> list[Undefined]:
        """Diagnostics sorted by path and line.

        Raises:
            InputError: ruff itself failed.
        """
        found: list[Undefined] = []
        for process in self._pending:
            stdout, stderr = process.communicate()
            try:
                rows = json.loads(stdout)
            except ValueError as error:
                said = stderr.decode("utf-8", "replace").strip()[:300]
                raise InputError(
                    f"ruff failed with status {process.returncode}: {said}", "run `ruff --version` in this environment"
                ) from error
            for row in rows:
                path = Path(row["filename"]).resolve().relative_to(self._root.resolve()).as_posix()
                name = _NAME.search(row["message"])
                line = row["location"]["row"] if row["location"] else 0
                code, said = row["code"] or "syntax", name[1] if name else ""
                found.append(Undefined(path, line, code, said, row["message"]))
        return sorted(found, key=lambda u: (u.path, u.line, u.code, u.name))

    def stop(self) -> None:
        """End it when its answer is no longer wanted."""
        for process in self._pending:
            if process.poll() is None:
                process.kill()
                process.communicate()
