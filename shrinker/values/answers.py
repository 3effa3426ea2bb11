"""What a saved run answers: the chain that keeps something, or what removed it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a chain."""

    src: str
    dst: str
    kind: str
    path: str
    """Empty for an edge that a rule makes."""
    line: int

    def __str__(self) -> str:
        place = f"  {self.path}:{self.line}" if self.path else ""
        return f"{self.src} --{self.kind}--> {self.dst}{place}"


@dataclass(frozen=True, slots=True)
class Chain:
    """The best way from a root to something that is kept; of two equally good ones the first in alphabetical order."""

    target: str
    """Node id."""
    steps: tuple[Step, ...]
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
    alive: tuple[Step, ...] = ()
    """From the nearest kept symbol, removed file or removed symbol that nothing names, to the symbol: had its first step stayed, the
    symbol would have."""
