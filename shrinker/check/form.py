"""The files of a generated tree are those of its manifest, and each is upstream's, or what is left
of one's lines, or one that shrinker writes.

The changed Python files stand each beside upstream's: a worker asks all checks of one file, and the
cache keeps the answers.
"""

import ast
import hashlib
import warnings
from functools import partial
from pathlib import Path

from shrinker.cache import pack, unpack
from shrinker.cache.workers import map_files
from shrinker.check import allowances
from shrinker.check.reader import symbols_of
from shrinker.check.subsequence import align, logical_lines, split
from shrinker.check.symbols import SYMBOLS
from shrinker.check.trees import Seen, Trees
from shrinker.source.cache import sha256_of
from shrinker.syntax.imports import package_of
from shrinker.values import form as syntax
from shrinker.values.errors import ShrinkerError
from shrinker.values.manifest import MANIFEST, contents
from shrinker.values.outcome import EmittedFile
from shrinker.values.upstream import module_name

LINES = (
    ".c",
    ".cc",
    ".cpp",
    ".cu",
    ".cuh",
    ".h",
    ".hpp",
    ".inl",
    ".inc",
    "CMakeLists.txt",
    ".cmake",
    "Cargo.toml",
)
"""Ends of the names of files of which lines may go."""
EXTRA, OWN = "extra files", "own files"
_NOTE = b"Modified by shrinker: parts not used by this profile were removed. See NOTICE and SHRINK.json."
_TREES, _FILES, _TOKENS = "decided trees", "subsequence files", "subsequence tokens"
COUNTS = ("compiled", _TREES, _FILES, _TOKENS, *(f"allowed: {name}" for name in allowances.NAMES))
_Task = tuple[EmittedFile, str]
"""A file, and the SHA-256 of upstream's: empty where upstream has none, or shrinker writes it anew.
"""


def changed_files(trees: Trees, seen: Seen) -> None:
    """Every file has its recorded SHA-256, every Python file compiles, and the changed ones are the
    decided trees and what is left of upstream's. Raises ShrinkerError: a worker process was killed,
    or a file changed while it was read.
    """
    theirs = trees.source.by_path
    tasks: dict[str, _Task] = {}
    for entry in trees.manifest.files:
        path, file = entry.path, trees.out / entry.path
        if not file.is_file():
            continue
        if sha256_of(file) != entry.sha256:
            seen.find(path, 0, "its SHA-256 is not the one in the manifest", check="files")
        elif path.endswith(".py"):
            derived = path in theirs and path not in allowances.OWN_FILES
            tasks[path] = entry, theirs[path].sha256 if derived else ""
    for each in _judge_all(trees, tasks):
        seen.counts.update(each.counts)
        seen.findings += each.findings
        seen.inherited += each.inherited


def _judge_all(trees: Trees, tasks: dict[str, _Task]) -> list[Seen]:
    """Return what is in the cache was found for the same bytes on both sides."""
    replaced = trees.manifest.defaults
    results, symbols = trees.cache.layer("form", repr(replaced)), trees.cache.layer(SYMBOLS)
    keys = {path: results.key(path, repr(task)) for path, task in tasks.items()}

    def make(missing: list[str]) -> list[bytes]:
        asked = [tasks[path] for path in missing]
        weights = [(8 if entry.changed else 1) * entry.lines_after for entry, _ in asked]
        judged = map_files(
            partial(_judge, trees.out, trees.source.root, replaced), asked, weights, jobs=trees.jobs
        )
        read = {
            path: packed
            for path, (_, packed) in zip(missing, judged, strict=True)
            if packed is not None
        }
        symbols.save({path: symbols.key(path, tasks[path][0].sha256) for path in read}, read)
        return [seen for seen, _ in judged]

    return [unpack(each) for each in results.packed(keys, make).values()]


