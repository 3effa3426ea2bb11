"""The content of SHRINK.json, which is also the lock: what was generated, from what, by which
rules. And what else lies in a tree.
"""

import fnmatch
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shrinker.values.errors import InputError
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import Identity

MANIFEST = "SHRINK.json"
HISTORY = ".git"
"""A tree may be a checkout of its owner's: what stands below this name at its root is never
touched, and part of no tree.
"""
_LEFT_BY_TOOLS = (
    "*/__pycache__",
    "*.egg-info",
    "*/build/lib",
    "*/build/lib.*",
    "*/build/bdist.*",
    "*/build/temp.*",
)
"""Folders that Python and setuptools leave where a tree is run or built; whatever is in them can be
made again.
"""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything needed to say whether a tree is what the rules make of an upstream."""

    tool_version: str
    profile: str
    rules_hash: str
    """SHA-256 over the rule files that the profile includes."""
    upstream: Identity
    files: tuple[EmittedFile, ...]
    """Sorted by path; SHRINK.json itself is not in it."""
    defaults: tuple[tuple[str, str], ...] = ()
    """Texts that upstream would choose by itself, and what a rule puts in their place."""

    @property
    def tree(self) -> str:
        """SHA-256 over paths and contents of all files: other rules, or another version, may make
        the same tree.
        """
        lines = "".join(f"{file.sha256}  {file.path}\n" for file in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()

    def to_json(self) -> str:
        """Stable text: sorted keys, one file a line, newline at the end."""
        head: dict[str, Any] = {"format": FORMAT, **asdict(self)}
        files = {row.pop("path"): row for row in head.pop("files")}
        if not self.defaults:
            del head["defaults"]
        rows = ",\n".join(
            f"  {json.dumps(path)}: {json.dumps(row, sort_keys=True)}"
            for path, row in files.items()
        )
        body = json.dumps(head, indent=1, sort_keys=True)
        return f'{body[:-2]},\n "files": {{\n{rows}\n }}\n}}\n'

    @staticmethod
    def from_json(text: str | bytes, where: str) -> "Manifest":
        """Read it back.

        Raises InputError, naming `where`, when it is not a manifest of this format.
        """
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise ValueError(f"format {data['format']} (this shrinker reads {FORMAT})")
            return Manifest(
                tool_version=data["tool_version"],
                profile=data["profile"],
                rules_hash=data["rules_hash"],
                upstream=Identity(**data["upstream"]),
                defaults=tuple((before, after) for before, after in data.get("defaults", ())),
                files=tuple(EmittedFile(path=p, **row) for p, row in sorted(data["files"].items())),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{where} is not a SHRINK.json: {error}",
                "generate the tree again with `make shrink`",
            ) from error


def contents(out: Path) -> Iterator[str]:
    """Return paths of all files and links below a tree, in order, but for `.git` and what tools
    leave.
    """
    return (path for path in files_below(out, _passed_over) if path != HISTORY)


def files_below(
    root: Path, passed_over: Callable[[str], bool] = lambda folder: False
) -> Iterator[str]:
    """Yield paths of all files and links below a folder, in order, but for those in some
    folders.
    """
    for folder, folders, names in os.walk(root):
        below = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        folders[:] = sorted(name for name in folders if not passed_over(f"{prefix}{name}"))
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (f"{prefix}{name}" for name in sorted([*names, *links]))


def foreign(out: Path) -> Sequence[str]:
    """Return paths below a folder, if it is there, that hold what no run of shrinker wrote there:
    added, or changed since; all paths where `SHRINK.json` is none.
    """
    try:
        written = Manifest.from_json((out / MANIFEST).read_text("utf-8"), str(out / MANIFEST)).files
    except (OSError, UnicodeDecodeError, InputError):
        return list(contents(out))
    known = {file.path: file.sha256 for file in written}
    return [
        path
        for path in contents(out)
        if path != MANIFEST and not _is_written(out / path, known.get(path))
    ]


def _passed_over(path: str) -> bool:
    return path == HISTORY or any(
        fnmatch.fnmatchcase(f"/{path}", pattern) for pattern in _LEFT_BY_TOOLS
    )


def _is_written(file: Path, sha256: str | None) -> bool:
    return (
        sha256 is not None
        and not file.is_symlink()
        and hashlib.sha256(file.read_bytes()).hexdigest() == sha256
    )
