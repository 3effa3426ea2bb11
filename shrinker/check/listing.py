"""The files of a generated tree are those of its manifest, and each is upstream's, or what is left of one's lines, or one that shrinker writes."""

from shrinker.check.allowances import OWN_FILES
from shrinker.check.trees import Seen, Trees
from shrinker.values.manifest import MANIFEST, contents

LINES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inl", ".inc", "CMakeLists.txt", ".cmake", "Cargo.toml")
"""Ends of the names of files of which lines may go."""
EXTRA, OWN = "extra files", "own files"
_NOTE = b"Modified by shrinker: parts not used by this profile were removed. See NOTICE and SHRINK.json."


def changed_lines(trees: Trees, seen: Seen) -> None:
    """Such a file begins with the note that it was changed, and is upstream's with lines left out."""
    for entry in trees.manifest.files:
        file, theirs = trees.out / entry.path, entry.path in trees.source.by_path and entry.path not in OWN_FILES
        if not (theirs and entry.changed and entry.path.endswith(LINES) and file.is_file()):
            continue
        first, *ours = file.read_bytes().split(b"\n")
        if first.removeprefix(b"//").removeprefix(b"#").strip() != _NOTE:
            seen.find(entry.path, 1, "does not begin with the note that it was changed")
        rest = iter(trees.source.read(entry.path).split(b"\n"))
        seen.look(len(ours))
        if number := next((number for number, line in enumerate(ours, 2) if line not in rest), 0):
            seen.find(entry.path, number, "is no line of upstream's, or not in its order")


def files(trees: Trees, seen: Seen) -> None:
    """Every file of the manifest is there, once, as a plain file, and nothing else but the manifest and byte code of an import. (`form`
    compares SHA-256.)"""
    recorded = set(trees.recorded)
    present = {path for path in contents(trees.out) if path != MANIFEST}
    links = {path for path in present if (trees.out / path).is_symlink()}
    seen.look(len(recorded))
    seen.look(len(present - links), EXTRA)
    if len(recorded) < len(trees.recorded):
        seen.find(MANIFEST, 0, "the manifest names a file twice")
    for path in recorded - (present - links):
        seen.find(path, 0, "is in the manifest but not in the tree")
    for path in links:
        seen.find(path, 0, "is a link; a generated tree holds plain files only")
    for path in present - links - recorded:
        seen.find(path, 0, "is not in the manifest", check=EXTRA)


def upstreams_files(trees: Trees, seen: Seen) -> None:
    """What upstream does not have is declared in `OWN_FILES`, what is recorded as unchanged has upstream's SHA-256, and what is changed of
    upstream is something that is judged."""
    for entry in trees.manifest.files:
        own, source = entry.path in OWN_FILES, trees.source.by_path.get(entry.path)
        if own:
            seen.look(check=OWN)
        elif source is None:
            seen.find(entry.path, 0, "upstream has no such file and shrinker declares none", check=OWN)
        elif entry.changed and not entry.path.endswith((".py", *LINES)):
            what = "was changed, but only Python, native sources and their build lists may be"
            seen.find(entry.path, 0, what, check=OWN)
        # One that is written anew may have the name of one of upstream's.
        if entry.changed or (own and entry.lines_before == 0):
            continue
        if source is not None:
            seen.look()
            if entry.sha256 != source.sha256:
                seen.find(entry.path, 0, "differs from upstream but is recorded as unchanged")
        elif not own:
            seen.find(entry.path, 0, "is recorded as unchanged but upstream has none")
