"""What goes of files that are no Python: whole lines, since nothing else can be judged by reading."""

from dataclasses import dataclass

HASH_COMMENTS = ("CMakeLists.txt", ".cmake", ".toml")
"""Ends of the names of files whose comments start with ``#``; those of other native files start with ``//``."""


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Lines that go, from 1."""

    first: int
    last: int
    what: str
    """One phrase: what they said."""
    rules: tuple[str, ...] = ()
    """Rules by which they go; none when nothing reaches them."""
