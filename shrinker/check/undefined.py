"""Names that nothing defines, as ruff sees them, and names that a star import would have to give, where ruff is blind.

Upstream's own are told by the same name in the same file.
"""

from __future__ import annotations

from shrinker.check.registry import Seen
from shrinker.check.ruff import STAR, RuffRun
from shrinker.check.trees import Trees


def undefined_names(trees: Trees, seen: Seen) -> None:
    """What ruff says of F821, F822 and F823.

    Raises:
        InputError: ruff is missing or fails.
    """
    seen.look(len(trees.python))
    found = [u for u in trees.undefined if u.code != STAR]
    again = sorted({u.path for u in found if u.path in trees.source.by_path})
    theirs = {(u.path, u.code, u.name) for u in RuffRun(trees.source.root, again).result()} if again else set()
    for u in found:
        seen.find(u.path, u.line, f"{u.message} ({u.code})", inherited=(u.path, u.code, u.name) in theirs)


def star_names(trees: Trees, seen: Seen) -> None:
    """Some star import of the file gives the name."""
    kept = {symbols.path: symbols for symbols in trees.kept}
    ours, theirs = trees.modules, trees.source_modules
    for u in trees.undefined:
        if u.code != STAR:
            continue
        seen.look()
        dotted = kept[u.path].module
        if dotted is None or kept[u.path].error is not None:
            continue
        if ours.lost(theirs, dotted, u.name) or not ours.binds(dotted, u.name):
            inherited = dotted in theirs and not theirs.binds(dotted, u.name)
            seen.find(u.path, u.line, f"no star import of this file defines {u.name!r}", inherited=inherited)
