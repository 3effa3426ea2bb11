"""The words of a folded module: what it mentions, what it defines.

Mentions are counted by name, not by object: whoever writes a name anywhere in kept code keeps every definition of
that name alive.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from shrinker.fold.computed import SHORT, ComputedNames
from shrinker.fold.context import Context
from shrinker.fold.messages import is_message
from shrinker.fold.reading import Reading
from shrinker.syntax.ranges import span
from shrinker.syntax.side_effects import is_free, is_inert
from shrinker.syntax.unroll import Unroller
from shrinker.syntax.walk import statements, walk
from shrinker.values.edits import Span
from shrinker.values.summary import ModuleSummary, Store, words

_WORDS = re.compile(r"[A-Za-z_]\w*")
_DOTTED_TAIL = re.compile(r"^(?:[A-Za-z_]\w*[.:])*([A-Za-z_]\w*)$")


def harvest(reading: Reading, unroller: Unroller, context: Context) -> tuple[ModuleSummary, list[tuple[int, str]]]:
    """The words of the module, and the computed strings of it with their lines.

    Args:
        reading: the folded module.
        unroller: of its texts that loops put together.
        context: of its folding.
    """
    tree = reading.tree
    said_words = _Words(reading)
    stores = attribute_stores(reading)
    patterns = ComputedNames(reading, unroller)
    patterns.calls(stores)
    fields, decided = class_fields(tree, stores, context.literals())
    free, fixed = _definitions(tree)
    within = said_words.within()
    summary = ModuleSummary(
        words=words(said_words.all - within),
        within=words(within),
        texts=words(said_words.texts),
        patterns=words(patterns.finish()),
        exports=words(exported(tree)),
        free=words(free),
        fixed=words(fixed),
        subclassed=words(_subclassed(reading)),
        stores=tuple(sorted(stores)),
        fields=tuple(sorted(fields)),
        decided=words(decided),
        inert=is_inert(tree),
        unproven_imports=words(context.unproven_imports),
        lost=words(context.lost),
        lost_own=words(context.lost_own),
    )
    return summary, patterns.sites


@lru_cache(maxsize=1 << 16)
def said(text: str) -> tuple[str, ...]:
    """Words of a string."""
    return tuple(dict.fromkeys(_WORDS.findall(text)))


class _Words:
    """Words that a module mentions."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        plain, typing = reading.plain, reading.typing
        self._names = [n for n in chain(plain.names, typing.names) if n.ctx.__class__ is not ast.Store]
        self._attributes = [a for a in chain(plain.attributes, typing.attributes) if a.ctx.__class__ is not ast.Store]
        self._constants = [*plain.texts, *plain.parts, *typing.texts, *typing.parts, *reading.shown]
        self.strings = {text for c in self._constants if not is_message(text := str(c.value))}
        """Texts of strings."""
        self.loads = {n.id for n in self._names}
        """Names that are read."""
        for outer in reading.outer:
            self.loads.update(outer.names)
        self.texts: set[str] = set()
        """Strings that are a name, or end in one."""
        spoken: set[str] = set()
        for text in self.strings:
            found = said(text)
            spoken.update(found)
            if len(text) < SHORT:
                # It may be an annotation.
                self.loads.update(found)
                tail = _DOTTED_TAIL.match(text)
                if tail:
                    self.texts.add(tail.group(1))
        self.all = self.loads | spoken
        """All words."""
        self.all.update(a.attr for a in self._attributes)
        for word, _ in self._others():
            self.all.add(word)

    def _others(self) -> Iterator[tuple[str, int]]:
        """Mentions of the rarer kinds, with their lines."""
        reading = self._reading
        for call in chain(reading.plain.calls, reading.typing.calls):
            for keyword in call.keywords:
                if keyword.arg is not None:
                    yield keyword.arg, keyword.lineno
        for node, _, _ in reading.imports:
            for alias in node.names:
                for part in alias.name.split("."):
                    yield part, node.lineno
                if alias.asname and isinstance(node, ast.ImportFrom):
                    yield alias.asname, node.lineno
        for outer in reading.outer:
            for name in outer.names:
                yield name, outer.lineno
        for matched in reading.matched:
            for name in matched.kwd_attrs:
                yield name, matched.lineno
        for name, line in reading.augmented:
            yield name, line

    def within(self) -> set[str]:
        """Words that a definition says of its own name, and that are no mention unless something may register it."""
        places: dict[str, list[tuple[int, int]]] = {}
        for node, _ in self._reading.definitions:
            if node.name in self.all and is_free(node):
                first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
                places.setdefault(node.name, []).append((first, node.end_lineno or node.lineno))
        left = set(places)
        if not left:
            return left

        def judge(name: str, line: int) -> None:
            if name in left and not any(first <= line <= last for first, last in places[name]):
                left.discard(name)

        for read in self._names:
            if read.id in left:
                judge(read.id, read.lineno)
        for attribute in self._attributes:
            if attribute.attr in left:
                judge(attribute.attr, attribute.lineno)
        if left:
            for name, line in self._others():
                judge(name, line)
        if left:
            for constant in self._constants:
                for name in left.intersection(said(constant.value)):
                    judge(name, constant.lineno)
        return left


