"""Native sources: what they include, what their build lists name, and the operators that they register are there."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from shrinker.check.rule_index import RuleIndex
from shrinker.values.outcome import Finding

_SOURCES = frozenset({"c", "cc", "cpp", "cu", "cuh", "h", "hpp", "inc", "inl"})
_COMPILED = frozenset({"c", "cc", "cpp", "cu"})
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)
_LISTED = re.compile(rb'"([\w./-]+\.(?:c|cc|cpp|cu))"')
_REGISTERED = re.compile(rb"\b(?:impl|def)\s*\([^;]*?&\s*([A-Za-z_]\w*)\s*\)\s*;")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_UNREAD = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Texts and comments: an operator's schema has the look of a call."""
_BUILD_LIST = "CMakeLists.txt"


class NativeSources:
    """The native sources of both trees.

    Args:
        upstream_root, root: of the trees.
        upstream, kept: all their paths.
    """

    def __init__(self, upstream_root: Path, root: Path, upstream: Iterable[str], kept: Iterable[str]) -> None:
        self._upstream_root = upstream_root
        self._upstream = {path for path in upstream if _kind(path) in _SOURCES}
        self._kept = {path for path in kept if _kind(path) in _SOURCES and (root / path).is_file()}
        lists = [path for path in kept if path.rpartition("/")[2] == _BUILD_LIST]
        self._text = {path: (root / path).read_bytes() for path in sorted({*self._kept, *lists})}
        self._lists = sorted(lists)

    def lost_includes(self, index: RuleIndex | None) -> tuple[int, list[Finding]]:
        """Includes of files that upstream has and this tree has not; of none that a rule removes, which is for its platform.

        Returns:
            How many includes name a file of upstream, and those that find none.
        """
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in self._upstream:
            by_name[path.rpartition("/")[2]].append(path)
        count = 0
        found: list[Finding] = []
        for path in sorted(self._kept):
            data = self._text[path]
            for match in _INCLUDE.finditer(data):
                text = match.group(1).decode("utf-8", "replace")
                beside = posixpath.normpath(posixpath.join(path.rpartition("/")[0], text))
                # The compiler looks beside the source first.
                others = [beside] if beside in self._upstream else by_name.get(text.rpartition("/")[2], ())
                named = sorted(other for other in others if other == beside or _named(text, path, other))
                count += bool(named)
                if named and not self._kept.intersection(named) and not (index and all(map(index.removes, named))):
                    message = f"includes {text}, which is not in this tree: {named[0]}"
                    found.append(Finding("includes", path, _line(data, match.start()), message))
        return count, found

    def lost_sources(self) -> tuple[int, list[Finding]]:
        """Sources that kept build lists name, that upstream has and this tree has not.

        Returns:
            How many sources of upstream the lists name, and those that are gone.
        """
        count = 0
        found: list[Finding] = []
        for path in self._lists:
            data, folder = self._text[path], path.rpartition("/")[0]
            for match in _LISTED.finditer(data):
                named = f"{folder}/{match.group(1).decode()}".lstrip("/")
                if named in self._upstream:
                    count += 1
                    if named not in self._kept:
                        message = f"lists {named}, which is not in this tree"
                        found.append(Finding("build lists", path, _line(data, match.start()), message))
        return count, found

    def lost_operators(self) -> tuple[int, list[Finding]]:
        """Functions that kept sources register as operators, and that no kept source can define: symbols that the loader misses.

        Returns:
            How many are registered, and those that upstream's removed sources alone define.
        """
        registered = [
            (path, match.group(1), _line(self._text[path], match.start(1)))
            for path in sorted(self._kept)
            if _kind(path) in _COMPILED
            for match in _REGISTERED.finditer(self._text[path])
        ]
        removed = [path for path in sorted(self._upstream - self._kept) if _kind(path) in _COMPILED]
        if not registered or not removed:
            return len(registered), []
        gone = {name: path for path in removed for name in _called((self._upstream_root / path).read_bytes())}
        found: list[Finding] = []
        written: dict[str, set[bytes]] = {}
        for path, name, line in registered:
            if name not in gone:
                continue
            for other in self._kept:
                if other not in written and _kind(other) in _COMPILED:
                    written[other] = set(_called(self._text[other]))
            if not any(name in names for other, names in written.items() if other != path):
                message = f"registers {name.decode()}, which only {gone[name]} defines in upstream"
                found.append(Finding("operators", path, line, message))
        return len(registered), found


def _called(data: bytes) -> list[bytes]:
    """Names that stand before a parenthesis: what a source calls or defines."""
    return _CALLED.findall(_UNREAD.sub(b'""', data))


def _kind(path: str) -> str:
    return path.rpartition(".")[2]


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _named(text: str, source: str, file: str) -> bool:
    """May `text`, included by a source, be this file? Below any folder, but of the same top folder."""
    plain = text
    while plain.startswith(("./", "../")):
        plain = plain.partition("/")[2]
    same = source.partition("/")[0] == file.partition("/")[0]
    return same and (file == plain or file.endswith("/" + plain))
