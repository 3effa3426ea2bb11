"""The fold engine with one line changed: what a mistake in it would be."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "shrinker"
_ABOVE = frozenset({"tests.fold.defects", "tests.fold.judge", "tests.fold.programs"})
"""Modules that import the engine."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake, as the text that it changes."""

    name: str
    old: str
    new: str


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> types.CodeType:
        return compile(self._text, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, path: Path, text: str) -> None:
        self._name, self._path, self._text = name, path, text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        place = str(self._path)
        return importlib.util.spec_from_file_location(fullname, place, loader=_Loader(fullname, place, self._text))


def place(mutant: Mutant) -> tuple[Path, str]:
    """The file that holds the line, and its text with the line changed.

    Raises:
        LookupError: not exactly one place of the package reads so.
    """
    found = [p for p in sorted(PACKAGE.rglob("*.py")) if mutant.old in p.read_text("utf-8")]
    if len(found) != 1 or found[0].read_text("utf-8").count(mutant.old) != 1:
        raise LookupError(f"{mutant.name}: {len(found)} files hold the line: {mutant.old}")
    return found[0], found[0].read_text("utf-8").replace(mutant.old, mutant.new)


@contextmanager
def broken(mutant: Mutant) -> Iterator[types.ModuleType]:
    """`tests.fold.defects`, imported anew with the mistake in the engine below it."""
    path, text = place(mutant)
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)

    def ours() -> list[str]:
        return [n for n in sys.modules if n.partition(".")[0] == PACKAGE.name or n in _ABOVE]

    saved = {n: sys.modules.pop(n) for n in ours()}
    finder = _Finder(name, path, text)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("tests.fold.defects")
    finally:
        sys.meta_path.remove(finder)
        for n in ours():
            del sys.modules[n]
        sys.modules.update(saved)