def _subclassed(reading: Reading) -> set[str]:
    """Classes whose subclasses may register themselves, or that are asked for them."""
    found: set[str] = set()
    for node, _ in reading.definitions:
        if isinstance(node, ast.ClassDef) and (
            any(isinstance(s, ast.FunctionDef) and s.name == "__init_subclass__" for s in node.body)
            or any(
                k.arg == "metaclass"
                and getattr(k.value, "attr", getattr(k.value, "id", "")) not in ("ABCMeta", "EnumMeta")
                for k in node.keywords
            )
        ):
            found.add(node.name)
    for attribute in chain(reading.plain.attributes, reading.typing.attributes):
        if attribute.attr == "__subclasses__" and attribute.ctx.__class__ is not ast.Store:
            base = attribute.value
            found.add(base.id if isinstance(base, ast.Name) and base.id[:1].isupper() else "*")
    return found


def exported(tree: ast.Module) -> set[str]:
    """Names in ``__all__``, as far as they are spelled out."""
    found: set[str] = set()
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        if isinstance(node, ast.Assign | ast.AugAssign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in targets
        ):
            found |= {c.value for c in walk(node.value) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return found


def _definitions(tree: ast.Module) -> tuple[set[str], set[str]]:
    free: set[str] = set()
    fixed: set[str] = set()
    # What stands in a branch of the module or of a class is not dropped, nor is its namesake.
    stack: list[tuple[ast.AST, str, bool]] = [(node, "", True) for node in tree.body]
    while stack:
        node, prefix, direct = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if direct and is_free(node):
                free.add(prefix + node.name)
            else:
                fixed.add(node.name)
            if isinstance(node, ast.ClassDef):
                nested = bool(prefix) or not direct
                stack.extend((s, f"{node.name}.", not nested) for s in node.body)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ExceptHandler):
            for name in ("body", "orelse", "finalbody", "handlers"):
                stack.extend((s, prefix, False) for s in getattr(node, name, ()))
    return free, fixed


def attribute_stores(reading: Reading) -> set[Store]:
    """Attributes that are given a value."""
    stores = {Store(target.attr, _literal(value)) for target, value in reading.stores}
    alone = {id(target) for target, _ in reading.stores}
    for found in (reading.plain, reading.typing):
        for attribute in found.attributes:
            if attribute.ctx.__class__ is not ast.Load and id(attribute) not in alone:
                stores.add(Store(attribute.attr))
        stores.update(Store(k.arg) for call in found.calls for k in call.keywords if k.arg is not None)
    return stores


def _literal(value: ast.expr | None) -> str:
    if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
        return repr(value.value)
    return ""


def class_fields(tree: ast.Module, stores: set[Store], literals: set[Span]) -> tuple[set[tuple[str, str]], set[str]]:
    """Attributes that classes set for certain, and those that folding gave a literal; class bodies add to `stores`."""
    fields: set[tuple[str, str]] = set()
    decided: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for statement in statements(node):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                place = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                if (
                    isinstance(place, ast.Attribute)
                    and isinstance(statement.value, ast.Constant)
                    and span(statement.value) in literals
                ):
                    decided.add(place.attr)
        for statement in node.body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    if len(targets) == 1 and isinstance(targets[0], ast.Name) and span(value) in literals:
                        decided.add(targets[0].id)
                    for target in targets:
                        for name in walk(target):
                            if isinstance(name, ast.Name):
                                kind = _literal(value) if name is target else ""
                                stores.add(Store(name.id, kind))
                                if kind:
                                    fields.add((node.name, name.id))
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                    stores.add(Store(name))
                case ast.FunctionDef(name="__init__"):
                    for inner in statement.body:
                        own = (
                            inner.targets[0]
                            if isinstance(inner, ast.Assign) and len(inner.targets) == 1
                            else inner.target
                            if isinstance(inner, ast.AnnAssign) and inner.value is not None
                            else None
                        )
                        if isinstance(own, ast.Attribute) and isinstance(own.value, ast.Name):
                            fields.add((node.name, own.attr))
                case ast.If() | ast.Try() | ast.For() | ast.With():
                    for inner in statements(statement):
                        for part in ast.iter_child_nodes(inner):
                            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                                stores.add(Store(part.id))
    return fields, decided
