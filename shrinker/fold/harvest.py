"""What a folded module says that is counted by name, not by object: its words, and the attributes that it sets."""

import ast
import re
from functools import lru_cache
from itertools import chain

from shrinker.fold.context import Context
from shrinker.fold.messages import is_message
from shrinker.fold.reading import Reading
from shrinker.syntax.names import assigned
from shrinker.syntax.ranges import span
from shrinker.syntax.side_effects import is_inert
from shrinker.syntax.walk import statements, walk
from shrinker.values.edits import Span
from shrinker.values.folded import ModuleSummary, Store

_WORDS = re.compile(r"[A-Za-z_]\w*")
_SHORT = 200
"""Characters: a longer string is no name."""
_DOTTED_TAIL = re.compile(r"^(?:[A-Za-z_]\w*[.:])*([A-Za-z_]\w*)$")


def harvest(reading: Reading, context: Context) -> ModuleSummary:
    """The words of the module, and its attributes.

    Args:
        reading: the folded module.
        context: of its folding.
    """
    spoken, texts = _spoken(reading)
    stores = attribute_stores(reading)
    fields, decided = class_fields(reading.tree, stores, context.literals())
    return ModuleSummary(
        words=tuple(sorted(spoken)),
        texts=tuple(sorted(texts)),
        defined=tuple(sorted({node.name for node in reading.definitions})),
        stores=tuple(sorted(stores)),
        fields=tuple(sorted(fields)),
        decided=tuple(sorted(decided)),
        inert=is_inert(reading.tree),
        unproven_imports=tuple(sorted(context.unproven_imports)),
        lost=tuple(sorted(context.lost)),
    )


@lru_cache(maxsize=1 << 16)
def said(text: str) -> tuple[str, ...]:
    """Words of a string."""
    return tuple(dict.fromkeys(_WORDS.findall(text)))


def _spoken(reading: Reading) -> tuple[set[str], set[str]]:
    """Words that a module mentions, and its strings that are a name or end in one."""
    found = {node.id for node in reading.names if node.ctx.__class__ is not ast.Store}
    found.update(node.attr for node in reading.attributes if node.ctx.__class__ is not ast.Store)
    found.update(k.arg for call in reading.calls for k in call.keywords if k.arg is not None)
    texts: set[str] = set()
    for constant in chain(reading.texts, reading.parts):
        text = str(constant.value)
        if not is_message(text):
            found.update(said(text))
            if len(text) < _SHORT and (tail := _DOTTED_TAIL.match(text)):
                texts.add(tail.group(1))
    for node, _, _ in reading.imports:
        for alias in node.names:
            found.update(alias.name.split("."))
            if alias.asname and isinstance(node, ast.ImportFrom):
                found.add(alias.asname)
    found.update(name for outer in reading.outer for name in outer.names)
    found.update(name for matched in reading.matched for name in matched.kwd_attrs)
    found |= reading.augmented
    return found, texts


def attribute_stores(reading: Reading) -> set[Store]:
    """Attributes that are given a value."""
    stores = {Store(target.attr, _literal(value)) for target, value in reading.stores}
    alone = {id(target) for target, _ in reading.stores}
    stores |= {Store(a.attr) for a in reading.attributes if a.ctx.__class__ is not ast.Load and id(a) not in alone}
    stores |= {Store(k.arg) for call in reading.calls for k in call.keywords if k.arg is not None}
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
            place, given = assigned(statement)
            if isinstance(place, ast.Attribute) and isinstance(given, ast.Constant) and span(given) in literals:
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
                    places = (assigned(inner)[0] for inner in statement.body)
                    own = (place for place in places if isinstance(place, ast.Attribute))
                    fields.update((node.name, place.attr) for place in own if isinstance(place.value, ast.Name))
                case ast.If() | ast.Try() | ast.For() | ast.With():
                    for inner in statements(statement):
                        for part in ast.iter_child_nodes(inner):
                            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                                stores.add(Store(part.id))
    return fields, decided
