"""What an edge counts in a chain that explains something: the cheapest chain is the best.

Only the standard library is imported here: an answer takes less time than loading a graph library would.
"""

_COSTS = {"by name": 3, "enumeration": 4, "string": 6, "pattern": 8}
"""Where not 1: what the syntax proves explains more than a name that merely agrees."""


def cost_of(kind: str, out: int) -> int:
    """What an edge counts.

    Args:
        kind: of the edge.
        out: how many edges leave its source.
    """
    # A name that two hundred members share says less than one that two share.
    return _COSTS.get(kind, 1) + (out.bit_length() - 1 if kind == "by name" else 0)
