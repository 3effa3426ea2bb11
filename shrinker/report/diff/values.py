"""The comparison of two generated trees, as values: what the pages print and what ``--json`` holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FORMAT = 1

Cause = Literal["upstream", "rule", "reach", "unknown"]
"""``upstream`` changed it; a ``rule`` changed; what kept code reaches (``reach``) changed although neither did so here;
``unknown``: the reports of one side are not there."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is on one side only."""

    cause: Cause
    text: str
    """One sentence."""
    chain: tuple[str, ...] = ()
    """The ``why`` chain from a root, a step a line; of what was removed, the chain that kept it before."""


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file that only one of the two trees has."""

    path: str
    lines: int
    """In the tree that has it."""
    reason: Reason
    commits: tuple[str, ...] = ()
    """Numbers of pull requests, or short hashes, that touched it between the two upstreams."""


@dataclass(frozen=True, slots=True)
class SymbolMove:
    """A definition that only one of the two trees has, in a file that both have."""

    name: str
    kind: str
    """``function``, ``class``, ``member`` or ``assign``."""
    path: str
    line: int
    """In the upstream of the side that tells of it."""
    reason: Reason
    members: int = 0
    """Members that go with a class and are not listed."""
    generated: int = 0
    """Line in the generated file of that side; 0 where that is not known."""
    commits: tuple[str, ...] = ()
    """As of a file: those that touched its file."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of both trees with different content."""

    path: str
    added: int
    """Lines; 0 where the trees are not there to be compared."""
    removed: int
    upstream: bool | None
    """True when upstream changed it; None when that cannot be said."""
    text: str = ""
    """Why it differs, where upstream did not change it."""
    commits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitNote:
    """One commit of upstream between the two, that touched a file of one of the trees."""

    hash: str
    number: str
    """Of the pull request (``#123``), empty without one."""
    subject: str
    files: int
    """Files of the two trees that it touched."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of a smaller section: a flag, an endpoint, a distribution, a table, a kernel, a risk."""

    subject: str
    kind: str
    """``added``, ``removed``, ``changed`` or a word of the section."""
    before: str = ""
    after: str = ""
    where: str = ""
    """Path and line, or the definition."""
    reason: str = ""


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
    rules: tuple[Change, ...] = ()
    uncertain: tuple[Change, ...] = ()
    """What only one side keeps because it could not be decided."""
    kept: tuple[FileMove, ...] = ()
    removed: tuple[FileMove, ...] = ()
    symbols_kept: tuple[SymbolMove, ...] = ()
    symbols_removed: tuple[SymbolMove, ...] = ()
    changed: tuple[FileChange, ...] = ()
    decisions: tuple[Change, ...] = ()
    """Conditions, imports and table rows of files of both trees that only one side decided (``added``, ``removed``), or both in other ways."""
    commits: tuple[CommitNote, ...] = ()
    flags: tuple[Change, ...] = ()
    endpoints: tuple[Change, ...] = ()
    growth: tuple[Change, ...] = ()
    """Lines of the tree by folder where they differ, the largest difference first; `kind` is the difference."""
    dependencies: tuple[Change, ...] = ()
    tables: tuple[Change, ...] = ()
    kernels: tuple[Change, ...] = ()
    risks: tuple[Change, ...] = ()
    text: tuple[TextChange, ...] = field(default=(), repr=False)

    @property
    def different(self) -> bool:
        """True when the generated files differ; another identity alone is no difference."""
        return bool(self.kept or self.removed or self.changed)
