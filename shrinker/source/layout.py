"""Which of upstream's files make the tree value, where a package's files lie in it, and what no source may hold.

Everything that decides "part of the tree or not" stands in this module, so that a release, a
commit and a folder of the same upstream give the same value.
"""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from shrinker.values.errors import InputError

NEEDED = ("LICENSE", "benchmark/deepseek_v3", "proto", "python", "rust", "sgl-kernel", "sgl-model-gateway")
"""Files and folders of upstream's repository that are read. `proto` and `rust` are small and what the gRPC server is built from."""

ARTEFACTS = ("python/sglang/_version.py", "*.so", "*.pyd", "*.pyc", "*/__pycache__/*", "*.egg-info/*")
"""What a build or a run leaves in a package and upstream's repository does not have; `*` crosses folders."""

PYPROJECT = "python/pyproject.toml"

MAX_MEMBER_BYTES = 64 * 2**20
MAX_TOTAL_BYTES = 2 * 2**30
MAX_MEMBERS = 100_000
HOSTILE = "this is no SGLang archive as the project publishes it; check where it comes from"
"""The next step where any of that is not so."""


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


_UNSAFE = re.compile(r"^[a-z]:|[\\\x00-\x1f\x7f]|(^|/)(\.{0,2}|\.git)(/|$)", re.IGNORECASE)
"""A drive, a backslash, a control character; a part that is empty, ``.``, ``..`` or ``.git``."""


def checked_path(member: str, where: str) -> str:
    """The member's path, unchanged, when it can only lie below the folder that it is written to. Raises InputError."""
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
        """Count a member of `size` bytes; returns its path. Raises InputError when it must not be written."""
        checked_path(path, self.where)
        # Folded case: two such files would be one on a file system that ignores case.
        key = path.casefold()
        if key in self._seen:
            raise InputError(f"{self.where}: two members named {path!r}", HOSTILE)
        self._seen.add(key)
        self._total += size
        if size > MAX_MEMBER_BYTES:
            raise InputError(f"{self.where}: {path!r} is {size:,} bytes, more than {MAX_MEMBER_BYTES:,}", HOSTILE)
        if self._total > MAX_TOTAL_BYTES or len(self._seen) > MAX_MEMBERS:
            raise InputError(f"{self.where}: more than {MAX_TOTAL_BYTES:,} bytes or {MAX_MEMBERS:,} files", HOSTILE)
        return path
