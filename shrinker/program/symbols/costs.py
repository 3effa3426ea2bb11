"""What an edge counts in a chain that explains something: the cheapest chain is the best.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

_COSTS = {"by name": 3, "enumeration": 6, "string": 20, "pattern": 30}
"""Where not 1: what the syntax proves explains more than a name that merely agrees."""
_BUILTIN = 6
"""What a look-up counts more by a name that objects of Python's own types have: `x.decode()` most likely means bytes."""
_TYPES = (bytes, dict, float, int, list, set, str, tuple)
_OF_BUILTINS = frozenset(f"name:{name}" for each in _TYPES for name in dir(each))


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
