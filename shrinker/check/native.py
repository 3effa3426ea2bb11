"""Native sources: what they include, what their build lists name, and the operators that they register are there."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from shrinker.check.definitions import lost_definitions
from shrinker.check.operators import lost_operators, plain_text
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees

_SOURCES = frozenset({"c", "cc", "cpp", "cu", "cuh", "h", "hpp", "inc", "inl"})
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)
_LISTED = re.compile(rb"(?<![\w./}-])([\w./-]+\.(?:c|cc|cpp|cu))(?![\w./-])")
_BUILD_LISTS = ("CMakeLists.txt", ".cmake")


NATIVE = ("includes", "build lists", "operators", "links", "callers", "definitions")


def lost_sources(trees: Trees, seen: Seen) -> None:
    """What kept native sources include, what kept build lists name, and what registered operators are defined by."""
    upstream = {path for path in trees.source.by_path if _kind(path) in _SOURCES}
    kept = {path for path in trees.recorded if _kind(path) in _SOURCES and (trees.out / path).is_file()}
    lists = sorted(path for path in trees.recorded if path.endswith(_BUILD_LISTS))
    texts = {path: (trees.out / path).read_bytes() for path in sorted(kept)}
    changed = (each.path for each in trees.manifest.files if each.changed)
    before = {
        path: (trees.source.root / path).read_bytes()
        for path in changed
        if path in texts and path in trees.source.by_path
    }
    _includes(trees, seen, upstream, before, texts)
    for path in lists:
        # A list that another one includes names what lies beside that one.
        folders = {each.rpartition("/")[0] for each in (path, *lists) if each == path or each.endswith(_BUILD_LISTS[0])}
        listed = _listed((trees.out / path).read_bytes(), folders)
        for named, line in sorted(listed.items()):
            if named in upstream:
                seen.look(check="build lists")
                if named not in kept:
                    seen.find(path, line, f"lists {named}, which is not in this tree", check="build lists")
        theirs = _listed((trees.source.root / path).read_bytes(), folders) if path in trees.source.by_path else {}
        for named in sorted((theirs.keys() - listed.keys()) & kept):
            seen.find(path, 0, f"no longer lists {named}, which is in this tree", check="build lists")
    plain = {path: plain_text(data) for path, data in texts.items()}
    lost_operators(trees, seen, upstream, before, texts, plain)
    lost_definitions(trees, seen, before, texts, plain)


def _listed(data: bytes, folders: Collection[str]) -> dict[str, int]:
    """Sources that a build list names, with the line: as from each of these folders."""
    return {
        f"{folder}/{match.group(1).decode()}".lstrip("/"): _line(data, match.start(1))
        for match in _LISTED.finditer(data)
        for folder in folders
    }


def _includes(
    trees: Trees, seen: Seen, upstream: Collection[str], before: Mapping[str, bytes], texts: Mapping[str, bytes]
) -> None:
    """Includes of files that upstream has and this tree has not, but for what a rule removes, which is for its platform; and includes
    that went though what they name did not."""
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
    for path, theirs in before.items():
        for text in sorted(Counter(_INCLUDE.findall(theirs)) - Counter(_INCLUDE.findall(texts[path]))):
            name = text.decode("utf-8", "replace")
            named = [other for other in by_name.get(name.rpartition("/")[2], ()) if _named(name, path, other)]
            seen.look(check="includes")
            if not named or not texts.keys().isdisjoint(named):
                seen.find(path, 0, f"no longer includes {name}, which did not go", check="includes")


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
