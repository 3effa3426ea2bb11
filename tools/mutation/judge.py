"""Put faults into a copy of a tree, and ask each level in turn whether it notices; the first that
does is enough.
"""

import ast
import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from shrinker.check.levels import judge
from shrinker.check.trees import Trees
from shrinker.values import form as syntax
from shrinker.values.errors import InputError
from shrinker.values.manifest import MANIFEST, Manifest
from shrinker.values.outcome import EmittedFile, Finding
from tools.mutation.faults import Fault


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one fault."""

    fault: Fault
    caught_by: str
    """The first level that noticed it; empty for a survivor."""
    finding: str


def judge_all(trees: Trees, faults: Iterable[Fault], levels: Sequence[str]) -> Iterator[Judged]:
    """Judge faults of the generated tree one after the other, in copies of it, by levels from the
    cheapest to the strictest. Raises InputError where a level finds fault with the tree itself.
    """
    out = trees.out
    with TemporaryDirectory(
        prefix=f".{out.name}.mutant.", dir=out.parent, ignore_cleanup_errors=True
    ) as folder:
        copy = Stand(out, trees.manifest, Path(folder))
        whole = replace(trees, out=copy.folder)
        own = {name: judge(name, whole, lambda _: None) for name in levels}
        for name, found in own.items():
            if not found.passed:
                wrong = f"{name} already finds fault with {trees.out}: {told(found.findings[0])}"
                raise InputError(wrong, "generate the tree again with `make shrink`")
        # What the tree itself leaves open, of an upstream that nobody has answered for, notices no
        # fault.
        known = {name: frozenset(found.open) for name, found in own.items()}
        for fault in faults:
            with copy.changed(fault.changes) as manifest:
                damaged = replace(whole, manifest=manifest)
                asked = (
                    (name, judge(name, damaged, lambda _: None).held().findings) for name in levels
                )
                said = noticed(asked, known.__getitem__)
            yield Judged(fault, *said)


def noticed(
    asked: Iterable[tuple[str, Iterable[Finding]]], known: Callable[[str], Collection[Finding]]
) -> tuple[str, str]:
    """Return the first of these levels, asked one after the other, that finds what is not `known`
    of it in the right tree, and what; both empty where none does.
    """
    new = (
        (name, told(finding))
        for name, found in asked
        for finding in found
        if finding not in known(name)
    )
    return next(new, ("", ""))


def told(finding: Finding) -> str:
    """Return a finding in one line."""
    place = f"{finding.path}:{finding.line}: " if finding.path else ""
    return f"{place}[{finding.check}] {finding.message}"


def table(judged: Sequence[Judged], levels: Iterable[str]) -> list[list[str]]:
    """Return rows of kind, faults, caught by each level, survivors; the last row sums them up."""
    names = [*levels]
    rows = []
    for kind in [*dict.fromkeys(j.fault.kind for j in judged), ""]:
        of_kind = [j for j in judged if kind in ("", j.fault.kind)]
        by = Counter(j.caught_by for j in of_kind)
        counts = [len(of_kind), *(by[name] for name in names), by[""]]
        rows.append([kind or "all", *map(str, counts)])
    return rows


class Stand:
    """A copy of a generated tree into which faults are put, one after the other, and whose manifest
    says that all is as it was decided.

    Its files are hard links where the file system has them: only damaged ones and the manifest are
    new.
    """

    def __init__(self, out: Path, manifest: Manifest, folder: Path) -> None:
        self.folder = folder
        self.manifest = manifest
        self._out = out
        for entry in manifest.files:
            self._restore(entry.path)
        (folder / MANIFEST).write_text(manifest.to_json(), "utf-8")

    @contextmanager
    def changed(self, changes: Mapping[str, str | None]) -> Iterator[Manifest]:
        """Yield the copy with the text of each of these files, None for one that is gone, and the
        manifest that says so; it is as before when the block ends.
        """
        manifest = _manifest(self.manifest, changes)
        try:
            for path, text in changes.items():
                target = self.folder / path
                # Never written through the link.
                target.unlink(missing_ok=True)
                if text is not None:
                    target.write_text(text, "utf-8", newline="")
            (self.folder / MANIFEST).write_text(manifest.to_json(), "utf-8")
            yield manifest
        finally:
            for path in changes:
                self._restore(path)
            (self.folder / MANIFEST).write_text(self.manifest.to_json(), "utf-8")

    def _restore(self, path: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            target.hardlink_to(self._out / path)
        except OSError:
            shutil.copy2(self._out / path, target)


def _manifest(manifest: Manifest, changes: Mapping[str, str | None]) -> Manifest:
    files: list[EmittedFile] = []
    for entry in manifest.files:
        if entry.path not in changes:
            files.append(entry)
        elif (text := changes[entry.path]) is not None:
            sha256, lines = hashlib.sha256(text.encode()).hexdigest(), text.count("\n")
            digest = syntax.digest(ast.parse(text)) if entry.path.endswith(".py") else None
            files.append(
                replace(entry, sha256=sha256, lines_after=lines, changed=True, digest=digest)
            )
    return replace(manifest, files=tuple(files))
