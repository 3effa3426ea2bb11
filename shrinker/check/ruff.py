"""Names that nothing defines when the code runs, as ruff sees them.

- F821, F822, F823: nothing binds the name.
- TC004: nothing but an import under `if TYPE_CHECKING:` does.
- F405: a star import may, where ruff is blind; what the star gives is asked here.
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
_TYPES_ALONE = "TC004"
"""Is imported for type checkers alone, and read by code that runs."""
_NAME = re.compile(r"`([^`]+)`")
_ALONE = ("--isolated", "--no-cache", "--ignore-noqa", "--quiet", "--exit-zero")
_COMMAND = (
    "check",
    *_ALONE,
    "--target-version=py312",
    "--output-format=json",
    f"--select=F821,F822,F823,{_TYPES_ALONE},{_STAR}",
)


def undefined_names(trees: Trees, seen: Seen) -> None:
    """Report names that the code reads when it runs, and that nothing then defines.

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
            continue
        if code == _TYPES_ALONE:
            message = f"`{name}` is imported for type checkers alone, and code that runs reads it"
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
