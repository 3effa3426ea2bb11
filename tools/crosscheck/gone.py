"""Where upstream used or set a name in code that the generated tree does not have, and what took that code away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

_WORDS = re.compile(r"[^\W\d]\w*")
_SETS = '(?:^\\s*(?:async\\s+def|def|class)\\s+{name}\\b|\\b{name}\\s*(?::[^=]*)?=(?!=)|import.*\\b{name}\\b|"{name}")'


class Gone:
    """Upstream's lines that are not in the generated tree, by the names in them."""

    def __init__(self, upstream: Path, out: Path, graph: Mapping[str, Any], paths: Collection[str], names: set[str]):
        """
        Args:
            upstream: root of upstream's tree.
            out: root of the generated tree.
            graph: graph.json of the run.
            paths: Python files of upstream's package.
            names: the names that will be asked for.
        """
        self._removed: Mapping[str, list[str]] = graph["removed"]
        self._decisions: Mapping[str, list[list[Any]]] = graph["decisions"]
        self._places: dict[str, list[tuple[str, int, str]]] = {}
        for path in sorted(paths):
            text = (upstream / path).read_text("utf-8", "replace")
            here = names.intersection(_WORDS.findall(text))
            if here:
                self._collect(path, text, out / path, here)

    def _collect(self, path: str, text: str, generated: Path, names: set[str]) -> None:
        kept: Counter[str] = Counter()
        if generated.is_file():
            kept.update(line.strip() for line in generated.read_text("utf-8", "replace").split("\n"))
        for number, line in enumerate(text.split("\n"), 1):
            stripped = line.strip()
            if kept[stripped] > 0:
                kept[stripped] -= 1
                continue
            for name in names.intersection(_WORDS.findall(line)):
                self._places.setdefault(name, []).append((path, number, line))

    def use(self, name: str, path: str) -> str:
        """A line with the name that is gone, the same file's first, and why; empty when there is none."""
        places = self._places.get(name, [])
        ordered = sorted(places, key=lambda place: place[0] != path)
        return next((why for place in ordered if (why := self._why(*place[:2]))), "")

    def setting(self, name: str, path: str) -> str:
        """The same for a line that gives the name a value."""
        pattern = re.compile(_SETS.format(name=re.escape(name)))
        for place in sorted(self._places.get(name, []), key=lambda place: place[0] != path):
            if pattern.search(place[2]) and (why := self._why(*place[:2])):
                return why
        return ""

    def _why(self, path: str, line: int) -> str:
        if path in self._removed:
            rule, reason = self._removed[path][:2]
            return f"{path}:{line} of upstream, a file that is removed ({rule}: {reason})"
        covering: list[Any] | None = None
        for decision in self._decisions.get(path, ()):
            first, lines = decision[0], decision[5]
            if first <= line and (covering is None or (first, lines) > (covering[0], covering[5])):
                covering = decision
        if covering is None:
            return ""
        _, rule, kind, text, outcome, *_ = covering
        return f"{path}:{line} of upstream, gone by {rule} ({kind} `{text[:60]}`: {outcome})"
