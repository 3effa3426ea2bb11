"""`upstream.toml`: the default release, the submodule, and which commit equals which release."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shrinker.project import pins_file
from shrinker.values.errors import InputError
from shrinker.values.upstream import Identity


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
        """The UPSTREAM value that is read when none is given and the submodule is not checked out."""
        if self.default_commit is not None:
            return f"git:{self.submodule_url}@{self.default_commit}"
        return f"release:{self.default_release}"

    def is_pinned(self, upstream: Identity) -> bool:
        """True for the upstream whose reports this repository holds."""
        if upstream.dirty:
            return False
        if self.default_commit is not None:
            return upstream.commit == self.default_commit and upstream.kind != "release"
        return upstream.kind == "release" and upstream.version == self.default_release

    def release_of(self, commit: str) -> str | None:
        """The release that has the same package as `commit`, if upstream.toml names one."""
        return next((release for release, pinned in self.commit_of.items() if pinned == commit), None)


def load_pins(repository: Path) -> Pins:
    """Read the `upstream.toml` of a project, or that of the package where it has none.

    Raises:
        InputError: it is missing, is not TOML or lacks a key.
    """
    path = pins_file(repository)
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return Pins(
            default_release=data["default_release"],
            submodule_path=data["submodule"]["path"],
            submodule_url=data["submodule"]["url"],
            submodule_commit=data["submodule"]["commit"],
            commit_of={pair["release"]: pair["commit"] for pair in data.get("pair", [])},
            default_commit=data.get("default_commit"),
        )
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", "run from a checkout of shrinker") from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error!r}", "mend it, or take it from git") from error
