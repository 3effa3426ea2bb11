"""The pin of upstream: `upstream.toml` and the submodule's entry in git's index, moved together and put back together."""

from __future__ import annotations

import re
from pathlib import Path

from shrinker.source.repository import git
from shrinker.values.errors import InputError

PINS = "upstream.toml"
_ENTRY = "160000"


def moved(text: str, *, release: str | None, commit: str | None) -> str:
    """The content of `upstream.toml` with another default; comments and everything else stay.

    Args:
        text: as it is.
        release: becomes the default.
        commit: of the repository, becomes the submodule's; and the default where no release is given.

    Raises:
        InputError: a line that has to change is not there.
    """
    text = re.sub(r"(?m)^default_commit = .*\n", "", text)
    if release is not None:
        text = _set(text, "default_release", release)
    elif commit is not None:
        line = re.search(r"(?m)^default_release = .*\n", text)
        if line is None:
            raise InputError(f"{PINS} has no line `default_release = …`", f"mend {PINS} or take it from git")
        text = f'{text[: line.end()]}default_commit = "{commit}"\n{text[line.end() :]}'
    if commit is not None:
        head, mark, rest = text.partition("[submodule]")
        text = head + mark + _set(rest, "commit", commit)
    return text


def _set(text: str, key: str, value: str) -> str:
    new, count = re.subn(rf'(?m)^{key} = ".*"$', f'{key} = "{value}"', text, count=1)
    if not count:
        raise InputError(f'{PINS} has no line `{key} = "…"`', f"mend {PINS} or take it from git")
    return new


def index_commit(repository: Path, submodule: str) -> str | None:
    """Commit of the submodule in git's index; None when this is no checkout, or has no such entry."""
    try:
        row = git("ls-files", "--stage", "--", submodule, at=repository).split()
    except InputError:
        return None
    return row[1] if row and row[0] == _ENTRY else None


def set_index_commit(repository: Path, submodule: str, commit: str) -> None:
    """Move the submodule's entry in git's index.

    Raises:
        InputError: git refused.
    """
    git("update-index", "--cacheinfo", f"{_ENTRY},{commit},{submodule}", at=repository)
