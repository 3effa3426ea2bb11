"""What the command lines and servers of the tree take otherwise than upstream's, from an earlier run where that read the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from shrinker.cache import Cache, hash_of, pack, unpack
from shrinker.program.interface.compare import Offered, compare_interfaces, modules_with_words, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.interface import Interface
from shrinker.values.upstream import UpstreamTree, modules_of


@dataclass(frozen=True, slots=True)
class _Known:
    """One comparison, and what it read; which modules there are on both sides is in its key."""

    upstream: Mapping[str, str]
    """Hash of each file of upstream, by path."""
    decided: Mapping[str, str]
    """Hash of what was decided in those files, by path."""
    written: Mapping[str, str]
    """Hash of each file of the tree, by path."""
    interface: Interface


def _noting(read: Callable[[str], bytes], paths: set[str]) -> Callable[[str], bytes]:
    """Reads files, and notes which."""

    def noted(path: str) -> bytes:
        paths.add(path)
        return read(path)

    return noted


class Comparison:
    """Upstream and the tree that is being written."""

    def __init__(
        self,
        tree: UpstreamTree,
        rules: Ruleset,
        folded: Mapping[str, FoldedModule],
        graph: Graph,
        read: Callable[[str], bytes],
        cache: Cache | None = None,
    ) -> None:
        """
        Args:
            tree: upstream.
            rules: of the profile.
            folded: folded modules by path, for what was decided.
            graph: says which files are kept.
            read: bytes of a file of the tree.
            cache: of earlier runs; by default none.
        """
        self._tree = tree
        self._rules = rules
        self._folded = folded
        self._graph = graph
        self._cache = cache or Cache.off()
        self._upstream, self._written = set[str](), set[str]()
        self.upstream = Syntax(modules_of(tree.by_path), _noting(tree.read, self._upstream))
        self.written = Syntax(modules_of(graph.kept), _noting(read, self._written))
        hashes = {path: tree.by_path[path].sha256 for path in self.upstream.paths.values()}
        self._words = modules_with_words(self.upstream, hashes, self._cache)
        # A refusal is looked up by its rule alone, wherever it stands.
        looking = {r for module in folded.values() for d in module.decisions if d.kind == "refusal" for r in d.rules}
        self._layer = self._cache.layer("interface")
        key = self._layer.key(
            rules.digest,
            repr(sorted(self.upstream.paths.items())),
            repr(sorted(self.written.paths.items())),
            repr([sorted(words) for words in self._words]),
            repr(sorted(looking)),
        )
        self._keys = {"": key}
        found = self._layer.load(self._keys, counted=False)
        known: _Known | None = unpack(found[""]) if found else None
        if known and (known.upstream, known.decided) != (self._hashes(known.upstream), self._decided(known.upstream)):
            known = None
        self._known = known

    def interface(self, written: Mapping[str, str]) -> Interface:
        """The differences.

        Args:
            written: SHA-256 of every module of the tree, by path: all of them are there now.
        """
        known = self._known
        held = known is not None and all(written.get(path) == sha256 for path, sha256 in known.written.items())
        self._layer.count(1, int(held))
        if known is not None and held:
            return known.interface
        found = compare_interfaces(self._offered, self.written, self._rules, self._folded, self._graph)
        read = self._upstream
        kept = {path: written[path] for path in sorted(self._written)}
        self._layer.save(self._keys, {"": pack(_Known(self._hashes(read), self._decided(read), kept, found))})
        return found

    @cached_property
    def _offered(self) -> Offered:
        return read_offered(self.upstream, *self._words)

    def _hashes(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self._tree.by_path[path].sha256 for path in sorted(paths)}

    def _decided(self, paths: Iterable[str]) -> dict[str, str]:
        known = ((path, self._folded[path].decisions) for path in sorted(paths) if path in self._folded)
        return {path: hash_of(repr(decisions)).hex() for path, decisions in known if decisions}
