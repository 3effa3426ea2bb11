"""What an edge counts in a chain that explains something: the cheapest chain is the best.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shrinker.ruleset import Ruleset

_COSTS = {"by name": 8, "enumeration": 6, "string": 20, "pattern": 30}
"""Where not 1: what the syntax proves explains more than a name that merely agrees."""
_ASIDE, _API = 60, 40
"""What a chain costs before its first step: from a program beside the server, and from what only unknown code may call."""
_FILES = {"package": 2, "string": 4, "walk": 4, "import-type": 10}
"""The same as of symbols, between files: what only a type checker reads explains least."""
_BUILTIN = 6
"""What a look-up counts more by a name that objects of Python's own types have: `x.decode()` most likely means bytes."""
_TYPES = (bytes, dict, float, int, list, set, str, tuple)
_OF_BUILTINS = frozenset(f"name:{name}" for each in _TYPES for name in dir(each))


def root_costs(rules: Ruleset) -> dict[str, int]:
    """What a chain costs that begins at a root which is not what the tree is for."""
    asides = {f"root:{rule.id}": _ASIDE for rule in rules.roots if rule.aside}
    return asides | {f"root:{rule.id}": _API for rule in rules.apis}


def file_cost(kind: str) -> int:
    """What an edge between files counts."""
    return _FILES.get(kind, 1)


def cost_of(kind: str, source: str, out: int) -> int:
    """What an edge counts.

    Args:
        kind: of the edge.
        source: the node that it leaves.
        out: how many edges leave that.
    """
    cost = _COSTS.get(kind, 1)
    if kind == "by name":
        # A name that two hundred members share says less than one that two share.
        cost += out.bit_length() - 1 + (_BUILTIN if source in _OF_BUILTINS else 0)
    return cost
