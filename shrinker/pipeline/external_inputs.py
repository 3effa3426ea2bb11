"""What an analysis reads of kept files that are no modules: words that may name something, and includes.

Most commits change such files: tests and documents that travel along, Rust, kernels. What they say matters to the analysis only
as far as it asked for the words, or as far as modules write what Python that imports the tree does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from shrinker.cache import Cache, pack, unpack
from shrinker.fold.propagate.surroundings import names_something
from shrinker.program.edges.native import written_includes
from shrinker.program.nodes import file_node
from shrinker.values.texts import looked_up, without_comments, words_of
from shrinker.values.upstream import PACKAGE, PACKAGE_PREFIX, UpstreamTree, module_name

_LETTERS = frozenset(bytes([n]) for n in range(128) if chr(n).isalnum() or chr(n) == "_")


@dataclass(frozen=True, slots=True)
class Read:
    """What is read of one file; of a file that does not exist nothing."""

    words: frozenset[str] = frozenset()
    """Words by which it may name something."""
    uncommented: frozenset[str] = frozenset()
    """The same of Python without its comments."""
    looked: frozenset[str] = frozenset()
    """Those that Python may look up as attributes, or that begin a string."""
    includes: tuple[tuple[int, str, str], ...] = ()
    """Where a native source of the package names others: line, quote and name."""

    @property
    def of_package(self) -> frozenset[str]:
        """The words of a file that names the package: each of them may name something of any module."""
        return self.words if PACKAGE in self.words else frozenset()


class Beside:
    """The kept files of one tree that are no modules.

    Args:
        tree: upstream.
        cache: what was read of files before.
    """

    def __init__(self, tree: UpstreamTree, cache: Cache) -> None:
        self._tree = tree
        self._layer = cache.layer("read beside modules")

    def note(self, paths: Iterable[str]) -> None:
        """Leave what is read of these files to later runs."""
        hashes = {path: self._tree.by_path[path].sha256 for path in paths}
        keys = self._keys(hashes)
        known = self._layer.load(keys)
        fresh = {path: pack(_read(path, self._tree.read(path))) for path in keys if path not in known}
        self._layer.save(keys, fresh)

    def says_the_same(
        self,
        before: Mapping[str, str],
        now: Mapping[str, str],
        modules: Iterable[str],
        asked: Collection[str],
        sure: Callable[[], Collection[str]],
    ) -> bool:
        """Whether an analysis of the modules finds the same in these files.

        Args:
            before: hashes (SHA-256, hex) of the files of an earlier run, by path, which were noted then.
            now: those of this tree.
            modules: paths of the modules that were folded.
            asked: words of which that analysis asked whether such a file writes them.
            sure: gives the paths of files that both analyses keep in every step, where they are there.
        """
        changed = {path for path in {*before, *now} if before.get(path) != now.get(path)}
        self.note(changed.intersection(now))
        old = self._recall({path: before[path] for path in changed.intersection(before)})
        new = self._recall({path: now[path] for path in changed.intersection(now)})
        if old is None or new is None:
            return False
        doubtful: set[str] = set()
        looked: set[str] = set()
        for path in changed:
            was, is_now = old.get(path, Read()), new.get(path, Read())
            if was.includes != is_now.includes or not (was.of_package ^ is_now.of_package).isdisjoint(asked):
                return False
            doubtful |= was.words ^ is_now.words
            looked |= was.uncommented ^ is_now.uncommented
            looked |= was.looked ^ is_now.looked
        doubtful.intersection_update(asked)
        if doubtful:
            # What another file says in both trees is said, wherever else it came or went.
            kept = sure()
            said = (self._said(hashes, doubtful, kept) for hashes in (before, now))
            doubtful -= frozenset.intersection(*said)
        return not doubtful and (not looked or Written(self._tree, modules).has_none(looked))

    def _said(self, hashes: Mapping[str, str], words: Collection[str], sure: Collection[str]) -> frozenset[str]:
        """Those of some words that a file says that is surely kept."""
        outside = {p: hash_ for p, hash_ in hashes.items() if p in sure and not p.startswith(PACKAGE_PREFIX)}
        found = (self._recall(outside) or {}).values()
        return frozenset(words).intersection(frozenset().union(*(read.words for read in found)))

    def _recall(self, hashes: Mapping[str, str]) -> dict[str, Read] | None:
        """What was read of files; None where it was not kept."""
        keys = self._keys(hashes)
        found = self._layer.load(keys)
        if len(found) < len(keys):
            return None
        return {path: unpack(data) for path, data in found.items()}

    def _keys(self, hashes: Mapping[str, str]) -> dict[str, bytes]:
        return {path: self._layer.key(path, sha256) for path, sha256 in hashes.items() if _is_read(path)}


class Written:
    """What modules write, in their texts and paths."""

    def __init__(self, tree: UpstreamTree, modules: Iterable[str]) -> None:
        """
        Args:
            tree: upstream.
            modules: paths.
        """
        self._tree = tree
        self._modules = sorted(modules)

    @cached_property
    def _texts(self) -> dict[str, bytes]:
        # Their paths, too: their parts are names.
        return {path: path.encode() + b"\n" + self._tree.read(path) for path in self._modules}

    def has_none(self, words: Iterable[str]) -> bool:
        """True when no module writes one of the words."""
        return not any(self.by(word) for word in words)

    def by(self, word: str) -> set[str]:
        """Paths of the modules that write a word. Letters beyond ASCII have several spellings: then it may be any of them."""
        if not word.isascii():
            return set(self._modules)
        return {path for path, text in self._texts.items() if _has(text, word.encode())}


def _has(text: bytes, word: bytes) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if text[at - 1 : at] not in _LETTERS and text[end : end + 1] not in _LETTERS:
            return True
        at = text.find(word, end)
    return False


def _is_read(path: str) -> bool:
    return module_name(path) is None and (names_something(path) or _is_native(path))


def _is_native(path: str) -> bool:
    return path.startswith(PACKAGE_PREFIX) and file_node(path).startswith("native:")


def _read(path: str, data: bytes) -> Read:
    text = data.decode("utf-8", "replace")
    includes = tuple(written_includes(text)) if _is_native(path) else ()
    if not names_something(path):
        return Read(includes=includes)
    words = words_of(path, text)
    if not path.endswith((".py", ".pyi")) or PACKAGE not in words:
        return Read(words, includes=includes)
    plain = without_comments(path, text)
    return Read(words, words_of(path, plain), looked_up(plain), includes)
