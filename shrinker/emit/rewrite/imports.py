"""DropAlias: one name of an import goes."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from shrinker.emit.rewrite.gaps import NOTHING, drop
from shrinker.emit.rewrite.sites import Sites

Action = Callable[[cst.CSTNode], cst.CSTNode]


def find_aliases(node: cst.Import | cst.ImportFrom, sites: Sites) -> Action | None:
    """The action for an import statement; None when it keeps all its names."""
    if isinstance(node.names, cst.ImportStar):
        return None
    gone = frozenset(i for i, alias in enumerate(node.names) if sites.alias(alias))
    if not gone:
        return None
    if len(gone) == len(node.names):
        raise sites.error(node, "no name of an import is left: the statement should have been dropped")

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Import | cst.ImportFrom) and not isinstance(updated.names, cst.ImportStar)
        lpar, rpar = getattr(updated, "lpar", None), getattr(updated, "rpar", None)
        opening = lpar.whitespace_after if lpar else NOTHING
        closing = rpar.whitespace_before if rpar else NOTHING
        items, first, last = drop(updated.names, gone, opening, closing)
        if lpar and rpar:
            return updated.with_changes(
                names=items,
                lpar=lpar.with_changes(whitespace_after=first),
                rpar=rpar.with_changes(whitespace_before=last),
            )
        return updated.with_changes(names=items)

    return act
