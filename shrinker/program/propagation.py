"""Attributes that every kept store sets to the same literal: what reads them through `self` is that literal.

Only attributes are looked at that folding gave a literal, or of which a store went: upstream's own constants stay. Names are
compared, not objects: one other store of the name anywhere, a keyword, an annotated field, a string or a definition of that name,
and the attribute is open.

Such a fact is derived from the folded code of all kept modules. To fold with it deletes code and adds none: what nothing set to another
value is still set to no other. So a fact, once true, stays true. Only a rescue brings code back; rescues are settled before.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from shrinker.program.symbols.program import Key
from shrinker.program.symbols.reasons import Outside
from shrinker.program.symbols.types import Types
from shrinker.syntax.names import is_special
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import NOTHING, Refinement
from shrinker.values.symbols import Symbol

_KNOWN_TO_TORCH = frozenset({"training", "dump_patches", "call_super_init"})
_LITERAL = re.compile(r"[^*_]")
_LITERALS = 3
"""A computed text with fewer letters or digits of its own counts only beside a look-up of what is computed."""
_BENIGN = frozenset(
    {"builtins.object", "builtins.str", "builtins.int", "builtins.Exception", "builtins.RuntimeError"}
    | {"builtins.ValueError", "abc.ABC", "enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag"}
    | {"enum.IntFlag", "typing.Generic", "typing.Protocol", "typing.NamedTuple", "typing.TypedDict"}
    | {"torch.nn.Module"}
)
"""Bases outside the tree that set no attribute by a name of their own, beside those of `_KNOWN_TO_TORCH`."""


class Folding(Protocol):
    """What folds again: the engine."""

    refinements: dict[str, Refinement]
    """What is known of modules, by path."""

    def refold(self, facts: Mapping[str, Refinement]) -> Iterable[FoldedModule]:
        """These modules, folded with other facts."""


def propagate_attributes(
    folding: Folding, folded: Mapping[str, FoldedModule], types: Types, outside: Outside, live: Collection[Key]
) -> frozenset[str]:
    """Fold with what such attributes are, in rounds, for as long as there are new ones.

    Args:
        folding: folds.
        folded: every module that is left, by path.
        types: of all of their classes.
        outside: what else may name something.
        live: units of them that something reachable names.

    Returns:
        Paths of the modules that changed.
    """
    left, changed = dict(folded), set[str]()
    while True:
        fresh: dict[str, Refinement] = {}
        for path, facts in _constant(_Stores(left.values(), types, outside, live), types):
            before = fresh.get(path) or folding.refinements.get(path, NOTHING)
            if (after := before.joined(facts)) != before:
                fresh[path] = after
        if not fresh:
            return frozenset(changed)
        changed |= fresh.keys()
        left |= {module.path: module for module in folding.refold(fresh)}


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(
        "|".join("[a-zA-Z0-9_]*".join(re.escape(part) for part in p.split("*")) for p in sorted(patterns)) or "(?!)"
    )


def _sets(unit: Symbol, pattern: str) -> bool:
    """True for a computed name under which a unit sets an attribute: that is no look-up."""
    return pattern in unit.attributes or pattern in unit.patches


class _Stores:
    """What some modules together set, and what else they say."""

    def __init__(self, modules: Iterable[FoldedModule], types: Types, outside: Outside, live: Collection[Key]) -> None:
        self.modules = sorted(modules, key=lambda m: m.path)
        self.values: dict[str, set[str]] = {}
        """Attributes to what they are set to: texts of literals, empty for anything else."""
        self.fields: dict[str, list[tuple[str, str]]] = {}
        """Attributes to the module and name of the classes that set them for certain."""
        self.words: set[str] = set().union(*(words for words, _ in outside.words))
        self._candidates: set[str] = set()
        self._named = set(_KNOWN_TO_TORCH)
        for module in self.modules:
            summary = module.summary
            self.words.update(summary.words)
            self._candidates.update(summary.lost, summary.decided)
            self._named.update(summary.texts, summary.defined)
            for name, value in summary.stores:
                self.values.setdefault(name, set()).add(value)
            for owner, name in summary.fields:
                self.fields.setdefault(name, []).append((module.module, owner))
        units = [(key[0], types.program.unit(key)) for key in live]
        self._set = _any_of({name for _, unit in units for name in unit.patches if "*" in name})
        self.computed = [
            (_any_of({pattern}), (name, unit.parent))
            for name, unit in units
            if unit.kind == "member"
            for pattern in unit.attributes
            if "*" in pattern
        ]
        """Names that are put together and set on `self`, with the class."""
        computed = {pattern for _, unit in units for pattern, _ in unit.lookups if not _sets(unit, pattern)} | {
            pattern
            for name, unit in units
            for pattern, _ in unit.patterns
            if (unit.open or len(_LITERAL.findall(pattern)) >= _LITERALS)
            and not (_sets(unit, pattern) or outside.is_label(name, pattern))
        }
        self._computed = _any_of(computed)

    def constant(self) -> dict[str, str]:
        """Attributes with one literal for a value."""
        return {
            name: next(iter(values))
            for name, values in self.values.items()
            if len(values) == 1
            and "" not in values
            and name in self._candidates
            and name not in self._named
            and not is_special(name)
            and self._set.fullmatch(name) is None
        }

    def mentions(self, name: str) -> bool:
        """True when something writes the name, or may compute it."""
        return name in self.words or self._computed.fullmatch(name) is not None


def _constant(stores: _Stores, types: Types) -> Iterator[tuple[str, Refinement]]:
    """Attributes with one value, by path of the module whose code reads or sets them."""
    constant = stores.constant()
    if not constant:
        return
    owners = {name: _owners(stores, types, name) for name in constant}
    for module in stores.modules:
        stored, mentioned = {store.attribute for store in module.summary.stores}, set(module.summary.words)
        for name, value in constant.items():
            if name in stored and not stores.mentions(name) and owners[name]:
                yield module.path, Refinement(stores=frozenset({name}))
            if name in mentioned:
                own = {
                    types.program.unit(key).names[0] for key in owners[name] if key[0] == module.module and key[1] >= 0
                }
                if own:
                    yield module.path, Refinement(attributes=frozenset((each, name, value) for each in own))


def _owners(stores: _Stores, types: Types, name: str) -> set[Key]:
    """Classes that certainly have the attribute: those that set it, and what inherits from them; none when something else could
    set it, too: a base outside the tree, or a computed name."""
    found: set[Key] = set()
    for module, owner in stores.fields.get(name, ()):
        found |= _with_heirs(types, module, owner)
    if any(not _BENIGN.issuperset(types.hierarchy.outsiders(key)) for key in found):
        return set()
    for pattern, key in stores.computed:
        # `self` is an instance of the class around it or of one that inherits from it.
        if pattern.fullmatch(name) and not found.isdisjoint({key, *types.hierarchy.below(key)}):
            return set()
    return found


def _with_heirs(types: Types, module: str, name: str) -> set[Key]:
    """Classes of a module that have a name, and what inherits from them."""
    keys = [key for key in types.program.bound(module, name) if types.program.unit(key).kind == "class"]
    return {each for key in keys for each in (key, *types.hierarchy.below(key))}
