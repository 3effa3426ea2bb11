"""Texts of named errors: what folding writes where a removed feature was, and how it knows them again.

Such a text says a name to people and looks nothing up: taken for upstream's it would keep what it says is gone.
"""

from __future__ import annotations

import re

from shrinker.facts.lattice import Removed

_FIRST = "shrinker: "
_MESSAGE = re.compile(
    _FIRST + r"\S+ is not part of this server \(.*, removed by rule (\S+)\)\. "
    r"To get it back, take rule \1 out of the profile and run `make shrink`\."
)


def message(removed: Removed) -> str:
    """Text of the named error that takes the place of a removed feature."""
    return (
        f"{_FIRST}{removed.name} is not part of this server ({removed.feature}, removed by rule {removed.rule}). "
        f"To get it back, take rule {removed.rule} out of the profile and run `make shrink`."
    )


def is_message(text: str) -> bool:
    """True for a text that `message` made."""
    return text.startswith(_FIRST) and _MESSAGE.fullmatch(text) is not None
