"""DropElement and DropAlias: an element of a display, an argument, a base, a decorator, a parameter, an annotation, a comprehension's `if`,
a name of an import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import libcst as cst

from shrinker.emit.rewrite.gaps import NOTHING, comma_of, drop, drop_between
from shrinker.emit.rewrite.sites import Sites

Action = Callable[[cst.CSTNode], cst.CSTNode]
T = TypeVar("T", bound=cst.CSTNode)


def find_display(node: cst.List | cst.Set | cst.Dict, sites: Sites) -> Action | None:
    """The action for a list, set or dict display."""
    container = type(node).__name__
    gone = _gone(container, node.elements, sites)
    if not gone:
        return None
    if isinstance(node, cst.Set) and len(gone) == len(node.elements):
        raise sites.error(node, "an emptied set display would become a dict")

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        left, right = ("lbrace", "rbrace") if hasattr(updated, "lbrace") else ("lbracket", "rbracket")
        brackets = getattr(updated, left), getattr(updated, right)
        items, opening, closing = drop_between(updated.elements, gone, *brackets)  # type: ignore[attr-defined]
        return updated.with_changes(elements=items, **{left: opening, right: closing})

    return act


def find_tuple(node: cst.Tuple, sites: Sites) -> Action | None:
    """The action for a tuple, which keeps a comma when one element is left."""
    gone = _gone("Tuple", node.elements, sites)
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
    gone = frozenset(
        i
        for i, item in enumerate(node.slice)
        if isinstance(item.slice, cst.Index) and sites.element("Tuple", item.slice.value, item)
    )
    if not gone:
        return None
    if len(gone) == len(node.slice):
        raise sites.error(node, "no element of an index is left")

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Subscript)
        items, left, right = drop_between(updated.slice, gone, updated.lbracket, updated.rbracket)
        return updated.with_changes(slice=_with_comma(items), lbracket=left, rbracket=right)

    return act


def find_call(node: cst.Call, sites: Sites) -> Action | None:
    """The action for a call's arguments."""
    gone = _arguments("Call", node.args, sites)
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
    decorators = frozenset(i for i, d in enumerate(node.decorators) if sites.element("decorator", d.decorator, d))
    bases: frozenset[int] = frozenset()
    returns = False
    if isinstance(node, cst.ClassDef):
        bases = _arguments("ClassDef", [*node.bases, *node.keywords], sites)
    elif node.returns is not None:
        returns = sites.element("returns", node.returns.annotation, node.returns)
    if not (decorators or bases or returns):
        return None

    def act(updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.ClassDef | cst.FunctionDef)
        if decorators:
            updated = updated.with_changes(
                decorators=[d for i, d in enumerate(updated.decorators) if i not in decorators]
            )
        if returns:
            updated = updated.with_changes(returns=None)
        if bases and isinstance(updated, cst.ClassDef):
            updated = _without_bases(updated, bases)
        return updated

    return act


def find_annotation(node: cst.Param, sites: Sites) -> Action | None:
    """The action for a parameter's annotation."""
    if node.annotation is None or not sites.element("annotation", node.annotation.annotation, node.annotation):
        return None
    return lambda updated: updated.with_changes(annotation=None)


def find_filter(node: cst.CompFor, sites: Sites) -> Action | None:
    """The action for the `if` parts of a comprehension."""
    gone = frozenset(i for i, part in enumerate(node.ifs) if sites.element("comprehension", part.test, part))
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


def _gone(container: str, elements: Sequence[cst.BaseElement | cst.BaseDictElement], sites: Sites) -> frozenset[int]:
    return frozenset(
        i
        for i, element in enumerate(elements)
        # A starred element has a span of its own in a list; in a dict only its value has.
        if sites.element(container, *((element, element.value) if _is_starred(element) else (element.value, element)))
    )


def _is_starred(element: cst.BaseElement | cst.BaseDictElement) -> bool:
    return isinstance(element, cst.StarredElement | cst.StarredDictElement)


def _arguments(container: str, arguments: Sequence[cst.Arg], sites: Sites) -> frozenset[int]:
    return frozenset(i for i, argument in enumerate(arguments) if sites.element(container, argument, argument.value))


def _with_comma(items: list[T]) -> list[T]:
    if len(items) == 1 and not isinstance(comma_of(items[0]), cst.Comma):
        items = [items[0].with_changes(comma=cst.Comma())]
    return items


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
        brackets = getattr(updated, "lpar", None), getattr(updated, "rpar", None)
        items, left, right = drop_between(updated.names, gone, *brackets)
        return updated.with_changes(names=items, **({"lpar": left, "rpar": right} if left else {}))

    return act


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
