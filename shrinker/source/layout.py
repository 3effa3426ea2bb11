"""Which of upstream's files make the tree value, and where a package's files lie in it.

Everything that decides "part of the tree or not" stands in this module, so that a release, a
commit and a folder of the same upstream give the same value.
"""

import posixpath
import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from shrinker.values.errors import InputError

NEEDED = ("LICENSE", "benchmark/deepseek_v3", "proto", "python", "rust", "sgl-kernel", "sgl-model-gateway")
"""Files and folders of upstream's repository that are read. `proto` and `rust` are small and what the gRPC server is built from."""

ARTEFACTS = ("python/sglang/_version.py", "*.so", "*.pyd", "*.pyc", "*/__pycache__/*", "*.egg-info/*")
"""What a build or a run leaves in a package and upstream's repository does not have; `*` crosses folders."""

PYPROJECT = "python/pyproject.toml"

MAX_MEMBER_BYTES = 64 * 2**20
MAX_TOTAL_BYTES = 2 * 2**30
MAX_MEMBERS = 100_000


def in_tree(path: str) -> bool:
    """True when a file of upstream's repository belongs to the tree value."""
    needed = any(path == top or path.startswith(f"{top}/") for top in NEEDED)
    return needed and not any(fnmatchcase(path, pattern) for pattern in ARTEFACTS)


def from_wheel(member: str) -> str | None:
    """Tree path of a wheel's member; ``None`` for what is no part of the tree (`tools/`, metadata).

    The licence comes from the metadata folder: Apache-2.0 section 4 wants it beside the code.
    """
    if member.startswith("sglang/"):
        path = f"python/{member}"
    elif re.fullmatch(r"[^/]+\.dist-info/(licenses/)?LICENSE", member):
        path = "LICENSE"
    else:
        return None
    return path if in_tree(path) else None


_ORDINARY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
"""Nearly all paths: nothing in them can mean anything else."""


def checked_path(member: str, where: str) -> str:
    """The member's path, unchanged, when it can only lie below the folder it is written to.

    Raises:
        InputError: absolute, `..`, a drive, a backslash, an empty part or a control character.
    """
    if _ORDINARY.fullmatch(member):
        return member
    parts = member.split("/")
    bad = (
        not member
        or any(part in ("", ".", "..") for part in parts)
        or "\\" in member
        or re.match(r"[A-Za-z]:", member) is not None
        or any(ord(char) < 32 or ord(char) == 127 for char in member)
        or ".git" in (part.lower() for part in parts)
    )
    if bad:
        raise InputError(
            f"{where}: refused the path {member!r}", "this is no SGLang archive; check where it comes from"
        )
    return member


def link_target(path: str, target: str) -> str | None:
    """Path that a symbolic link at `path` names, within the repository; ``None`` when it leaves it."""
    if target.startswith("/") or "\0" in target:
        return None
    joined = posixpath.normpath(str(PurePosixPath(path).parent / target))
    return None if joined == "." or joined.startswith("../") or joined == ".." else joined
