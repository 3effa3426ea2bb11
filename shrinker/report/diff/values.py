"""The comparison of two generated trees, as values: what the pages print and what
``--json`` holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Cause = Literal["upstream", "rule", "reach", "unknown", "shrinker", ""]
"""``upstream`` changed it; a ``rule`` changed; what kept code reaches (``reach``) changed although
neither did so here;
``unknown``: the reports of one side are not there; ``shrinker`` writes it itself; none where nobody
    asks.
"""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something differs, or is on one side only."""

    cause: Cause = ""
    text: str = ""
    """One sentence."""
    chain: tuple[str, ...] = ()
    """The ``why`` chain from a root, a step a line; of what was removed, the chain that kept it
    before.
    """


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that differs."""

    subject: str
    """What it is: a path, a qualified name, a flag, a condition."""
    kind: str
    """``added``, ``removed``, ``changed`` or a word of the table."""
    before: str = ""
    after: str = ""
    path: str = ""
    line: int = 0
    """In the generated file of the side that has it; 0 where that is not known."""
    upstream: int = 0
    """The same in upstream's file."""
    reason: Reason = Reason()
    commits: tuple[str, ...] = ()
    """Numbers of pull requests, or short hashes, that touched its file between the two upstreams.
    """

    @property
    def where(self) -> str:
        """Path and line."""
        line = self.upstream or self.line
        return f"{self.path}:{line}" if line else self.path

    @property
    def fate(self) -> str:
        """``added``, ``removed`` or ``changed``."""
        return next((fate for fate in ("added", "removed") if self.kind.endswith(fate)), "changed")


@dataclass(frozen=True, slots=True)
class Identified:
    """One of the two sides in words."""

    name: str
    """As it was asked for."""
    upstream: str
    commit: str
    profile: str
    rules_hash: str
    tool_version: str
    files: int
    python_lines: int
    reference: str = ""
    """As of `Identity`."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """The unified diff of one file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Review:
    """All of it; every tuple in the order in which it is printed."""

    old: Identified
    new: Identified
    notes: tuple[str, ...] = ()
    """What could not be looked at, and why."""
    tables: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    """By the names of `TABLES` in `pages`."""
    text: tuple[TextChange, ...] = field(default=(), repr=False)

    @property
    def different(self) -> bool:
        """True when the generated files differ; another identity alone is no difference."""
        return any(self.table(name) for name in ("kept", "removed", "changed"))

    def table(self, name: str) -> tuple[Row, ...]:
        """Return the rows of a table."""
        return self.tables.get(name, ())
