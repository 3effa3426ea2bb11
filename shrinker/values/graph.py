"""What the `graph` phase returns: nodes kept, nodes removed, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from shrinker.values.folded import Uncertain

UNREACHABLE = "unreachable"
"""What stands in the place of a rule where nothing kept names something."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """`src` needs `dst`; `path:line` is the place in the upstream tree that says so.

    Node ids: ``root:<rule id>``, ``module:<dotted>``, ``data:<path>``, ``native:<path>``,
    ``external:<top-level import name>``, ``kernel:<name>``, ``operator:<name>``.
    """

    src: str
    dst: str
    kind: str
    """``root``, ``import``, ``import-local``, ``import-type``, ``package`` (a parent's ``__init__``),
    ``string``, ``walk``, ``data``, ``include``, ``external``, ``kernel``, ``operator`` (Python names it), ``registration`` (native code offers
    it), ``call`` (of a function of another source), ``keep``."""
    path: str
    line: int

    @property
    def reason(self) -> str:
        """Why `dst` is kept, in words: ``<kind> from <src> at <path>:<line>``."""
        return f"{self.kind} from {self.src}" + (f" at {self.path}:{self.line}" if self.path else "")


@dataclass(frozen=True, slots=True)
class Removal:
    """Why a file is not in the generated tree."""

    rule: str
    """Rule id, or `UNREACHABLE`."""
    reason: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Reachability over the folded code."""

    edges: tuple[Edge, ...]
    """Edges between kept nodes, sorted."""
    kept: Mapping[str, str]
    """Path of every kept file to the reason, see `Edge.reason`."""
    removed: Mapping[str, Removal]
    """Path of every other file."""
    uncertain: tuple[Uncertain, ...]
    """Sorted; what is kept only because it could not be decided."""
