"""Python's scopes, as far as they say which module a name is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Scope:
    """A module, class, function or comprehension."""

    kind: str
    parent: Scope | None
    names: dict[str, set[str] | None] = field(default_factory=dict)
    """Name to the modules it may be; `None` when it may be anything."""
    lifted: set[str] = field(default_factory=set)
    """Names declared `global`."""


def look_up(scope: Scope, name: str) -> set[str] | None:
    """Modules that `name`, read in `scope`, may be; `None` when it may be anything else too."""
    at: Scope | None = scope
    while at is not None:
        # Names of a class body are not seen from the functions inside it.
        if (at is scope or at.kind != "class") and name in at.names and name not in at.lifted:
            return at.names[name]
        at = at.parent
    return None
