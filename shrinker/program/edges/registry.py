"""Rows of tables that say where an implementation is: each names it once kept code asks for its key."""

import re
from collections.abc import Iterator

from shrinker.program.edges.strings import StringEdges
from shrinker.program.nodes import Found
from shrinker.values.folded import FoldedModule, StringSite


class RegistryEdges:
    """The rows of the modules read so far, and what these spell besides."""

    def __init__(self, strings: StringEdges) -> None:
        self._strings = strings
        self._said: set[str] = set()
        self._patterns: dict[str, set[str]] = {}
        """Texts of which a part is computed, by the first and by the last word that is spelled out."""
        self._rows: list[tuple[FoldedModule, StringSite]] = []

    def read(self, module: FoldedModule) -> None:
        """Take the rows and texts of one more module."""
        for site in module.strings:
            if site.key:
                self._rows.append((module, site))
            elif "*" in site.text:
                for word in _ends(site.text):
                    self._patterns.setdefault(word, set()).add(site.text)
            else:
                self._said.add(site.text)

    def find(self) -> Iterator[tuple[FoldedModule, Found]]:
        """Edges of the rows that are asked for by now, each once."""
        waiting, self._rows = self._rows, []
        for module, site in waiting:
            if not self._is_asked(site.key):
                self._rows.append((module, site))
                continue
            for found in self._strings.of(site):
                yield module, found

    def left(self) -> Iterator[tuple[FoldedModule, StringSite, Found]]:
        """Rows that nobody asks for, with what they would name."""
        for module, site in self._rows:
            for found in self._strings.of(site):
                yield module, site, found

    def _is_asked(self, key: str) -> bool:
        if key in self._said:
            return True
        near = {pattern for word in _ends(key) for pattern in self._patterns.get(word, ())}
        return any(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key) for pattern in near)


def _ends(text: str) -> set[str]:
    """The first and the last word of a dotted text."""
    return {text.partition(".")[0] + ".", "." + text.rpartition(".")[2]} if "." in text else set()
