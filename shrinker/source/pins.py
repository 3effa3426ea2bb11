"""The pin of upstream: `upstream.toml` (the default release, the submodule, and which commit equals
which release) and the submodule's entry in git's index, moved together and put back together.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from shrinker.project import PINS, pins_file
from shrinker.source.repository import git
from shrinker.values.errors import InputError
from shrinker.values.upstream import Identity

_ENTRY = "160000"


@dataclass(frozen=True, slots=True)
class Pins:
    """What this repository says about upstream."""

    default_release: str
    submodule_path: str
    submodule_url: str
    submodule_commit: str
    commit_of: Mapping[str, str] = field(default_factory=dict)
    """Release to full commit hash."""
    default_commit: str | None = None
    """What is read by default instead of the release: a commit of the submodule's repository."""

    @property
    def default_spec(self) -> str:
        """The UPSTREAM value that is read when none is given and the submodule is not
        checked out.
        """
        if self.default_commit is not None:
            return f"git:{self.submodule_url}@{self.default_commit}"
        return f"release:{self.default_release}"

    @property
    def has_submodule_of_default(self) -> bool:
        """True when the submodule's commit has the same files as the default release."""
        return self.commit_of.get(self.default_release) == self.submodule_commit

    def is_pinned(self, upstream: Identity) -> bool:
        """True for the upstream whose reports this repository holds."""
        if upstream.dirty:
            return False
        if self.default_commit is not None:
            return upstream.commit == self.default_commit and upstream.kind != "release"
        return upstream.kind == "release" and upstream.version == self.default_release


def load_pins(repository: Path) -> Pins:
    """Read the `upstream.toml` of a project, or that of the package where it has none.

    Raises InputError: it is missing, is not TOML or lacks a key.
    """
    path = pins_file(repository)
    with reading(path):
        data = tomllib.loads(path.read_text("utf-8"))
        return Pins(
            default_release=data["default_release"],
            submodule_path=data["submodule"]["path"],
            submodule_url=data["submodule"]["url"],
            submodule_commit=data["submodule"]["commit"],
            commit_of={pair["release"]: pair["commit"] for pair in data.get("pair", [])},
            default_commit=data.get("default_commit"),
        )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """While a file of pins is read: an error says which, and what to do."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}", "run from a checkout of shrinker"
        ) from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error!r}", "mend it, or take it from git") from error


def moved(text: str, *, release: str | None, commit: str | None) -> str:
    """Return the content of `upstream.toml` with a release as its default, and a commit as the
    submodule's, which is the default where no release is given; comments and everything else stay.
    Raises InputError when a line that has to change is not there.
    """
    text = re.sub(r"(?m)^default_commit = .*\n", "", text)
    if release is not None:
        text = _set(text, "default_release", f'default_release = "{release}"')
    elif commit is not None:
        text = _set(text, "default_release", rf'\g<0>\ndefault_commit = "{commit}"')
    if commit is not None:
        head, mark, rest = text.partition("[submodule]")
        text = head + mark + _set(rest, "commit", f'commit = "{commit}"')
    return text


def _set(text: str, key: str, line: str) -> str:
    """Return the text with another line for a key."""
    new, count = re.subn(rf'(?m)^{key} = ".*"$', line, text, count=1)
    if not count:
        raise InputError(f'{PINS} has no line `{key} = "…"`', f"mend {PINS} or take it from git")
    return new


def index_commit(repository: Path, submodule: str) -> str | None:
    """Commit of the submodule in git's index; None when this is no checkout, or has no such
    entry.
    """
    row: list[str] = []
    with suppress(InputError):
        row = git("ls-files", "--stage", "--", submodule, at=repository).split()
    return row[1] if row[:1] == [_ENTRY] else None


def set_index_commit(repository: Path, submodule: str, commit: str) -> None:
    """Move the submodule's entry in git's index. Raises InputError: git refused."""
    git("update-index", "--cacheinfo", f"{_ENTRY},{commit},{submodule}", at=repository)
