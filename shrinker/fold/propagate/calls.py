"""How modules call what, by name: what the parameters of the tree's functions are given."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from shrinker.fold.harvest import said
from shrinker.fold.propagate.names import literal_of
from shrinker.fold.propagate.world import World
from shrinker.fold.reading import Reading
from shrinker.values.edits import Span
from shrinker.values.folded import FoldedModule
from shrinker.values.usage import words_in

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


def call_shapes(reading: Reading, literals: set[Span]) -> tuple[set[str], set[str]]:
    """How a module calls what, as words of `Usage.calls`, and words of `Usage.plain`.

    Args:
        reading: the folded module.
        literals: where folding wrote a literal.
    """
    both = (reading.plain, reading.typing)
    callees: set[int] = set()
    called: dict[str, list[tuple[ast.Call, bool]]] = {}
    arguments = {a.arg for found in both for a in found.arguments}
    plain = {*arguments, *(k.arg for k in reading.keywords if k.arg is not None)}
    for found in both:
        for node in found.calls:
            callee = node.func
            if callee.__class__ is ast.Subscript:
                # `kernel[grid](x)`
                callee = callee.value
            name, bound = ANYTHING, False
            if callee.__class__ is ast.Name:
                callees.add(id(callee))
                name = callee.id
            elif callee.__class__ is ast.Attribute:
                callees.add(id(callee))
                name, bound = callee.attr, True
            if name not in _BUILTINS:
                called.setdefault(name, []).append((node, bound))
            for keyword in node.keywords:
                if keyword.arg is not None:
                    plain.add(keyword.arg)
    for definition, _ in reading.definitions:
        # Asked for below when only its own body mentions it.
        called.setdefault(definition.name, [])
    valued, soft, imported = _uses(reading, callees)
    valued |= arguments
    quoted = _quoted(reading)
    words = {f"{name}{_IMPORTED}" for name in imported - valued if not called.get(name)}
    words.update(f"{name}{TYPING}" for name in soft - valued)
    words.update(f"{name}{QUOTED}" for name in quoted)
    for name, nodes in called.items():
        if name in valued:
            words.add(f"{name}{OPEN}")
        else:
            words.update(f"{name}{_shape(node, bound, literals)}" for node, bound in nodes)
    return words, plain - _firm(reading)


def _uses(reading: Reading, callees: set[int]) -> tuple[set[str], set[str], set[str]]:
    """Names that are used as a value, classes that are named where only their type counts, imported names."""
    valued: set[str] = set()
    soft: set[str] = set()
    # What an attribute is read of, is not called.
    bases = {
        id(a.value)
        for found in (reading.plain, reading.typing)
        for a in found.attributes
        if a.value.__class__ is ast.Name and not a.attr.startswith("__")
    }
    for name in reading.plain.names:
        if name.ctx.__class__ is ast.Store:
            # What is called so may be the variable.
            valued.add(name.id)
        elif id(name) in bases and _CLASS_NAME.match(name.id):
            soft.add(name.id)
        elif id(name) not in callees:
            valued.add(name.id)
    for attribute in reading.plain.attributes:
        if attribute.ctx.__class__ is not ast.Store and id(attribute) not in callees:
            valued.add(attribute.attr)
    for typed in reading.typing.names:
        if typed.ctx.__class__ is ast.Store:
            valued.add(typed.id)
        elif _CLASS_NAME.match(typed.id):
            soft.add(typed.id)
        elif id(typed) not in callees:
            valued.add(typed.id)
    for part in reading.typing.attributes:
        if part.ctx.__class__ is not ast.Store:
            if _CLASS_NAME.match(part.attr):
                soft.add(part.attr)
            elif id(part) not in callees:
                valued.add(part.attr)
    imported: set[str] = set()
    for node, _, _ in reading.imports:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                (valued if alias.asname else imported).add(alias.name)
    return valued, soft, imported


def _quoted(reading: Reading) -> set[str]:
    """Classes that all strings which are the name mention in an annotation."""
    typed = {t.value for t in (*reading.typing.texts, *reading.typing.parts)}
    quoted = {w for text in typed for w in _WORDS.findall(text) if _CLASS_NAME.match(w)}  # type: ignore[arg-type]
    if quoted:
        plain = reading.plain
        others = (*plain.texts, *plain.parts, *reading.shown, *reading.exported, *reading.silent)
        texts = {t.value for t in (*others, *reading.documentation)}
        quoted -= {m.group(1) for text in texts if (m := _TAIL.match(text))}  # type: ignore[arg-type]
    return quoted


def _firm(reading: Reading) -> set[str]:
    """Names that are more than a keyword or a parameter."""
    firm: set[str] = {name for name, _ in reading.augmented}
    texts: set[str] = {str(t.value) for t in (*reading.exported, *reading.silent)}
    for found in (reading.plain, reading.typing):
        firm.update(a.attr for a in found.attributes if a.ctx.__class__ is not ast.Store)
        texts.update(str(t.value) for t in (*found.texts, *found.parts))
    for text in texts:
        firm.update(said(text))
    for node, _, _ in reading.imports:
        firm.update(alias.name for alias in node.names)
    for matched in reading.matched:
        firm.update(matched.kwd_attrs)
    return firm


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
        seen = _by_name(module.usage.calls)
        for name in names.intersection(seen):
            found = seen[name]
            shapes[name] |= found - _NO_SHAPES if classes else found - {""}
            if OPEN in found or (not classes and not found.isdisjoint({TYPING, QUOTED})):
                shapes[name].add(OPEN)
        for name in world.words_of(module) & names:
            if name not in seen:
                # A string or another kind of name.
                shapes[name].add(OPEN)
        for name in names.intersection(words_in(module.usage.texts)):
            if QUOTED not in seen.get(name, ()):
                shapes[name].add(OPEN)
    return shapes


def calls_of(world: World, module: FoldedModule, name: str) -> frozenset[str]:
    """How a module calls a name, as in `Usage.calls`; an empty text for an import alone."""
    return _by_name(module.usage.calls).get(name, frozenset())


@lru_cache(maxsize=1 << 14)
def _by_name(calls: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in calls.split():
        name = name_called(word)
        found.setdefault(name, set()).add(word.removesuffix(_IMPORTED)[len(name) :])
    return {name: frozenset(shapes) for name, shapes in found.items()}


def name_called(word: str) -> str:
    """The name of one word of `Usage.calls`."""
    return word.removesuffix(_IMPORTED).partition("(")[0]


def items_of(shape: str) -> list[str]:
    """The arguments of a shape."""
    return [item for item in shape.strip("()").removeprefix(".").split(",") if item]
