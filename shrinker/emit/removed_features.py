"""Refuse runs that ask for what is not part of this server. Written by shrinker; see NOTICE and SHRINK.json.

Each row names the function that looks, the attribute it looks at, and what is refused there.
"""

import os
from typing import Any, NamedTuple


class Refusal(NamedTuple):
    """A row of the table."""

    place: str
    attribute: str
    values: tuple[str, ...]
    """Values that are refused."""
    only: tuple[str, ...]
    """When there are any, every other value is refused."""
    feature: str
    rule: str
    instead: str


class RemovedFeatureError(ValueError):
    """The run asks for something that was removed from this server."""


REFUSALS: tuple[Refusal, ...] = ()

SWITCHES: tuple[tuple[str, str], ...] = ()
"""Environment variables that no run of this server sets, and the rule that says so."""


def refuse(place: str, argument: Any) -> None:
    """End the run with the feature, the rule that removed it and the way to get it back, if it asks for one.

    Raises:
        RemovedFeatureError: the first row that refuses.
    """
    for name, rule in SWITCHES:
        if os.environ.get(name, "").strip().lower() in ("1", "true", "yes", "y", "on"):
            raise RemovedFeatureError(
                f"shrinker: the switch {name} asks for code that is not part of this server (rule {rule}). "
                f"Unset it. To get the code back, take rule {rule} out of the profile and run `make shrink`."
            )
    for row in REFUSALS:
        if row.place == place:
            value = argument
            for part in row.attribute.split("."):
                value = getattr(value, part, None)
            for one in _values(value):
                if one not in row.only if row.only else not row.values or one in row.values:
                    name = row.attribute.rpartition(".")[2]
                    raise RemovedFeatureError(
                        f"shrinker: {name}={one} is not part of this server ({row.feature}, removed by rule {row.rule}). "
                        f"{row.instead} To get it back, take rule {row.rule} out of the profile and run `make shrink`."
                    )


def _values(value: Any) -> list[str]:
    if value is None or value is False or value == "":
        return []
    if isinstance(value, (list, tuple, set, dict)):
        return [str(item) for item in value]
    return [str(getattr(value, "value", value))]
