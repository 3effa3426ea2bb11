"""Texts of named errors: what folding writes where a removed feature was, and how it knows them
again.

Such a text says a name to people and looks nothing up: taken for upstream's it would keep what it
says is gone.
"""

import re

from shrinker.facts.lattice import Removed

_FIRST = "shrinker: "
_MESSAGE = re.compile(
    _FIRST + r"\S+ is not part of this server \(.*, removed by rule (\S+)\)\. "
    r"To get it back, take rule \1 out of the profile and run `make shrink`\."
)
_NO_PROGRAM = re.compile(
    _FIRST + r"the program (\S+) is not part of this server \(unreachable: no root runs it\)\. "
    r"To get it back, name \1 in a \[\[root\]\] rule of the profile and run `make shrink`\."
)


def message(removed: Removed) -> str:
    """Return text of the named error that takes the place of a removed feature."""
    return (
        f"{_FIRST}{removed.name} is not part of this server ({removed.feature}, removed by rule "
        f"{removed.rule}). "
        f"To get it back, take rule {removed.rule} out of the profile and run `make shrink`."
    )


def no_program(module: str) -> str:
    """Return text of the named error in a module that stays for what it defines, where upstream
    runs it as a program.
    """
    return (
        f"{_FIRST}the program {module} is not part of this server (unreachable: no root runs it). "
        f"To get it back, name {module} in a [[root]] rule of the profile and run `make shrink`."
    )


def is_message(text: str) -> bool:
    """True for a text that `message` or `no_program` made."""
    return text.startswith(_FIRST) and any(
        known.fullmatch(text) for known in (_MESSAGE, _NO_PROGRAM)
    )
