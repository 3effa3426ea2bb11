"""Rows of tables that say where an implementation is: each names it once kept code asks for its key."""

import re
from collections import defaultdict
from collections.abc import Iterator

from shrinker.program.edges.strings import StringEdges
from shrinker.program.nodes import Found
from shrinker.values.folded import FoldedModule, StringSite

Row = tuple[FoldedModule, StringSite, Found]


class RegistryEdges:
    """The rows of the modules read so far, and what these spell besides."""

    def __init__(self, strings: StringEdges) -> None:
        self._strings = strings
        self._said: set[str] = set()
        self._patterns = defaultdict[str, set[str]](set)
        """Texts of which a part is computed, by the first and by the last word that is spelled out."""
        self._rows: list[tuple[FoldedModule, StringSite]] = []

    def read(self, module: FoldedModule) -> None:
        """Take the rows and texts of one more module."""
        for site in module.strings:
            if site.key:
                self._rows.append((module, site))
            elif "*" in site.text:
                for word in _ends(site.text):
                    self._patterns[word].add(site.text)
            else:
                self._said.add(site.text)

    def find(self) -> Iterator[Row]:
        """What the rows name that are asked for by now, each once."""
        asked = {key for key in {site.key for _, site in self._rows} if self._is_asked(key)}
        found = self._named([row for row in self._rows if row[1].key in asked])
        self._rows = [row for row in self._rows if row[1].key not in asked]
        return found

    def left(self) -> Iterator[Row]:
        """What the rows would name that nobody asks for."""
        return self._named(self._rows)

    def _named(self, rows: list[tuple[FoldedModule, StringSite]]) -> Iterator[Row]:
        return ((module, site, found) for module, site in rows for found in self._strings.of(site))

    def _is_asked(self, key: str) -> bool:
        if key in self._said:
            return True
        near = {pattern for word in _ends(key) for pattern in self._patterns.get(word, ())}
        return any(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key) for pattern in near)


def _ends(text: str) -> set[str]:
    """The first and the last word of a dotted text."""
    return {text.partition(".")[0] + ".", "." + text.rpartition(".")[2]} if "." in text else set()
