"""The UPSTREAM value: what a person may ask for, and what is taken when nothing is asked for."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.version import InvalidVersion, Version

from shrinker.values.errors import InputError

FORMS = "release:VERSION, git:PATH_OR_URL@COMMIT, submodule or path:DIR"


@dataclass(frozen=True, slots=True)
class GitSpec:
    """A commit of a git repository, read from its objects."""

    repository: str
    """A folder (a checkout or a bare git directory) or a URL."""
    commit: str
    """Hash, tag or branch; an abbreviated hash in a folder, or where a branch or tag of the URL
    ends.
    """

    @property
    def is_url(self) -> bool:
        """True when the repository has to be fetched; an existing folder is always a folder."""
        if Path(self.repository).expanduser().exists():
            return False
        return (
            "://" in self.repository
            or re.match(r"[\w.-]+@[\w.-]+:|[\w-]+(\.[\w-]+)+:", self.repository) is not None
        )


Spec = Version | GitSpec | Path | Literal["submodule"]
"""A release on the package index, a commit, a folder (a checkout, or a copy of one), or the
checkout at the submodule's path.
"""


def without_password(url: str) -> str:
    """Return the URL as it may be printed."""
    return re.sub(r"//[^/?#]*@", "//", url)


def parse_spec(text: str) -> Spec:
    """Read an UPSTREAM value.

    Raises InputError: it has none of the four forms, or a part of it is missing.
    """
    kind, _, rest = text.strip().partition(":")
    if kind == "submodule" and not rest:
        return "submodule"
    if kind == "release":
        try:
            return Version(rest)
        except InvalidVersion:
            raise InputError(
                f"UPSTREAM={text}: {rest!r} is not a version", "write for example release:0.5.7"
            ) from None
    if kind == "git":
        repository, _, commit = rest.rpartition("@")
        # A commit never holds `:` but an scp-like URL (git@host:path) does, after its `@`.
        if not repository or not re.fullmatch(r"[\w.+/][\w.+/-]*", commit):
            raise InputError(
                f"UPSTREAM={text} names no commit",
                "write git:PATH_OR_URL@COMMIT, the commit last, after `@`",
            )
        if repository.startswith("-"):
            raise InputError(
                f"UPSTREAM={text}: a repository cannot start with `-`", "write git:./-name@COMMIT"
            )
        return GitSpec(repository, commit)
    if kind == "path":
        if not rest:
            raise InputError(f"UPSTREAM={text} names no folder", "write path:DIR")
        return Path(rest).expanduser()
    raise InputError(f"UPSTREAM={text!r} is none of the forms known", f"write {FORMS}")
