"""DropElement and DropAlias: an element of a display, an argument, a base, a decorator, a parameter, an annotation, a comprehension's `if`,
a name of an import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, TypeVar

import libcst as cst

from shrinker.emit.rewrite.gaps import NOTHING, comma_of, drop, drop_between
from shrinker.emit.rewrite.sites import Sites

Action = Callable[[cst.CSTNode], cst.CSTNode]
T = TypeVar("T", bound=cst.CSTNode)


def find_display(node: cst.List | cst.Set | cst.Dict, sites: Sites) -> Action | None:
    """The action for a list, set or dict display."""
    gone = _gone(node, sites)
    if isinstance(node, cst.Set) and len(gone) == len(node.elements):
        raise sites.error(node, "an emptied set display would become a dict")
    return _dropping("elements", gone, "bracket" if isinstance(node, cst.List) else "brace")


def find_tuple(node: cst.Tuple, sites: Sites) -> Action | None:
    """The action for a tuple, which keeps a comma when one element is left."""
    gone = _gone(node, sites)
    if not gone:
        return None
    if len(gone) == len(node.elements) and not node.lpar:
        raise sites.error(node, "no element is left of a tuple without parentheses")

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Tuple)
        lpar, rpar = list(updated.lpar), list(updated.rpar)
        brackets = (lpar[-1], rpar[0]) if lpar else (None, None)
        items, opening, closing = drop_between(updated.elements, gone, *brackets)
        if lpar:
            lpar[-1], rpar[0] = opening, closing
        return updated.with_changes(elements=_with_comma(items), lpar=lpar, rpar=rpar)

    return act


def find_subscript(node: cst.Subscript, sites: Sites) -> Action | None:
    """The action for `X[A, B]`, whose index is a tuple for `ast`."""
    if len(node.slice) < 2:
        return None
    items = ((item.slice.value, item) if isinstance(item.slice, cst.Index) else () for item in node.slice)
    gone = _named("Tuple", items, sites)
    if len(gone) == len(node.slice):
        raise sites.error(node, "no element of an index is left")
    return _dropping("slice", gone, "bracket")


def find_call(node: cst.Call, sites: Sites) -> Action | None:
    """The action for a call's arguments."""
    gone = _arguments(node.args, "Call", sites)
    if not gone:
        return None

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        items, first, last = drop(updated.args, gone, updated.whitespace_before_args, NOTHING)
        if items:
            items[-1] = items[-1].with_changes(whitespace_after_arg=last) if last is not NOTHING else items[-1]
        return updated.with_changes(args=items, whitespace_before_args=first)

    return act


def find_definition(node: cst.ClassDef | cst.FunctionDef, sites: Sites) -> Action | None:
    """The action for decorators, bases and a return annotation."""
    decorators = _named("decorator", ((d.decorator, d) for d in node.decorators), sites)
    bases: frozenset[int] = frozenset()
    changes: dict[str, Any] = {}
    if isinstance(node, cst.ClassDef):
        bases = _arguments([*node.bases, *node.keywords], "ClassDef", sites)
    elif node.returns is not None and sites.element("returns", node.returns.annotation, node.returns):
        changes["returns"] = None
    if not (decorators or bases or changes):
        return None

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        if bases and isinstance(updated, cst.ClassDef):
            updated = _without_bases(updated, bases)
        left = [d for i, d in enumerate(updated.decorators) if i not in decorators]  # type: ignore[attr-defined]
        return updated.with_changes(decorators=left, **changes)

    return act


def find_annotation(node: cst.Param, sites: Sites) -> Action | None:
    """The action for a parameter's annotation."""
    if node.annotation is None or not sites.element("annotation", node.annotation.annotation, node.annotation):
        return None
    return lambda updated: updated.with_changes(annotation=None)


def find_filter(node: cst.CompFor, sites: Sites) -> Action | None:
    """The action for the `if` parts of a comprehension."""
    gone = _named("comprehension", ((part.test, part) for part in node.ifs), sites)
    if not gone:
        return None
    return lambda updated: updated.with_changes(
        ifs=[part for i, part in enumerate(updated.ifs) if i not in gone]  # type: ignore[attr-defined]
    )


def _without_bases(node: cst.ClassDef, gone: frozenset[int]) -> cst.ClassDef:
    items, left, right = drop_between([*node.bases, *node.keywords], gone, node.lpar, node.rpar)
    if not items:
        default = cst.MaybeSentinel.DEFAULT
        return node.with_changes(bases=[], keywords=[], lpar=default, rpar=default)
    return node.with_changes(
        bases=[a for a in items if a.keyword is None and a.star != "**"],
        keywords=[a for a in items if a.keyword is not None or a.star == "**"],
        lpar=left,
        rpar=right,
    )


def _named(container: str, elements: Iterable[Sequence[cst.CSTNode]], sites: Sites) -> frozenset[int]:
    """Indices of the elements that go, each given by the nodes that may stand for it."""
    return frozenset(i for i, nodes in enumerate(elements) if sites.element(container, *nodes))


def _gone(node: cst.List | cst.Set | cst.Dict | cst.Tuple, sites: Sites) -> frozenset[int]:
    starred = (cst.StarredElement, cst.StarredDictElement)
    # A starred element has a span of its own in a list; in a dict only its value has.
    elements = ((e, e.value) if isinstance(e, starred) else (e.value, e) for e in node.elements)
    return _named(type(node).__name__, elements, sites)


def _arguments(arguments: Sequence[cst.Arg], container: str, sites: Sites) -> frozenset[int]:
    return _named(container, ((argument, argument.value) for argument in arguments), sites)


def _dropping(field: str, gone: frozenset[int], bracket: str) -> Action | None:
    """The action that drops elements between two brackets, where a node has any; None when all of them stay."""
    if not gone:
        return None
    ends = f"l{bracket}", f"r{bracket}"

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        brackets = [getattr(updated, end, None) for end in ends]
        items, *new = drop_between(getattr(updated, field), gone, *brackets)
        changes = dict(zip(ends, new, strict=True)) if new[0] else {}
        return updated.with_changes(**{field: _with_comma(items) if field == "slice" else items}, **changes)

    return act


def _with_comma(items: list[T]) -> list[T]:
    if len(items) == 1 and not isinstance(comma_of(items[0]), cst.Comma):
        items = [items[0].with_changes(comma=cst.Comma())]
    return items


def find_aliases(node: cst.Import | cst.ImportFrom, sites: Sites) -> Action | None:
    """The action for an import statement; None when it keeps all its names."""
    if isinstance(node.names, cst.ImportStar):
        return None
    gone = frozenset(i for i, alias in enumerate(node.names) if sites.alias(alias))
    if len(gone) == len(node.names):
        raise sites.error(node, "no name of an import is left: the statement should have been dropped")
    return _dropping("names", gone, "par")


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
        left, numbers = iter(kept), count()
        changes: dict[str, Any] = {}
        for name in _FIELDS:
            value = getattr(params, name)
            here = [next(left) for _ in _of_field(value) if next(numbers) not in gone]
            if isinstance(value, list | tuple):
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
