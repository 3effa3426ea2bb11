"""The evidence levels that every run asks for, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from shrinker.cache import Cache
from shrinker.check.capabilities import CAPABILITIES, verify_capabilities
from shrinker.check.form import verify_form
from shrinker.check.references import verify_references
from shrinker.ruleset import Ruleset
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence
from shrinker.values.upstream import UpstreamTree


class Level(Protocol):
    """What every evidence level is: a function from two trees to evidence."""

    def __call__(
        self,
        tree: UpstreamTree,
        out: Path,
        manifest: Manifest,
        *,
        jobs: int,
        progress: Callable[[str], None],
        cache: Cache | None = None,
        rules: Ruleset | None = None,
        meanwhile: Callable[[], None] = ...,
    ) -> Evidence: ...


EVIDENCE_LEVELS: Mapping[str, Level] = MappingProxyType(
    {"form": verify_form, "references": verify_references, CAPABILITIES: verify_capabilities}
)
"""The levels by name; a new level is added here."""

__all__ = ["EVIDENCE_LEVELS", "Level", "verify_capabilities", "verify_form", "verify_references"]
