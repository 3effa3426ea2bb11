"""What one folded module does with classes: tests for instances of them, and uses that may make one."""

from __future__ import annotations

import ast
import re
from itertools import chain

from shrinker.fold.harvest import said
from shrinker.fold.reading import Reading
from shrinker.syntax.walk import walk

INSTANCE_TEST = "isinstance"
_TAIL = re.compile(r"^(?:[A-Za-z_]\w*[.:])*([A-Z]\w*)$")
_BEHIND_CAPITALS = "["
"""The character behind ``Z``: what sorts before it starts with a capital (or is no name)."""


def is_looked_at(name: str) -> bool:
    """False for a class (by its last name) whose uses `class_uses` does not look for: it may be made anywhere."""
    return name < _BEHIND_CAPITALS


def class_uses(reading: Reading) -> tuple[set[str], set[str]]:
    """Classes, by their last name, of which a module may make an instance, and classes that it tests for.

    Nothing is made by importing a class, by naming it in an annotation or in an instance test, by inheriting from it at
    module level (who makes the heir makes an instance), and within its own definition, which runs for an instance or
    for who names the class. Annotations of a decorated function count: a framework may make what they name.

    Args:
        reading: the folded module; only names that start with a capital are looked at.

    Returns:
        The classes that it may make; those that an instance test names.
    """
    made: set[str] = set()
    inside: dict[str, tuple[int, int]] = {}
    bases: set[int] = set()
    for statement in reading.tree.body:
        if isinstance(statement, ast.ClassDef):
            inside[statement.name] = (statement.lineno, statement.end_lineno or statement.lineno)
            bases.update(id(base.value if isinstance(base, ast.Subscript) else base) for base in statement.bases)
    # Spelled out: these two loops see every name of the tree.
    for name in reading.plain.names:
        if name.id < _BEHIND_CAPITALS and id(name) not in bases and not _within(inside, name.id, name.lineno):
            made.add(name.id)
    for attribute in reading.plain.attributes:
        if attribute.attr < _BEHIND_CAPITALS and id(attribute) not in bases:
            made.add(attribute.attr)
    for text in chain(reading.plain.texts, reading.shown):
        found = _TAIL.match(str(text.value))
        if found:
            made.add(found.group(1))
    for node, _, _ in reading.imports:
        if isinstance(node, ast.ImportFrom):
            made.update(a.name for a in node.names if a.asname not in (None, a.name))
    for definition, _ in reading.definitions:
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef) and definition.decorator_list:
            made.update(_annotated(definition))
    return made, {name for call in reading.plain.calls for name in tested_classes(call)}


def _within(inside: dict[str, tuple[int, int]], name: str, line: int) -> bool:
    first, last = inside.get(name, (1, 0))
    return first <= line <= last


def _annotated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = node.args
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parts = [a.annotation for a in (*found, arguments.vararg, arguments.kwarg) if a is not None and a.annotation]
    if node.returns is not None:
        parts.append(node.returns)
    words: set[str] = set()
    for part in parts:
        for inner in walk(part):
            match inner:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    words.add(name)
                case ast.Constant(value=str() as text):
                    words.update(said(text))
    return words


def tested_classes(call: ast.Call) -> list[str]:
    """Last names of the classes of an `isinstance`; empty for any other call."""
    match call:
        case ast.Call(func=ast.Name(id=name), args=[_, classes], keywords=[]) if name == INSTANCE_TEST:
            items = classes.elts if isinstance(classes, ast.Tuple) else [classes]
            names = (i.id if isinstance(i, ast.Name) else i.attr if isinstance(i, ast.Attribute) else "" for i in items)
            return [name for name in names if name]
    return []
