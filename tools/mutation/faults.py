"""Choose the faults of a run: so many of each kind, drawn by a seed."""

import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from shrinker.check import allowances
from shrinker.syntax.parsing import parsed
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree
from tools.mutation.kinds import DATA_FILE, NATIVE_FILE, ON_NATIVE, ON_PYTHON, SUFFIXES, Source

Drawn = TypeVar("Drawn")
KINDS = (*ON_PYTHON, DATA_FILE, *ON_NATIVE, NATIVE_FILE)
_FILES_A_KIND = 400
"""Files that are drawn before a kind is given up as having no more faults."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One damage to one file of a generated tree."""

    kind: str
    path: str
    line: int
    subject: str
    text: str | None
    """The damaged file; None when the file is deleted."""
    more: tuple[tuple[str, str | None], ...] = ()
    """Other files that are damaged with it, in the same way."""

    @property
    def changes(self) -> dict[str, str | None]:
        """Texts of all damaged files."""
        return {self.path: self.text, **dict(self.more)}


def choose(tree: UpstreamTree, out: Path, manifest: Manifest, *, count: int, seed: int) -> list[Fault]:
    """Draw so many faults, kinds in turn, fewer where the tree has fewer; the same seed draws the same ones from the same tree."""
    drawn = (_draw(kind, tree, out, manifest, random.Random(f"{seed} {kind}")) for kind in KINDS)
    return [*islice(in_turn(drawn), count)]


def in_turn(drawn: Iterable[Iterator[Drawn]]) -> Iterator[Drawn]:
    """One of each in turn, until none has any more."""
    waiting = deque(drawn)
    while waiting:
        if (one := next(waiting[0], None)) is None:
            waiting.popleft()
        else:
            yield one
            waiting.rotate(-1)


def _draw(kind: str, tree: UpstreamTree, out: Path, manifest: Manifest, order: random.Random) -> Iterator[Fault]:
    own = [e for e in manifest.files if e.path.startswith(PACKAGE_PREFIX) and e.path not in allowances.OWN_FILES]
    if kind in (NATIVE_FILE, *ON_NATIVE):
        files = [e.path for e in manifest.files if e.path.endswith(SUFFIXES)]
    elif kind == DATA_FILE:
        files = [e.path for e in own if not e.path.endswith((".py", *SUFFIXES))]
    else:
        place = "/models/" if kind == "model class not registered" else ""
        every = kind != "other branch taken"
        files = [e.path for e in own if e.path.endswith(".py") and place in e.path and (e.changed or every)]
    order.shuffle(files)
    if kind in (DATA_FILE, NATIVE_FILE):
        return (Fault(kind, path, 0, path.rpartition("/")[2], None) for path in files)
    # Each round takes one fault of each file, so that large files do not come first.
    some = files[:_FILES_A_KIND]
    return in_turn(_of_file(kind, path, tree, out, random.Random(order.random())) for path in some)


def _of_file(kind: str, path: str, tree: UpstreamTree, out: Path, order: random.Random) -> Iterator[Fault]:
    """The faults of one kind of one file, in a drawn order."""
    text = (out / path).read_text("utf-8-sig")
    upstream = tree.read(path).decode("utf-8-sig") if path in tree.by_path else ""
    changes = list({**ON_PYTHON, **ON_NATIVE}[kind](Source(text, upstream)))
    order.shuffle(changes)
    for change in changes:
        # No Python: the emptied place was no block of its own (`if x: import a`), which is not what a tool would write.
        if change.text != text and (kind in ON_NATIVE or parsed(change.text) is not None):
            yield Fault(kind, path, *change)
