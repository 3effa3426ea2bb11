"""What becomes of the distributions that upstream declares: required by the generated package, or
dropped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["imported", "named", "needed", "uncertain", "dropped"]
"""``imported`` by kept code; ``named`` in a string or as a command of kept code; ``needed`` at run
time without an import, as a rule says; ``uncertain``: nothing tells what it is for, so that it
stays; ``dropped``.
"""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One declared distribution."""

    name: str
    """Normalised as in PEP 503."""
    declared: tuple[tuple[str, str], ...]
    """Extra (empty for a plain dependency) and requirement, sorted."""
    imports: tuple[str, ...]
    """Dotted names of the modules that it installs, as far as they are known."""
    state: State
    reason: str
    """One sentence."""
    rule: str = ""
    """The `[[distribution]]` or `[[remove]]` rule that the answer rests on, if one does."""
    users: tuple[tuple[str, int], ...] = ()
    """Path and line of each place in kept code that imports or names it; line 0 where only the file
    is known.
    """
    needed_by: str = ""
    """The distribution or module that loads it, of a needed one."""
    importers: tuple[tuple[str, int, str], ...] = ()
    """Of a dropped one: path, line and dotted name of places in upstream that import it."""

    @property
    def kept(self) -> bool:
        """True when the generated package still requires it."""
        return self.state != "dropped"


@dataclass(frozen=True, slots=True)
class Distributions:
    """All of them."""

    rows: tuple[Distribution, ...] = ()
    """Sorted by name."""
    dependencies: tuple[str, ...] = ()
    """Requirements left."""
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Extras left, with their requirements."""
    dropped_extras: tuple[tuple[str, str], ...] = ()
    """Extra and reason."""
