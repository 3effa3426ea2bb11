"""Names that nothing defines, as ruff sees them (F821, F822, F823), and names that star imports may
give, where ruff is blind.
"""

import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from shrinker.check.references import is_there
from shrinker.check.trees import Seen, Trees
from shrinker.values.errors import InputError

COUNTS = ("undefined names", "star-import names")
_STAR = "F405"
"""May come from a star import."""
_NAME = re.compile(r"`([^`]+)`")
_ALONE = ("--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--exit-zero")
_COMMAND = (
    "check",
    *_ALONE,
    "--target-version=py312",
    "--output-format=json",
    f"--select=F821,F822,F823,{_STAR}",
)


def undefined_names(trees: Trees, seen: Seen) -> None:
    """What ruff says of F821, F822, F823, and names that none of the file's star imports gives.

    Raises InputError: ruff is missing or fails.
    """
    seen.look(len(trees.python))
    found = sorted(_undefined(trees.out, [*trees.python]))
    again = sorted(
        {path for path, _, code, *_ in found if code != _STAR and path in trees.source.by_path}
    )
    theirs = {(path, code, name) for path, _, code, name, _ in _undefined(trees.source.root, again)}
    for path, line, code, name, message in found:
        if code == _STAR:
            said = f"no star import of this file defines {name!r}"
            is_there(trees, seen, trees.kept[path].module, name, path, line, said, COUNTS[1])
        else:
            seen.find(path, line, f"{message} ({code})", inherited=(path, code, name) in theirs)


def find_ruff() -> str:
    """Return path of ruff: the one of this Python environment, else the one on PATH.

    Raises InputError: there is none.
    """
    own = Path(sysconfig.get_path("scripts")) / "ruff"
    found = str(own) if own.is_file() else shutil.which("ruff")
    if found is None:
        raise InputError(
            "ruff is not installed; undefined names cannot be checked",
            "install it: `pip install ruff`",
        )
    return found


def _undefined(root: Path, paths: Sequence[str]) -> Iterator[tuple[str, int, str, str, str]]:
    """Diagnostics of some files of a tree: path, line, code, name and message."""
    if not paths:
        return
    # Files are named one by one: then no `.gitignore` and no excluded folder name ("dist") hides
    # one.
    done = subprocess.run(
        [find_ruff(), *_COMMAND, "--", *paths],
        cwd=root,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        rows = json.loads(done.stdout)
    except ValueError as error:
        said = done.stderr.decode("utf-8", "replace").strip()[:300]
        message = f"ruff failed with status {done.returncode}: {said}"
        raise InputError(message, "run `ruff --version` in this environment") from error
    for row in rows:
        path = Path(row["filename"]).resolve().relative_to(root.resolve()).as_posix()
        name = _NAME.search(row["message"])
        line = row["location"]["row"] if row["location"] else 0
        yield path, line, row["code"] or "syntax", name[1] if name else "", row["message"]
