"""The files of a generated tree are those of its manifest, and each is upstream's, or what is left of one's lines, or one that shrinker writes."""

import hashlib

from shrinker.check.allowances import OWN_FILES
from shrinker.check.trees import Seen, Trees
from shrinker.values.manifest import MANIFEST, contents

LINES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl", ".inc", "CMakeLists.txt", ".cmake", "Cargo.toml")
"""Ends of the names of files of which lines may go."""
_NOTE = b"Modified by shrinker: parts not used by this profile were removed. See NOTICE and SHRINK.json."


def changed_lines(trees: Trees, seen: Seen) -> None:
    """Such a file begins with the note that it was changed, and is upstream's with lines left out."""
    for entry in trees.manifest.files:
        source, file = trees.source.by_path.get(entry.path), trees.out / entry.path
        judged = entry.changed and entry.path.endswith(LINES) and entry.path not in OWN_FILES
        if not judged or source is None or not file.is_file():
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
        if number := next((number for number, line in enumerate(ours, 2) if line not in rest), 0):
            seen.find(entry.path, number, "is no line of upstream's, or not in its order")


def files(trees: Trees, seen: Seen) -> None:
    """Every file of the manifest is there, once, as a plain file. (`form` compares its SHA-256.)"""
    seen.look(len(set(trees.recorded)))
    if len(set(trees.recorded)) < len(trees.recorded):
        seen.find(MANIFEST, 0, "the manifest names a file twice")
    present = {path: (trees.out / path).is_symlink() for path in contents(trees.out) if path != MANIFEST}
    for path in set(trees.recorded) - {path for path, link in present.items() if not link}:
        seen.find(path, 0, "is in the manifest but not in the tree")
    for path in filter(present.get, present):
        seen.find(path, 0, "is a link; a generated tree holds plain files only")


def extra_files(trees: Trees, seen: Seen) -> None:
    """Nothing else is there, the manifest and byte code of an import aside."""
    present = {path for path in contents(trees.out) if path != MANIFEST and not (trees.out / path).is_symlink()}
    seen.look(len(present))
    for path in present - set(trees.recorded):
        seen.find(path, 0, "is not in the manifest")


def own_files(trees: Trees, seen: Seen) -> None:
    """What upstream does not have is declared in `OWN_FILES`, and what is changed of upstream is something that is judged."""
    for entry in trees.manifest.files:
        if entry.path in OWN_FILES:
            seen.look()
        elif entry.path not in trees.source.by_path:
            seen.find(entry.path, 0, "upstream has no such file and shrinker declares none")
        elif entry.changed and not entry.path.endswith((".py", *LINES)):
            seen.find(entry.path, 0, "was changed, but only Python, native sources and their build lists may be")


def unchanged_files(trees: Trees, seen: Seen) -> None:
    """What is recorded as unchanged has upstream's SHA-256."""
    for entry in trees.manifest.files:
        own, source = entry.path in OWN_FILES, trees.source.by_path.get(entry.path)
        # One that is written anew may have the name of one of upstream's.
        if entry.changed or (own and entry.lines_before == 0):
            continue
        if source is not None:
            seen.look()
            if entry.sha256 != source.sha256:
                seen.find(entry.path, 0, "differs from upstream but is recorded as unchanged")
        elif not own:
            seen.find(entry.path, 0, "is recorded as unchanged but upstream has none")
