"""What broke by hand, as faults: declared in `breakages.toml`, put into a tree wherever it has what they name."""

import ast
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shrinker.ruleset.match import any_path_matches, module_matches
from shrinker.syntax.parsing import parse
from shrinker.syntax.ranges import first_line
from shrinker.values.manifest import Manifest
from shrinker.values.upstream import UpstreamTree, module_name
from tools.mutation.faults import Fault
from tools.mutation.kinds import without


class Breakage(BaseModel):
    """One entry of the file, which says what its keys mean."""

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
        if bool(self.cut) + bool(self.delete) + bool(self.left) + bool(self.read) + bool(self.files) != 1:
            raise ValueError("give exactly one of `cut`, `delete`, `left`, `read` and `files`")
        if (self.lines or self.rename) and not self.files:
            raise ValueError("`lines` and `rename` are of `files`")
        if len(self.rename) not in (0, 2):
            raise ValueError("`rename` is a name, and the one that takes its place")
        return self


def declared() -> tuple[Breakage, ...]:
    """All entries of the file."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["breakage"]
    return tuple(map(Breakage.model_validate, entries))


def breakage_fault(breakage: Breakage, tree: UpstreamTree, out: Path, manifest: Manifest) -> Fault | None:
    """The breakage as a fault of the tree in `out`; None when that has nothing that it could happen to."""
    wanted = _among(breakage, (entry.path for entry in manifest.files))
    if breakage.files and not (breakage.lines or breakage.rename):
        more = tuple((path, None) for path in wanted[1:])
        return Fault("breakage", wanted[0], 0, breakage.name, None, more) if wanted else None
    changed = {entry.path for entry in manifest.files if entry.changed}
    for path in wanted:
        text = (out / path).read_text("utf-8-sig")
        damaged: str | None = text
        if breakage.lines:
            damaged = "".join(row for row in text.splitlines(keepends=True) if breakage.lines not in row)
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
    """Why `breakage_fault` gives none, in words."""
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
    texts = [tree.read(path).decode("utf-8-sig") for path in kept if path in tree.by_path and path.endswith(".py")]
    written = " and ".join(f"`{name}`" for name in names)
    if not any(all(_word(name, text) for name in names) for text in texts):
        return f"upstream names {written} nowhere in what stays of {asked}"
    return f"{written} did not go: where upstream names it, in what stays of {asked}, the tree does too"


def _among(breakage: Breakage, paths: Iterable[str]) -> list[str]:
    """The files that it speaks of."""
    if breakage.files:
        return [path for path in paths if any_path_matches(breakage.files, path)]
    return [p for p in paths if any(module_matches(m, module_name(p) or "") for m in breakage.modules)]


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
    """The tree's text with a definition of upstream's that reads a name which this file no longer has."""
    if not _word(name, upstream) or _word(name, text):
        return None
    lines = upstream.split("\n")
    body = parse(text).body
    here = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in parse(upstream).body:
        theirs = lines[first_line(node) - 1 : node.end_lineno]
        if (own := here.get(getattr(node, "name", ""))) and any(_word(name, line) for line in theirs):
            return without(text, [own], body, theirs)
    return None


def _word(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
