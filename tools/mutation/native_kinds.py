"""What can go wrong in one native file: one function a kind of fault."""

from collections.abc import Callable, Iterator

from shrinker.emit.package import NOTE
from shrinker.syntax.native.reader import read_native
from shrinker.syntax.native.source import Lines
from tools.mutation.kinds import Change

SUFFIXES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp")


def registrations(text: str) -> Iterator[Change]:
    """A statement that offers a function to Python is deleted."""
    rows = text.splitlines()
    for each in read_native(text.encode()).registrations:
        yield from _without(text, each.lines, rows[each.line - 1].strip()[:80])


def definitions(text: str) -> Iterator[Change]:
    """A function, a class or a constant at the level of namespaces is deleted."""
    for each in read_native(text.encode()).definitions:
        yield from _without(text, each.lines, each.name)


def includes(text: str) -> Iterator[Change]:
    """A line that takes in another file is deleted."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#include"):
            yield from _without(text, Lines(number, number), line.strip())


def _without(text: str, lines: Lines, subject: str) -> Iterator[Change]:
    if lines.first:
        kept = text.splitlines(keepends=True)
        del kept[lines.first - 1 : lines.last]
        # What is to be noticed is what went, not that the file does not say so.
        first = "" if NOTE in text.partition("\n")[0] else f"// {NOTE}\n"
        yield Change(lines.first, subject, first + "".join(kept))


ON_NATIVE: dict[str, Callable[[str], Iterator[Change]]] = {
    "native registration deleted": registrations,
    "native definition deleted": definitions,
    "native include deleted": includes,
}
"""By name."""
NATIVE_FILE = "native source deleted"
