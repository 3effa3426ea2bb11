"""What a run left, and what is told of one thing."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shrinker.program.answers import SavedRun, Symbols
from shrinker.values.errors import InputError
from shrinker.values.refusals import FILE
from shrinker.values.upstream import PACKAGE_PREFIX


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one thing."""

    subject: str
    verdict: str
    """``kept``, ``removed``, ``partly kept``, ``refused`` (some values of it are), ``rule`` or ``leaves``."""
    because: tuple[str, ...]
    change: str
    """What would change it."""
    upstream: str = ""
    """Path and line there."""
    generated: str = ""
    """The same in the generated tree."""


@dataclass
class Generated:
    """One generated tree with its reports."""

    out: Path
    """The tree."""
    graph: Path
    """The saved graph of its run; the other reports lie beside it."""
    shown: Path
    """The tree as it is written in answers."""
    upstream: Callable[[str], str]
    """Text of upstream's file with a path; empty where it cannot be read."""

    @cached_property
    def run(self) -> SavedRun:
        """What the run saved."""
        return SavedRun(self.graph)

    @property
    def data(self) -> dict[str, Any]:
        """The saved graph."""
        return self.run.data

    @property
    def symbols(self) -> Symbols | None:
        """The saved search; None where it is not there."""
        return self.run.symbols

    @cached_property
    def lines(self) -> dict[str, int]:
        """Lines of each kept file in the tree."""
        rows = self.graph.with_name("keep.txt").read_text("utf-8").splitlines()[1:]
        return {path: int(after) for path, _, after, _ in (row.split("\t") for row in rows)}

    def report(self, name: str) -> dict[str, Any]:
        """A report in JSON.

        Raises:
            InputError: it is not there.
        """
        try:
            found: dict[str, Any] = json.loads(self.graph.with_name(name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"no report {name}: {error}", "generate the tree again with `make shrink`") from error
        return found

    @cached_property
    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Rows of the tables with which the tree itself answers."""
        place = self.out / PACKAGE_PREFIX / FILE
        found: dict[str, list[tuple[Any, ...]]] = {}
        for node in ast.parse(place.read_bytes()).body if place.is_file() else ():
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and isinstance(node.value, ast.Tuple)
            ):
                rows = [row.args if isinstance(row, ast.Call) else [row] for row in node.value.elts]
                plain = [[ast.literal_eval(cell) for cell in row] for row in rows]
                found[node.target.id] = [tuple(row[0] if len(row) == 1 else row) for row in plain]
        return found

    def texts(self) -> Iterator[tuple[str, str]]:
        """Path and text of each Python file that upstream has, too."""
        for path in self.data["kept"]:
            if path.endswith(".py") and path != f"{PACKAGE_PREFIX}{FILE}":
                yield path, (self.out / path).read_text("utf-8", "replace")

    def first(self, pattern: str, word: str) -> str:
        """The first place of the tree where a pattern stands that holds a word; empty when there is none."""
        sought = re.compile(pattern, re.MULTILINE)
        for path, text in self.texts():
            if word in text and (found := sought.search(text)):
                line = text.count("\n", 0, found.start(found.lastindex or 0)) + 1
                return f"{self.shown / path}:{line}"
        return ""


def unknown(name: str, known: Iterable[str]) -> InputError:
    """An error that names what is near: by its last part first, and then as a whole."""
    dotted = not name.startswith(("/", "--"))
    short: dict[str, list[str]] = {}
    for one in dict.fromkeys(known):
        short.setdefault(re.split(r"[./]", one)[-1] if dotted else one, []).append(one)
    last = re.split(r"[./]", name)[-1] if dotted else name
    found = [one for end in difflib.get_close_matches(last, list(short), 4, 0.75) for one in short[end]]
    found.sort(key=lambda one: -difflib.SequenceMatcher(None, name, one).ratio())
    near = f"; did you mean {', '.join(found[:4])}?" if found else ""
    return InputError(
        f"neither the tree nor upstream has {name!r}{near}",
        "give a file, folder, module, class, function, member, path:line, flag, variable, endpoint, kernel, package or rule",
    )


def without(rule: str) -> str:
    """What undoes what a rule, or several, removed."""
    return f"take rule {rule.replace('+', ', ')} out of the profile; `shrinker ablate {rule.replace('+', ' ')}` says what comes back"


def several(count: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
