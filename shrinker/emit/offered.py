"""What the command lines and servers of the tree take otherwise than upstream's, from an earlier run where that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from shrinker.cache import Cache, hash_of, pack, unpack
from shrinker.program.interface.compare import Offered, compare_interfaces, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.interface import Interface
from shrinker.values.upstream import UpstreamTree, modules_of


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
        self._upstream = Syntax(modules_of(tree.by_path), tree.read)
        self._written = Syntax(modules_of(graph.kept), read)
        self._rules, self._folded, self._graph = rules, folded, graph
        self._layer = (cache or Cache.off()).layer("interface")
        hashes = sorted((path, tree.by_path[path].sha256) for path in self._upstream.paths.values())
        # What was decided follows from both.
        self._keys = {"": self._layer.key(rules.digest, repr(hashes))}
        found = self._layer.load(self._keys, counted=False)
        self._known: tuple[bytes, Interface] | None = unpack(found[""]) if found else None

    def interface(self, written: Mapping[str, str]) -> Interface:
        """The differences.

        Args:
            written: SHA-256 of every module of the tree, by path: all of them are there now.
        """
        digest = hash_of(repr(sorted(written.items())))
        held = self._known is not None and self._known[0] == digest
        self._layer.count(1, int(held))
        if self._known is None or not held:
            found = compare_interfaces(self._offered, self._written, self._rules, self._folded, self._graph)
            self._known = digest, found
            self._layer.save(self._keys, {"": pack(self._known)})
        return self._known[1]

    @cached_property
    def _offered(self) -> Offered:
        return read_offered(self._upstream)
