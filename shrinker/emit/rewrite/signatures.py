"""DropElement on parameters of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from shrinker.emit.rewrite.gaps import NOTHING, drop
from shrinker.emit.rewrite.sites import Sites

Action = Callable[[cst.CSTNode], cst.CSTNode]


def find_parameters(node: cst.FunctionDef, sites: Sites) -> Action | None:
    """The action for parameters that go with their annotations and defaults; the span of one is that of its name."""
    gone: set[int] = set()
    for index, item in enumerate(_items(node.params)):
        if isinstance(item, cst.Param) and sites.element("parameter", item.name):
            gone.add(index)
            for part in (item, item.annotation and item.annotation.annotation, item.default):
                if part is not None:
                    sites.skip(part)
    if not gone:
        return None

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.FunctionDef)
        params = updated.params
        items = _items(params)
        kept, first, last = drop(items, frozenset(gone), updated.whitespace_before_params, NOTHING)
        if kept and last is not NOTHING:
            kept[-1] = kept[-1].with_changes(whitespace_after_param=last)
        left = iter(kept)
        changes: dict[str, Any] = {}
        index = 0
        for name in _FIELDS:
            value = getattr(params, name)
            many = isinstance(value, list | tuple)
            here: list[Any] = []
            for _ in _of_field(value):
                if index not in gone:
                    here.append(next(left))
                index += 1
            if many:
                changes[name] = here
            elif here:
                changes[name] = here[0]
        if not changes["kwonly_params"] and isinstance(params.star_arg, cst.ParamStar):
            raise sites.error(node, "no parameter is left after a bare `*`")
        return updated.with_changes(params=params.with_changes(**changes), whitespace_before_params=first)

    return act


_FIELDS = ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg")


def _of_field(value: object) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None or isinstance(value, cst.MaybeSentinel) else [value]


def _items(params: cst.Parameters) -> list[Any]:
    """Everything between the parentheses, in order."""
    return [item for name in _FIELDS for item in _of_field(getattr(params, name))]
