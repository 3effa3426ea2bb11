"""`upstream.toml`: the default release, the submodule, and which commit equals which release."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shrinker.values.errors import InputError


@dataclass(frozen=True, slots=True)
class Pins:
    """What this repository says about upstream."""

    default_release: str
    submodule_path: str
    submodule_url: str
    submodule_commit: str
    commit_of: Mapping[str, str] = field(default_factory=dict)
    """Release to full commit hash."""

    def release_of(self, commit: str) -> str | None:
        """The release that has the same package as `commit`, if upstream.toml names one."""
        return next((release for release, pinned in self.commit_of.items() if pinned == commit), None)


def load_pins(repository: Path) -> Pins:
    """Read `upstream.toml` at the repository's root.

    Raises:
        InputError: it is missing, is not TOML or lacks a key.
    """
    path = repository / "upstream.toml"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return Pins(
            default_release=data["default_release"],
            submodule_path=data["submodule"]["path"],
            submodule_url=data["submodule"]["url"],
            submodule_commit=data["submodule"]["commit"],
            commit_of={pair["release"]: pair["commit"] for pair in data.get("pair", [])},
        )
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", "run from a checkout of shrinker") from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"upstream.toml: {error!r}", "mend upstream.toml or take it from git") from error
