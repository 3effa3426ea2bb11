"""What the `graph` phase returns: nodes kept, nodes removed, and why; and what a saved run answers:
the chain that keeps something, or what removed it.
"""

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
    """``root``, ``import``, ``import-local``, ``import-type``, ``package`` (a parent's
    ``__init__``), ``string``, ``walk``, ``data``, ``include``, ``external``, ``kernel``,
    ``operator`` (Python names it), ``registration`` (native code offers it), ``call`` (of a
    function of another source), ``keep``.
    """
    path: str
    """Empty for an edge that a rule makes."""
    line: int

    def __str__(self) -> str:
        place = f"  {self.path}:{self.line}" if self.path else ""
        return f"{self.src} --{self.kind}--> {self.dst}{place}"

    @property
    def reason(self) -> str:
        """Why `dst` is kept, in words: ``<kind> from <src> at <path>:<line>``."""
        return f"{self.kind} from {self.src}" + (
            f" at {self.path}:{self.line}" if self.path else ""
        )


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


@dataclass(frozen=True, slots=True)
class Chain:
    """The best way from a root to something that is kept; of two equally good ones the first in
    alphabetical order.
    """

    target: str
    """Node id."""
    steps: tuple[Edge, ...]
    uncertain: str = ""
    """Why the target is only a guess; empty when it is sure."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in upstream that named something removed."""

    path: str
    line: int
    fate: str
    """What became of that place."""
    source: str = ""
    """The symbol or file that named it; empty for an import of a file."""

    def __str__(self) -> str:
        by = f"named by {self.source}: " if self.source else ""
        return f"{self.path}:{self.line}: {by}{self.fate}"


@dataclass(frozen=True, slots=True)
class Removed:
    """Why a file, a distribution, a symbol or a line is not in the generated tree."""

    path: str
    """Of upstream; ``distribution:NAME`` of a distribution."""
    rule: str
    """Rule id, or ``unreachable``."""
    reason: str
    symbol: str = ""
    """Dotted name, or ``path:line``; empty for a whole file."""
    line: int = 0
    named_by: tuple[Site, ...] = ()
    """Imports of a file, and what became of each; removed code that named a symbol."""
    alive: tuple[Edge, ...] = ()
    """From the nearest kept symbol, removed file or removed symbol that nothing names, to the
    symbol: had its first step stayed, the symbol would have.
    """
