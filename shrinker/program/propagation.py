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
from shrinker.program.ways import grouped
from shrinker.syntax.names import is_special
from shrinker.values.folded import FoldedModule
from shrinker.values.refinement import NOTHING, Refinement
from shrinker.values.symbols import Symbol

_KNOWN_TO_TORCH = frozenset({"training", "dump_patches", "call_super_init"})
_LITERAL = re.compile(r"[^*_]")
_LITERALS = 3
"""A computed text with fewer letters or digits of its own counts only beside a look-up of what is computed."""
_NAMES = """
abc.ABC builtins.Exception builtins.RuntimeError builtins.ValueError builtins.int builtins.object builtins.str
enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.StrEnum torch.nn.Module
typing.Generic typing.NamedTuple typing.Protocol typing.TypedDict
"""
_BENIGN = frozenset(_NAMES.split())
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
        folded: every module that is left, by path.
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
    texts = ("[a-zA-Z0-9_]*".join(map(re.escape, pattern.split("*"))) for pattern in sorted({*patterns}))
    return re.compile("|".join(texts) or "(?!)")


def _read(unit: Symbol, module: str, outside: Outside) -> Iterator[str]:
    """Computed names that a unit may look up."""
    yield from (pattern for pattern, _ in unit.lookups)
    for pattern, _ in unit.patterns:
        says = unit.open or len(_LITERAL.findall(pattern)) >= _LITERALS
        if says and not outside.is_label(module, pattern):
            yield pattern


class _Stores:
    """What some modules together set, and what else they say."""

    def __init__(self, modules: Iterable[FoldedModule], types: Types, outside: Outside, live: Collection[Key]) -> None:
        self.modules = sorted(modules, key=lambda m: m.path)
        summaries = [module.summary for module in self.modules]
        self.values = grouped(store for summary in summaries for store in summary.stores)
        """Attributes to what they are set to: texts of literals, empty for anything else."""
        self.fields = grouped((name, (m.module, owner)) for m in self.modules for owner, name in m.summary.fields)
        """Attributes to the module and name of the classes that set them for certain."""
        self.words = set().union(*(words for words, _ in outside.words), *(summary.words for summary in summaries))
        self._candidates = {name for summary in summaries for name in (*summary.lost, *summary.decided)}
        self._named = _KNOWN_TO_TORCH.union(*(name for s in summaries for name in (s.texts, s.defined)))
        units = [(key[0], types.program.unit(key)) for key in live]
        self._set = _any_of(name for _, unit in units for name in unit.patches if "*" in name)
        self.computed = [
            (_any_of([pattern]), (name, unit.parent))
            for name, unit in units
            if unit.kind == "member"
            for pattern in unit.attributes
            if "*" in pattern
        ]
        """Names that are put together and set on `self`, with the class."""
        self._computed = _any_of(
            pattern
            for name, unit in units
            for pattern in _read(unit, name, outside)
            # A computed name under which the unit sets an attribute is no look-up.
            if pattern not in unit.attributes and pattern not in unit.patches
        )

    def constant(self) -> dict[str, str]:
        """Attributes with one literal for a value."""
        return {
            name: values[0]
            for name, values in self.values.items()
            if values[0]
            and len({*values}) == 1
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
