"""Changed files that are no Python: each line is one of upstream's, in upstream's order."""

from __future__ import annotations

import hashlib

from shrinker.check.allowances import OWN_FILES
from shrinker.check.registry import Seen
from shrinker.check.trees import Trees

LINES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl", ".inc", "CMakeLists.txt", ".cmake", "Cargo.toml")
"""Ends of the names of files of which lines may go."""
_NOTE = b"Modified by shrinker: parts not used by this profile were removed. See NOTICE and SHRINK.json."


def changed_lines(trees: Trees, seen: Seen) -> None:
    """Such a file begins with the note that it was changed, and is upstream's with lines left out."""
    for entry in trees.manifest.files:
        source = trees.source.by_path.get(entry.path)
        file = trees.out / entry.path
        if not entry.changed or not entry.path.endswith(LINES) or entry.path in OWN_FILES or source is None:
            continue
        if not file.is_file():
            continue
        theirs = (trees.source.root / entry.path).read_bytes()
        if hashlib.sha256(theirs).hexdigest() != source.sha256:
            seen.find(entry.path, 0, "upstream's file changed while it was read")
            continue
        first, *ours = file.read_bytes().split(b"\n")
        if first.removeprefix(b"//").removeprefix(b"#").strip() != _NOTE:
            seen.find(entry.path, 1, "does not begin with the note that it was changed")
        rest = iter(theirs.split(b"\n"))
        seen.look(len(ours))
        for number, line in enumerate(ours, 2):
            if line not in rest:
                seen.find(entry.path, number, "is no line of upstream's, or not in its order")
                break
