"""Which of upstream's files make the tree value, where a package's files lie in it, and what no
source may hold.

Everything that decides "part of the tree or not" stands in this module, so that a release, a
commit and a folder of the same upstream give the same value.
"""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from shrinker.values.errors import InputError
from shrinker.values.upstream import COMPILED, PACKAGE_PREFIX

NEEDED = (
    "LICENSE",
    "benchmark/deepseek_v3",
    "proto",
    "python",
    "rust",
    "sgl-kernel",
    "sgl-model-gateway",
)
"""Files and folders of upstream's repository that are read.

`proto` and `rust` are small and what the gRPC server is built from.
"""

ARTEFACTS = {
    "python/sglang/_version.py": "written by a build; the tree has its own",
    "*.pyc": "left by a run",
    "*/__pycache__/*": "left by a run",
    "*.egg-info/*": "left by a build",
}
"""What a build or a run leaves in a package and upstream's repository does not have, with why; `*`
crosses folders.
"""
OUTSIDE = "outside the folders that are read"

PYPROJECT = "python/pyproject.toml"

MAX_MEMBER_BYTES = 64 * 2**20
MAX_TOTAL_BYTES = 2 * 2**30
MAX_MEMBERS = 100_000
HOSTILE = "this is no SGLang archive as the project publishes it; check where it comes from"
"""The next step where any of that is not so."""


def why_unread(path: str) -> str:
    """Return why a file of upstream's repository does not belong to the tree value; empty for one
    that does.
    """
    if not any(path == top or path.startswith(f"{top}/") for top in NEEDED):
        return OUTSIDE
    # The modules of the package that are compiled are served; any other library was left by a
    # build.
    if path.endswith(COMPILED) and not path.startswith(PACKAGE_PREFIX):
        return "left by a build"
    return next((why for pattern, why in ARTEFACTS.items() if fnmatchcase(path, pattern)), "")


def in_tree(path: str) -> bool:
    """Tell whether a file of upstream's repository belongs to the tree value."""
    return not why_unread(path)


def from_wheel(member: str) -> tuple[str, str]:
    """Return path in upstream's repository of a wheel's member, and why it is no part of the tree,
    empty where it is.

    The licence comes from the metadata folder: Apache-2.0 section 4 wants it beside the code.
    """
    if member.startswith("sglang/"):
        path = f"python/{member}"
        return path, why_unread(path)
    if re.fullmatch(r"[^/]+\.dist-info/(licenses/)?LICENSE", member):
        return "LICENSE", ""
    return member, "metadata of the wheel" if ".dist-info/" in member else OUTSIDE


_UNSAFE = re.compile(r"^[a-z]:|[\\\x00-\x1f\x7f]|(^|/)(\.{0,2}|\.git)(/|$)", re.IGNORECASE)
"""A drive, a backslash, a control character; a part that is empty, ``.``, ``..`` or ``.git``."""


def checked_path(member: str, where: str) -> str:
    """Return the member's path, unchanged, when it can only lie below the folder that it is written
    to.

    Raises InputError.
    """
    if _UNSAFE.search(member):
        raise InputError(f"{where}: refused the path {member!r}", HOSTILE)
    return member


@dataclass
class Guard:
    """Checks that hold over all members of one source: paths, duplicates, sizes."""

    where: str
    """Name of the source, for messages."""
    _seen: set[str] = field(default_factory=set)
    _total: int = 0

    def admit(self, path: str, size: int) -> str:
        """Count a member of `size` bytes; returns its path.

        Raises InputError when it must not be written.
        """
        checked_path(path, self.where)
        # Folded case: two such files would be one on a file system that ignores case.
        key = path.casefold()
        if key in self._seen:
            raise InputError(f"{self.where}: two members named {path!r}", HOSTILE)
        self._seen.add(key)
        self._total += size
        if size > MAX_MEMBER_BYTES:
            raise InputError(
                f"{self.where}: {path!r} is {size:,} bytes, more than {MAX_MEMBER_BYTES:,}", HOSTILE
            )
        if self._total > MAX_TOTAL_BYTES or len(self._seen) > MAX_MEMBERS:
            raise InputError(
                f"{self.where}: more than {MAX_TOTAL_BYTES:,} bytes or {MAX_MEMBERS:,} files",
                HOSTILE,
            )
        return path
