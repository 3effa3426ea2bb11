"""Native sources: what they include, what their build lists name, and the operators that they register are there."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Mapping

from shrinker.check.registry import Seen
from shrinker.check.trees import Trees

_SOURCES = frozenset({"c", "cc", "cpp", "cu", "cuh", "h", "hpp", "inc", "inl"})
_COMPILED = frozenset({"c", "cc", "cpp", "cu"})
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)
_LISTED = re.compile(rb'"([\w./-]+\.(?:c|cc|cpp|cu))"')
_REGISTERED = re.compile(rb"\b(?:impl|def)\s*\([^;]*?&\s*([A-Za-z_]\w*)\s*\)\s*;")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_UNREAD = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Texts and comments: an operator's schema has the look of a call."""
_BUILD_LIST = "CMakeLists.txt"


NATIVE = ("includes", "build lists", "operators")


def lost_sources(trees: Trees, seen: Seen) -> None:
    """What kept native sources include, what kept build lists name, and what registered operators are defined by."""
    upstream = {path for path in trees.source.by_path if _kind(path) in _SOURCES}
    kept = {path for path in trees.recorded if _kind(path) in _SOURCES and (trees.out / path).is_file()}
    lists = sorted(path for path in trees.recorded if path.rpartition("/")[2] == _BUILD_LIST)
    texts = {path: (trees.out / path).read_bytes() for path in sorted(kept)}
    _includes(trees, seen, upstream, texts)
    for path in lists:
        data, folder = (trees.out / path).read_bytes(), path.rpartition("/")[0]
        for match in _LISTED.finditer(data):
            named = f"{folder}/{match.group(1).decode()}".lstrip("/")
            if named in upstream:
                seen.look(check="build lists")
                if named not in kept:
                    message = f"lists {named}, which is not in this tree"
                    seen.find(path, _line(data, match.start()), message, check="build lists")
    _operators(trees, seen, upstream, texts)


def _includes(trees: Trees, seen: Seen, upstream: Collection[str], texts: Mapping[str, bytes]) -> None:
    """Includes of files that upstream has and this tree has not; of none that a rule removes, which is for its platform."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in upstream:
        by_name[path.rpartition("/")[2]].append(path)
    index = trees.index
    for path, data in texts.items():
        for match in _INCLUDE.finditer(data):
            text = match.group(1).decode("utf-8", "replace")
            beside = posixpath.normpath(posixpath.join(path.rpartition("/")[0], text))
            # The compiler looks beside the source first.
            others = [beside] if beside in upstream else by_name.get(text.rpartition("/")[2], ())
            named = sorted(other for other in others if other == beside or _named(text, path, other))
            seen.look(bool(named), "includes")
            if named and texts.keys().isdisjoint(named) and not (index and all(map(index.removes, named))):
                message = f"includes {text}, which is not in this tree: {named[0]}"
                seen.find(path, _line(data, match.start()), message, check="includes")


def _operators(trees: Trees, seen: Seen, upstream: Collection[str], texts: Mapping[str, bytes]) -> None:
    """Functions that kept sources register and that upstream's removed sources alone define: symbols that the loader misses."""
    compiled = {path: data for path, data in texts.items() if _kind(path) in _COMPILED}
    registered = [
        (path, match.group(1), _line(data, match.start(1)))
        for path, data in compiled.items()
        for match in _REGISTERED.finditer(data)
    ]
    seen.look(len(registered), "operators")
    removed = [path for path in sorted(upstream) if path not in texts and _kind(path) in _COMPILED]
    if not registered or not removed:
        return
    gone = {name: path for path in removed for name in _called((trees.source.root / path).read_bytes())}
    written: dict[str, set[bytes]] = {}
    for path, name, line in registered:
        if name not in gone:
            continue
        written = written or {other: set(_called(data)) for other, data in compiled.items()}
        if not any(name in names for other, names in written.items() if other != path):
            message = f"registers {name.decode()}, which only {gone[name]} defines in upstream"
            seen.find(path, line, message, check="operators")


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