def _judge(
    out: Path, upstream: Path, replaced: tuple[tuple[str, str], ...], task: _Task
) -> tuple[bytes, bytes | None]:
    """Ask all checks of one file: what they saw, and the file's symbols where it parses; packed."""
    (entry, theirs), path = task, task[0].path
    data = _bytes(out / path, entry.sha256)
    seen = Seen("compiled")
    seen.look()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data, path)
            compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        line, message = getattr(error, "lineno", None) or 0, getattr(error, "msg", None) or error
        seen.find(
            path, line, f"does not compile: {message}", inherited=bool(theirs) and not entry.changed
        )
        return pack(seen), None
    if entry.changed and theirs:
        seen.look(check=_TREES)
        if entry.digest is None:
            seen.find(
                path, 0, "was changed but the manifest has no digest of the decision", check=_TREES
            )
        elif syntax.digest(tree) != entry.digest:
            seen.find(path, 0, "its syntax tree is not the one that was decided", check=_TREES)
        _left(
            entry, data, _bytes(upstream / path, theirs), allowances.default_tokens(replaced), seen
        )
    return pack(seen), pack(symbols_of(tree, path))


def _left(
    entry: EmittedFile, data: bytes, source: bytes, defaults: allowances.Defaults, seen: Seen
) -> None:
    """The lines of the generated file are what is left of upstream's."""
    seen.look(check=_FILES)
    try:
        text = data.decode("utf-8-sig")
        ours, theirs = split(text), split(source.decode("utf-8-sig"))
    except (SyntaxError, UnicodeDecodeError) as error:
        seen.find(entry.path, 0, f"cannot be split into tokens: {error}", check="subsequence")
        return
    module = module_name(entry.path)
    package = package_of(module, entry.path.endswith("/__init__.py")) if module else ""
    result = align(ours, theirs, defaults, package)
    seen.look(sum(map(len, ours)), _TOKENS)
    for name, count in result.used.items():
        seen.look(count, f"allowed: {name}")
    lines = logical_lines(text) if result.mismatches else []
    for index, tokens in result.mismatches:
        message = f"is not what is left of upstream's text after deletions, from here: {tokens}"
        seen.find(entry.path, lines[index].number, message, check="subsequence")


def _bytes(file: Path, sha256: str) -> bytes:
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ShrinkerError(
            f"{file} changed while it was read", "run again when nothing writes to it"
        )
    return data


def changed_lines(trees: Trees, seen: Seen) -> None:
    """Such a file begins with the note that it was changed, and is upstream's with lines
    left out.
    """
    theirs = trees.source.by_path.keys() - allowances.OWN_FILES
    for entry in trees.manifest.files:
        file = trees.out / entry.path
        if not (
            entry.changed and entry.path.endswith(LINES) and entry.path in theirs and file.is_file()
        ):
            continue
        first, *ours = file.read_bytes().split(b"\n")
        if first.removeprefix(b"//").removeprefix(b"#").strip() != _NOTE:
            seen.find(entry.path, 1, "does not begin with the note that it was changed")
        rest = iter(trees.source.read(entry.path).split(b"\n"))
        seen.look(len(ours))
        if number := next((number for number, line in enumerate(ours, 2) if line not in rest), 0):
            seen.find(entry.path, number, "is no line of upstream's, or not in its order")


def files(trees: Trees, seen: Seen) -> None:
    """Every file of the manifest is there, once, as a plain file, and nothing else but the manifest
    and byte code. (`form` compares SHA-256.)
    """
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
    """What upstream does not have is declared in `OWN_FILES`, what is recorded as unchanged has
    upstream's SHA-256, and what is changed of upstream is something that is judged.
    """
    for entry in trees.manifest.files:
        own, source = entry.path in allowances.OWN_FILES, trees.source.by_path.get(entry.path)
        if own:
            seen.look(check=OWN)
        elif source is None:
            seen.find(
                entry.path, 0, "upstream has no such file and shrinker declares none", check=OWN
            )
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
