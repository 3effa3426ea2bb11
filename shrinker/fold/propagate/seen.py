"""What the refinement rounds see of a folded module, and nothing else.

A round is a function of this, of the closed world and of the surroundings: where they are equal, an earlier run's
answer holds. Lines count by their order alone, so an edit that only moves code is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from shrinker.values.folded import FoldedModule, ImportSite
from shrinker.values.usage import Usage


@dataclass(frozen=True, slots=True)
class Seen:
    """The fields of `FoldedModule` that rounds may read. Any other is an AttributeError."""

    path: str
    module: str
    usage: Usage
    imports: tuple[ImportSite, ...]
    """With the rank of its line among those of the module's imports for each line."""
    defines: tuple[tuple[str, int], ...]
    """With the rank of its line among those of the definitions."""

    def as_module(self) -> FoldedModule:
        """Itself, for code that takes a folded module."""
        return cast(FoldedModule, self)


def seen(module: FoldedModule) -> Seen:
    """What rounds see of a module."""
    sites = {line: rank for rank, line in enumerate(sorted({site.line for site in module.imports}))}
    places = {line: rank for rank, line in enumerate(sorted({line for _, line in module.defines}))}
    return Seen(
        module.path,
        module.module,
        module.usage,
        tuple(replace(site, line=sites[site.line]) for site in module.imports),
        tuple((name, places[line]) for name, line in module.defines),
    )
