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
    nodes = list(walk(tree))
    typing = {id(part) for place in _typing_only(nodes) for part in walk(place)}
    for node in nodes:
        kind = node.__class__
        if kind is ast.Name or kind is ast.Attribute:
            name = node.id if kind is ast.Name else node.attr  # type: ignore[attr-defined]
            if node.ctx.__class__ is not ast.Store:  # type: ignore[attr-defined]
                mentions.append((id(node), name))
                if kind is ast.Attribute:
                    firm.add(name)
            elif kind is ast.Name:
                # What is called so may be the variable.
                valued.add(name)
        elif kind is ast.Constant:
            if node.value.__class__ is str:  # type: ignore[attr-defined]
                texts.append(node)  # type: ignore[arg-type]
        elif isinstance(node, ast.Call):
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
        elif isinstance(node, ast.arg):
            valued.add(node.arg)
            plain.add(node.arg)
        elif isinstance(node, ast.keyword):
            if node.arg is not None:
                plain.add(node.arg)
        elif isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Constant):
                shown.add(id(node.value))
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Attribute):
                firm.add(node.target.attr)
        elif isinstance(node, ast.alias):
            firm.add(node.name)
        elif isinstance(node, ast.MatchClass):
            firm.update(node.kwd_attrs)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # Asked for below when only its own body mentions it.
            shapes.setdefault(node.name, set())
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                (valued if alias.asname else imported).add(alias.name)
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


def _typing_only(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """Expressions of which nothing is called: annotations, the classes of `isinstance`, what an attribute is read of."""
    for node in nodes:
        kind = node.__class__
        if kind is ast.Attribute:
            if node.value.__class__ is ast.Name and not node.attr.startswith("__"):  # type: ignore[attr-defined]
                yield node.value  # type: ignore[attr-defined]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            if node.annotation is not None:
                yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.returns is not None:
                yield node.returns
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
            and len(node.args) == 2
        ):
            yield node.args[1]


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
