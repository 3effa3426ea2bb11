"""What the judge reads of upstream's own files, whatever is kept of them: it may be read before there is anything to judge."""

from __future__ import annotations

from collections.abc import Iterable

from shrinker.cache import Cache, pack
from shrinker.check.constant_functions import constant_functions
from shrinker.check.reader import read_symbols
from shrinker.check.rule_index import index_rules
from shrinker.check.symbols import SYMBOLS
from shrinker.ruleset import Ruleset
from shrinker.values.upstream import UpstreamTree


def prefetch_upstream(tree: UpstreamTree, paths: Iterable[str], rules: Ruleset, cache: Cache) -> None:
    """Leave symbols, and what functions give by the rules, in the cache.

    Args:
        tree: upstream.
        paths: Python files of it.
        rules: of the profile.
        cache: where the judge will look; what is there already is not read again.
    """
    hashes = {path: tree.by_path[path].sha256 for path in paths}
    layer = cache.layer(SYMBOLS)
    keys = {path: layer.key(path, sha256) for path, sha256 in hashes.items()}
    known = layer.load(keys)
    layer.save(keys, {path: pack(read_symbols(tree.root / path, path)) for path in keys if path not in known})
    constant_functions(tree.root, hashes, index_rules(rules), jobs=1, cache=cache)
