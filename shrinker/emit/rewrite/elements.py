"""DropElement: an element of a display, an argument, a base, a decorator, an annotation, a comprehension's `if`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import libcst as cst

from shrinker.emit.rewrite.gaps import NOTHING, comma_of, drop
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
        opening, closing = getattr(updated, left), getattr(updated, right)
        items, first, last = drop(
            updated.elements,  # type: ignore[attr-defined]
            gone,
            opening.whitespace_after,
            closing.whitespace_before,
        )
        return updated.with_changes(
            elements=items,
            **{left: opening.with_changes(whitespace_after=first), right: closing.with_changes(whitespace_before=last)},
        )

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
        opening = lpar[-1].whitespace_after if lpar else NOTHING
        closing = rpar[0].whitespace_before if rpar else NOTHING
        items, first, last = drop(updated.elements, gone, opening, closing)
        if lpar:
            lpar[-1] = lpar[-1].with_changes(whitespace_after=first)
            rpar[0] = rpar[0].with_changes(whitespace_before=last)
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
        left, right = updated.lbracket, updated.rbracket
        items, first, last = drop(updated.slice, gone, left.whitespace_after, right.whitespace_before)
        return updated.with_changes(
            slice=_with_comma(items),
            lbracket=left.with_changes(whitespace_after=first),
            rbracket=right.with_changes(whitespace_before=last),
        )

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
    assert isinstance(node.lpar, cst.LeftParen) and isinstance(node.rpar, cst.RightParen)
    items, first, last = drop(
        [*node.bases, *node.keywords], gone, node.lpar.whitespace_after, node.rpar.whitespace_before
    )
    if not items:
        default = cst.MaybeSentinel.DEFAULT
        return node.with_changes(bases=[], keywords=[], lpar=default, rpar=default)
    return node.with_changes(
        bases=[a for a in items if a.keyword is None and a.star != "**"],
        keywords=[a for a in items if a.keyword is not None or a.star == "**"],
        lpar=node.lpar.with_changes(whitespace_after=first),
        rpar=node.rpar.with_changes(whitespace_before=last),
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
