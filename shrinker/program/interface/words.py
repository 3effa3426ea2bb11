"""Modules of upstream that may hold flags and endpoints: a file that an earlier run read is not read again for it."""

from __future__ import annotations

from collections.abc import Mapping

from shrinker.cache import Cache, pack, unpack
from shrinker.program.interface.endpoints import WORDS as ENDPOINTS
from shrinker.program.interface.flags import WORDS as FLAGS
from shrinker.program.interface.syntax import Syntax

WORDS = (FLAGS, ENDPOINTS)
"""What a module with flags writes, and one with endpoints."""


def modules_with_words(syntax: Syntax, hashes: Mapping[str, str], cache: Cache | None = None) -> tuple[set[str], ...]:
    """Modules whose text holds words of flags, and those of endpoints.

    Args:
        syntax: modules of a tree.
        hashes: SHA-256 of the text of every module, by path.
        cache: what earlier runs saw; by default nothing.
    """
    layer = (cache or Cache.off()).layer("words", *(pattern.pattern.decode() for pattern in WORDS))
    key = {"": layer.key()}
    loaded = layer.load(key, counted=False)
    known: dict[str, tuple[bool, ...]] = unpack(loaded[""]) if loaded else {}
    new = sorted(module for module, path in syntax.paths.items() if hashes[path] not in known)
    layer.count(len(syntax.paths), len(syntax.paths) - len(new))
    if new:
        found = syntax.matching(*WORDS, among=new)
        held = [set(modules) for modules in found]
        known |= {hashes[syntax.paths[module]]: tuple(module in each for each in held) for module in new}
        # Of this tree alone, so that it does not grow from commit to commit.
        layer.save(
            key, {"": pack({sha256: known[sha256] for sha256 in map(hashes.__getitem__, syntax.paths.values())})}
        )
    return tuple({module for module, path in syntax.paths.items() if known[hashes[path]][n]} for n in range(len(WORDS)))
