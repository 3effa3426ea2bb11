"""``#include`` between native files, resolved in the tree: beside the file first, then by the tail of the path."""

import posixpath
import re
from collections.abc import Iterator

from shrinker.program.files import FileIndex, nearest
from shrinker.program.nodes import Found, file_node

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def include_edges(
    text: str, folder: str, index: FileIndex, first_line: int = 1, *, every: bool = False
) -> Iterator[Found]:
    """Files of the tree that a native source includes.

    Args:
        text: the source, or a string of a Python module that holds source.
        folder: folder of the file, where quoted includes are looked up first.
        first_line: line at which `text` starts.
        every: give all files that an include may mean, not only the nearest.
    """
    for match in _INCLUDE.finditer(text) if "include" in text else ():
        line = first_line + text.count("\n", 0, match.start(1))
        for path in _resolve(match[2].strip(), match[1] == '"', folder, index, every):
            yield Found(file_node(path), "include", line)


def _resolve(name: str, quoted: bool, folder: str, index: FileIndex, every: bool) -> list[str]:
    candidates = index.by_base.get(name.rpartition("/")[2], ())
    beside = posixpath.normpath(f"{folder}/{name}")
    if quoted and beside in candidates:
        return [beside]
    tail = "/" + "/".join(part for part in name.split("/") if part not in ("", ".", ".."))
    found = [path for path in candidates if path.endswith(tail)]
    return found if every else nearest(found, folder)[1]
