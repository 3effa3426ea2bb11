"""The analysis of an earlier run, used again where no file that it looked at differs.

Commits that touch documents, tests and what is not kept outside the package are many. What an analysis looks at: the rules and the
tool, all files of the package, the paths of all others, and those of them that were kept in any of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from shrinker.cache import Cache, pack, unpack
from shrinker.ruleset import Ruleset
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

Analysis = TypeVar("Analysis")


def remember(
    cache: Cache, tree: UpstreamTree, rules: Ruleset, more: str, analyse: Callable[[], tuple[Analysis, set[str]]]
) -> Analysis:
    """What an earlier run found, else what `analyse` finds.

    Args:
        cache: of earlier runs.
        tree: upstream.
        rules: of the profile.
        more: what else the analysis depends on.
        analyse: gives the analysis, and the paths of all files that any of its steps kept.
    """
    if not cache.enabled:
        return analyse()[0]
    layer = cache.layer("analyses", rules.model_dump_json(), more)
    lines = [f"{f.path} {f.sha256}" if f.path.startswith(PACKAGE_PREFIX) else f.path for f in tree.files]
    keys = {"analysis": layer.key("\n".join(lines), repr(tree.declared))}
    known = layer.load(keys, counted=False)
    if known:
        outside, packed = unpack(known["analysis"])
        if all(tree.by_path[path].sha256 == sha256 for path, sha256 in outside.items()):
            layer.count(1, 1)
            found: Analysis = unpack(packed)
            return found
    layer.count(1, 0)
    found, kept = analyse()
    outside = {path: tree.by_path[path].sha256 for path in kept if not path.startswith(PACKAGE_PREFIX)}
    layer.save(keys, {"analysis": pack((outside, pack(found)))})
    return found
