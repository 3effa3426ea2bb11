"""The faults of a run: so many of each kind, drawn by a seed; or what broke by hand, declared in
`breakages.toml`, wherever a tree has what they name.
"""

import ast
import random
import re
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shrinker.check import allowances
from shrinker.ruleset.match import any_path_matches, module_matches
from shrinker.syntax.parsing import parse, parsed
from shrinker.syntax.ranges import first_line
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree, module_name
from tools.mutation.kinds import (
    DATA_FILE,
    NATIVE_FILE,
    ON_NATIVE,
    ON_PYTHON,
    SUFFIXES,
    Source,
    without,
)

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


def choose(
    tree: UpstreamTree, out: Path, manifest: Manifest, *, count: int, seed: int
) -> list[Fault]:
    """Draw so many faults, kinds in turn, fewer where the tree has fewer; the same seed draws the
    same ones from the same tree.
    """
    drawn = (_draw(kind, tree, out, manifest, random.Random(f"{seed} {kind}")) for kind in KINDS)
    return [*islice(in_turn(drawn), count)]


def in_turn(drawn: Iterable[Iterator[Drawn]]) -> Iterator[Drawn]:
    """Yield one of each in turn, until none has any more."""
    waiting = deque(drawn)
    while waiting:
        if (one := next(waiting[0], None)) is None:
            waiting.popleft()
        else:
            yield one
            waiting.rotate(-1)


def _draw(
    kind: str, tree: UpstreamTree, out: Path, manifest: Manifest, order: random.Random
) -> Iterator[Fault]:
    own = [
        e
        for e in manifest.files
        if e.path.startswith(PACKAGE_PREFIX) and e.path not in allowances.OWN_FILES
    ]
    if kind in (NATIVE_FILE, *ON_NATIVE):
        files = [e.path for e in manifest.files if e.path.endswith(SUFFIXES)]
    elif kind == DATA_FILE:
        files = [e.path for e in own if not e.path.endswith((".py", *SUFFIXES))]
    else:
        place = "/models/" if kind == "model class not registered" else ""
        every = kind != "other branch taken"
        files = [
            e.path
            for e in own
            if e.path.endswith(".py") and place in e.path and (e.changed or every)
        ]
    order.shuffle(files)
    if kind in (DATA_FILE, NATIVE_FILE):
        return (Fault(kind, path, 0, path.rpartition("/")[2], None) for path in files)
    # Each round takes one fault of each file, so that large files do not come first.
    some = files[:_FILES_A_KIND]
    return in_turn(_of_file(kind, path, tree, out, random.Random(order.random())) for path in some)


def _of_file(
    kind: str, path: str, tree: UpstreamTree, out: Path, order: random.Random
) -> Iterator[Fault]:
    """Yield the faults of one kind of one file, in a drawn order."""
    text = (out / path).read_text("utf-8-sig")
    upstream = tree.read(path).decode("utf-8-sig") if path in tree.by_path else ""
    changes = list({**ON_PYTHON, **ON_NATIVE}[kind](Source(text, upstream)))
    order.shuffle(changes)
    for change in changes:
        # No Python: the emptied place was no block of its own (`if x: import a`), which is not what
        # a tool would write.
        if change.text != text and (kind in ON_NATIVE or parsed(change.text) is not None):
            yield Fault(kind, path, *change)


