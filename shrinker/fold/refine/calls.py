"""How modules call what, by name: what the parameters of the tree's functions are given."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from shrinker.facts.walk import walk
from shrinker.fold.refine.names import literal_of
from shrinker.fold.refine.world import World
from shrinker.values.edits import Span
from shrinker.values.folded import FoldedModule

OPEN = "(?)"
"""The name has a use that is no call."""
TYPING = "(:)"
"""A class is named where only its type counts: annotations, `isinstance`, `Class.attribute`."""
QUOTED = '(")'
"""All strings that are the name stand in annotations."""
ANYTHING = "?"
"""Stands for the name of what is called without one: ``type(self)(x)``."""
_IMPORTED = "~"
_NO_SHAPES = frozenset({OPEN, TYPING, QUOTED, ""})
_BUILTINS = frozenset(dir(builtins))
_CLASS_NAME = re.compile(r"_*[A-Z]\w*$")
_WORDS = re.compile(r"[A-Za-z_]\w*")
_TAIL = re.compile(r"^(?:[A-Za-z_]\w*[.:])*([A-Za-z_]\w*)$")


def call_shapes(tree: ast.Module, literals: set[Span]) -> tuple[set[str], set[str]]:
    """How a module calls what, as words of `Usage.calls`, and words of `Usage.plain`.

    Args:
        tree: the folded tree.
        literals: where folding wrote a literal.
    """
    shapes: dict[str, set[str]] = {}
    callees: set[int] = set()
    imported: set[str] = set()
    valued: set[str] = set()
    mentions: list[tuple[int, str]] = []
    texts: list[ast.Constant] = []
    plain: set[str] = set()
    firm: set[str] = set()
    shown: set[int] = set()
    typing = {id(part): part for place in _typing_only(tree) for part in walk(place)}
    for node in walk(tree):
        match node:
            case ast.Call():
                callee = node.func
                if isinstance(callee, ast.Subscript):
                    # `kernel[grid](x)`
                    callee = callee.value
                name = ANYTHING
                if isinstance(callee, ast.Name | ast.Attribute):
                    callees.add(id(callee))
                    name = callee.id if isinstance(callee, ast.Name) else callee.attr
                if name not in _BUILTINS:
                    bound = isinstance(callee, ast.Attribute)
                    shapes.setdefault(name, set()).add(_shape(node, bound, literals))
            case ast.Name(id=name) | ast.Attribute(attr=name) if not isinstance(node.ctx, ast.Store):
                mentions.append((id(node), name))
                if isinstance(node, ast.Attribute):
                    firm.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                # What is called so may be the variable.
                valued.add(name)
                if isinstance(node, ast.arg):
                    plain.add(name)
            case ast.keyword(arg=str(name)):
                plain.add(name)
            case ast.Expr(value=ast.Constant() as text):
                shown.add(id(text))
            case ast.AugAssign(target=ast.Attribute(attr=name)) | ast.alias(name=name):
                firm.add(name)
            case ast.MatchClass():
                firm.update(node.kwd_attrs)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                # Asked for below when only its own body mentions it.
                shapes.setdefault(node.name, set())
            case ast.ImportFrom():
                for alias in node.names:
                    (valued if alias.asname else imported).add(alias.name)
            case ast.Constant() if isinstance(node.value, str):
                texts.append(node)
    soft: set[str] = set()
    for place, name in mentions:
        if place in typing and _CLASS_NAME.match(name):
            soft.add(name)
        elif place not in callees:
            valued.add(name)
    quoted = {w for t in texts if id(t) in typing for w in _WORDS.findall(t.value) if _CLASS_NAME.match(w)}  # type: ignore[arg-type]
    quoted -= {m.group(1) for t in texts if id(t) not in typing and (m := _TAIL.match(t.value))}  # type: ignore[arg-type]
    words = {f"{name}{_IMPORTED}" for name in imported - valued if not shapes.get(name)}
    words.update(f"{name}{TYPING}" for name in soft - valued)
    words.update(f"{name}{QUOTED}" for name in quoted)
    for name, found in shapes.items():
        if name in valued:
            words.add(f"{name}{OPEN}")
        else:
            words.update(f"{name}{shape}" for shape in found)
    for text in texts:
        if id(text) not in shown:
            firm.update(_WORDS.findall(text.value))  # type: ignore[arg-type]
    return words, plain - firm


def _typing_only(tree: ast.Module) -> Iterator[ast.expr]:
    """Expressions of which nothing is called: annotations, the classes of `isinstance`, what an attribute is read of."""
    for node in walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as found) | ast.AnnAssign(annotation=found):
                yield found
            case ast.FunctionDef(returns=ast.expr() as found) | ast.AsyncFunctionDef(returns=ast.expr() as found):
                yield found
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, found]):
                yield found
            case ast.Attribute(value=ast.Name() as found, attr=attr) if not attr.startswith("__"):
                yield found


def _shape(node: ast.Call, bound: bool, literals: set[Span]) -> str:
    """``(*,False!,k=None)``: a literal with `!` is one that folding wrote; ``(.…)`` when called as an attribute."""
    items: list[str] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            return OPEN
        items.append(_item(argument, literals))
    for keyword in sorted(node.keywords, key=lambda k: k.arg or ""):
        if keyword.arg is None:
            return OPEN
        items.append(f"{keyword.arg}={_item(keyword.value, literals)}")
    return f"({'.' if bound else ''}{','.join(items)})"


def _item(node: ast.expr, literals: set[Span]) -> str:
    text = literal_of(node)
    if text is None:
        return "-" if only_reads(node) else "*"
    place = Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return f"{text}!" if place in literals else text


def only_reads(node: ast.expr) -> bool:
    """True for a constant, a name and an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Constant | ast.Name)


def shapes_of(world: World, names: Collection[str], *, classes: bool = False) -> dict[str, set[str]]:
    """All shapes of the calls of some names in the kept modules; `OPEN` among them where there is another use.

    Args:
        world: the kept modules.
        names: functions, or classes.
        classes: True when these are classes, which may be named where only their type counts.
    """
    names = frozenset(names)
    shapes: dict[str, set[str]] = {name: set() for name in names}
    for module in world.modules:
        seen = calls_of(module)
        for name in names.intersection(seen):
            found = seen[name]
            shapes[name] |= found - _NO_SHAPES if classes else found - {""}
            if OPEN in found or (not classes and not found.isdisjoint({TYPING, QUOTED})):
                shapes[name].add(OPEN)
        for name in names & world.words_of(module):
            if name not in seen:
                # A string or another kind of name.
                shapes[name].add(OPEN)
        for name in names.intersection(module.usage.texts.split()):
            if QUOTED not in seen.get(name, ()):
                shapes[name].add(OPEN)
    return shapes


def calls_of(module: FoldedModule) -> Mapping[str, frozenset[str]]:
    """Names that a module calls or imports, and how, as in `Usage.calls`; an empty text for an import alone."""
    return _by_name(module.usage.calls)


@lru_cache(maxsize=1 << 14)
def _by_name(calls: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in calls.split():
        name, bracket, rest = word.removesuffix(_IMPORTED).partition("(")
        found.setdefault(name, set()).add(bracket + rest)
    return {name: frozenset(shapes) for name, shapes in found.items()}


def items_of(shape: str) -> list[str]:
    """The arguments of a shape."""
    return [item for item in shape.strip("()").removeprefix(".").split(",") if item]