class Breakage(BaseModel):
    """One entry of `breakages.toml`, which says what its keys mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    modules: tuple[str, ...] = ()
    cut: float = Field(default=0.0, ge=0.0, lt=1.0)
    delete: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    read: str = ""
    files: tuple[str, ...] = ()
    lines: str = ""
    rename: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (
            bool(self.cut)
            + bool(self.delete)
            + bool(self.left)
            + bool(self.read)
            + bool(self.files)
            != 1
        ):
            raise ValueError("give exactly one of `cut`, `delete`, `left`, `read` and `files`")
        if (self.lines or self.rename) and not self.files:
            raise ValueError("`lines` and `rename` are of `files`")
        if len(self.rename) not in (0, 2):
            raise ValueError("`rename` is a name, and the one that takes its place")
        return self


def declared() -> tuple[Breakage, ...]:
    """Return all entries of the file."""
    entries = tomllib.loads(Path(__file__).with_name("breakages.toml").read_text("utf-8"))[
        "breakage"
    ]
    return tuple(map(Breakage.model_validate, entries))


def breakage_fault(
    breakage: Breakage, tree: UpstreamTree, out: Path, manifest: Manifest
) -> Fault | None:
    """Return the breakage as a fault of the tree in `out`; None when that has nothing that it could
    happen to.
    """
    wanted = _among(breakage, (entry.path for entry in manifest.files))
    if breakage.files and not (breakage.lines or breakage.rename):
        more = tuple((path, None) for path in wanted[1:])
        return Fault("breakage", wanted[0], 0, breakage.name, None, more) if wanted else None
    changed = {entry.path for entry in manifest.files if entry.changed}
    for path in wanted:
        text = (out / path).read_text("utf-8-sig")
        damaged: str | None = text
        if breakage.lines:
            damaged = "".join(
                row for row in text.splitlines(keepends=True) if breakage.lines not in row
            )
        elif breakage.rename:
            damaged = re.sub(rf"\b{re.escape(breakage.rename[0])}\b", breakage.rename[1], text)
        elif breakage.cut:
            body = parse(text).body
            kept = int(len(body) * breakage.cut)
            damaged = without(text, body[kept:], body) if kept else None
        elif breakage.delete:
            damaged = _deleted(text, breakage.delete)
        elif path in changed and path in tree.by_path:
            upstream = tree.read(path).decode("utf-8-sig")
            if breakage.read:
                damaged = _read(upstream, text, breakage.read)
            elif all(_word(name, upstream) and not _word(name, text) for name in breakage.left):
                damaged = upstream
        if damaged not in (None, text):
            return Fault("breakage", path, 0, breakage.name, damaged)
    return None


def why_skipped(breakage: Breakage, tree: UpstreamTree, manifest: Manifest) -> str:
    """Return why `breakage_fault` gives none, in words."""
    asked = ", ".join(f"`{pattern}`" for pattern in breakage.files or breakage.modules)
    kept = _among(breakage, (entry.path for entry in manifest.files))
    if not _among(breakage, tree.by_path):
        return f"upstream has nothing at {asked}"
    if not kept:
        return f"all that upstream has at {asked} went"
    if breakage.lines or breakage.rename:
        return f"no file of {asked} that stays says `{breakage.lines or breakage.rename[0]}`"
    if breakage.delete:
        return f"no module of {asked} that stays defines {' and '.join(breakage.delete)}"
    names = breakage.left or (breakage.read,)
    texts = [
        tree.read(path).decode("utf-8-sig")
        for path in kept
        if path in tree.by_path and path.endswith(".py")
    ]
    written = " and ".join(f"`{name}`" for name in names)
    if not any(all(_word(name, text) for name in names) for text in texts):
        return f"upstream names {written} nowhere in what stays of {asked}"
    return (
        f"{written} did not go: where upstream names it, in what stays of {asked}, the tree does "
        "too"
    )


def _among(breakage: Breakage, paths: Iterable[str]) -> list[str]:
    """Return the files that it speaks of."""
    if breakage.files:
        return [path for path in paths if any_path_matches(breakage.files, path)]
    return [
        p for p in paths if any(module_matches(m, module_name(p) or "") for m in breakage.modules)
    ]


def _deleted(text: str, names: tuple[str, ...]) -> str | None:
    """Without these definitions; None when one of them is not there."""
    for name in names:
        body = parse(text).body
        found = [node for node in body if getattr(node, "name", None) == name]
        if not found:
            return None
        text = without(text, found[:1], body)
    return text


def _read(upstream: str, text: str, name: str) -> str | None:
    """Return the tree's text with a definition of upstream's that reads a name which this file no
    longer has.
    """
    if not _word(name, upstream) or _word(name, text):
        return None
    lines = upstream.split("\n")
    body = parse(text).body
    here = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in parse(upstream).body:
        theirs = lines[first_line(node) - 1 : node.end_lineno]
        if (own := here.get(getattr(node, "name", ""))) and any(
            _word(name, line) for line in theirs
        ):
            return without(text, [own], body, theirs)
    return None


def _word(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
