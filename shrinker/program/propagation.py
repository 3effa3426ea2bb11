"""What the kept modules together say of each, so that it is folded again: attributes that are one
literal, and imports that it needs.

Every kept store sets such an attribute to the same literal: what reads it through `self` is that
literal. Only attributes are looked at that folding gave a literal, or of which a store went:
upstream's own constants stay. Names are compared, not objects: one other store of the name
anywhere, a keyword, an annotated field, a string or a definition of that name, and the attribute is
open.

Such a fact is derived from the folded code of all kept modules. To fold with it deletes code and
adds none: what nothing set to another value is still set to no other. So a fact, once true, stays
true. Only a rescue brings code back; rescues are settled before.

An import is needed that folding dropped, because the facts decide all that it gives, and that must
stay for what else it does. Nearly every module of predicates and flags is loaded by others, too, so
that folding drops such an import without a proof.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property

from shrinker.program.symbols.liveness import Outside
from shrinker.program.symbols.program import Key
from shrinker.program.symbols.types import Types
from shrinker.syntax.imports import with_packages
from shrinker.syntax.names import is_special
from shrinker.values.folded import (
    EVERY_MEMBER,
    HANDED,
    LISTED,
    NOTHING,
    Folded,
    FoldedModule,
    Refinement,
    Symbol,
)
from shrinker.values.relations import grouped, reached

_KNOWN_TO_TORCH = frozenset({"training", "dump_patches", "call_super_init"})
_LITERAL = re.compile(r"[^*_]")
_LITERALS = 3
"""A computed text with fewer letters or digits of its own counts only beside a look-up of what is
computed.
"""
_NAMES = """
abc.ABC builtins.Exception builtins.RuntimeError builtins.ValueError builtins.int builtins.object builtins.str
enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.StrEnum torch.nn.Module
typing.Generic typing.NamedTuple typing.Protocol typing.TypedDict
"""
_BENIGN = frozenset(_NAMES.split())
"""Bases outside the tree that set no attribute by a name of their own, beside those of
`_KNOWN_TO_TORCH`.
"""


def propagate_attributes(
    refold: Callable[[Mapping[str, Refinement]], Iterable[FoldedModule]],
    known: Mapping[str, Refinement],
    folded: Folded,
    types: Types,
    outside: Outside,
    live: Collection[Key],
) -> frozenset[str]:
    """Fold with what such attributes are, in rounds, for as long as there are new ones: paths of
    the modules that changed. `refold` adds to what is `known`, `folded` has every module that is
    left, both by path; `live` are the units of them that something reachable names.
    """
    left, changed = dict(folded), set[str]()
    while True:
        facts = _Stores(left.values(), types, outside, live).facts()
        rows = ((path, known.get(path, NOTHING), found) for path, found in facts)
        fresh = {
            path: after for path, before, found in rows if (after := before.joined(found)) != before
        }
        if not fresh:
            return frozenset(changed)
        changed |= fresh.keys()
        left |= {module.path: module for module in refold(fresh)}


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    texts = (
        "[a-zA-Z0-9_]*".join(map(re.escape, pattern.split("*"))) for pattern in sorted({*patterns})
    )
    return re.compile("|".join(texts) or "(?!)")


def _looked_up(unit: Symbol, module: str, outside: Outside) -> Iterator[str]:
    """Computed names that a unit may look up."""
    yield from (pattern for pattern, _ in unit.lookups)
    for pattern, _ in unit.patterns:
        says = (
            unit.open
            or unit.tabled
            or unit.by_parameter
            or len(_LITERAL.findall(pattern)) >= _LITERALS
        )
        if says and not outside.is_label(module, pattern):
            yield pattern


class _Stores:
    """What some modules together set, and what else they say."""

    def __init__(
        self, modules: Iterable[FoldedModule], types: Types, outside: Outside, live: Collection[Key]
    ) -> None:
        self._types, self._outside = types, outside
        self._modules = sorted(modules, key=lambda m: m.path)
        summaries = [module.summary for module in self._modules]
        self._values = grouped(store for summary in summaries for store in summary.stores)
        """Attributes to what they are set to: texts of literals, empty for anything else."""
        self._fields = grouped(
            (name, (m.module, owner)) for m in self._modules for owner, name in m.summary.fields
        )
        """Attributes to the module and name of the classes that set them for certain."""
        self._words = set().union(
            *(words for words, _ in outside.words), *(summary.words for summary in summaries)
        )
        self._candidates = {
            name for summary in summaries for name in (*summary.lost, *summary.decided)
        }
        self._named = _KNOWN_TO_TORCH.union(
            outside.data, *(name for s in summaries for name in (s.texts, s.defined))
        )
        units = [(key[0], types.program.unit(key)) for key in live]
        self._set = _any_of(name for _, unit in units for name in unit.patches if "*" in name)
        members = [(name, unit) for name, unit in units if unit.kind == "member"]
        self._computed = [
            (_any_of([pattern]), (name, unit.parent))
            for name, unit in members
            for pattern in unit.attributes
            if "*" in pattern
        ]
        """Names that are put together and set on `self`, with the class."""
        self._read = _any_of(
            pattern
            for name, unit in units
            for pattern in _looked_up(unit, name, outside)
            # A computed name under which the unit sets an attribute is no look-up.
            if pattern not in unit.attributes and pattern not in unit.patches
        )

        self._live = live
        listed = [*self._lists()]
        self._listed = frozenset().union(*(classes for classes, _ in listed))
        """Classes of whose objects live code lists all attributes."""
        self._listed_by_name = _any_of(pattern for _, pattern in listed if pattern)

    def _lists(self) -> Iterator[tuple[Collection[Key], str]]:
        """Find what live code lists the attributes of: classes, or a pattern of the names that it
        takes of anything.
        """
        for key in self._live:
            unit = self._types.program.unit(key)
            owner = unit.parent if unit.kind == "member" else key[1] if unit.kind == "class" else -1
            for path, _ in unit.enumerates:
                listed = path.removesuffix(LISTED).removesuffix(HANDED)
                if self._outside.lists_others(key[0]):
                    continue
                if path[:1] == "?" and "*" in path.removeprefix(EVERY_MEMBER):
                    yield (), path[1:]
                elif path in (EVERY_MEMBER, f"?{HANDED}"):
                    yield self._near(key), ""
                elif listed != path:
                    for value in self._types.follow(key[0], owner, listed, key[1]).values:
                        if value.kind == "anything":
                            yield self._near(key), ""
                        elif value.kind in ("class", "subclass", "object"):
                            yield self._types.family(value.key), ""

    def _near(self, listing: Key) -> set[Key]:
        """Find the classes of which a unit may list an object, as far as names tell.

        They are those that it names, or that a unit names which calls it.
        """
        program = self._types.program
        unit = program.unit(listing)
        named = (
            program.unit((listing[0], unit.parent))
            if unit.kind == "member" and is_special(unit.names[0])
            else unit
        )
        found: set[Key] = set()
        for key in {
            listing,
            *(caller for name in named.names for caller in self._users.get(name, ())),
        }:
            each = program.unit(key)
            if each.kind == "member":
                found.update(self._types.family((key[0], each.parent)))
            for path, _ in each.uses:
                for value in self._types.follow(key[0], -1, path, key[1]).values:
                    if value.kind == "class":
                        found.update(self._types.family(value.key))
        return found

    @cached_property
    def _users(self) -> Mapping[str, Sequence[Key]]:
        """Live units by the names that they look up, import or spell."""
        units = ((key, self._types.program.unit(key)) for key in self._live)
        names = (
            (
                key,
                {part for path, _ in unit.uses for part in path.split(".")}.union(
                    name for _, name, _ in unit.imports
                ),
            )
            for key, unit in units
        )
        return grouped((name, key) for key, found in names for name in found)

    def facts(self) -> Iterator[tuple[str, Refinement]]:
        """Yield what follows of attributes with one value, by path of the module whose code reads
        or sets them.
        """
        constant = {
            name: values[0]
            for name, values in self._values.items()
            if self._is_constant(name, values)
        }
        owners = {name: self._owners(name) for name in constant}
        unread = frozenset(
            n
            for n in constant.keys() - self._words
            if owners[n] and not self._is_listed(n, owners[n])
        )
        for module in self._modules if constant else ():
            stored = unread.intersection(store.attribute for store in module.summary.stores)
            names = {
                (self._types.program.unit(key).names[0], name, constant[name])
                for name in constant.keys() & set(module.summary.words)
                for key in owners[name]
                if key[0] == module.module and key[1] >= 0
            }
            if stored or names:
                yield module.path, Refinement(stores=stored, attributes=frozenset(names))

    def _is_constant(self, name: str, values: list[str]) -> bool:
        """True for an attribute with one literal for a value."""
        one = (
            values[0]
            and len({*values}) == 1
            and name in self._candidates
            and name not in self._named
        )
        return bool(one) and not is_special(name) and self._set.fullmatch(name) is None

    def _is_listed(self, name: str, owners: Collection[Key]) -> bool:
        """Tell whether live code may come across an attribute without spelling its name."""
        patterns = (self._read, self._listed_by_name)
        return not self._listed.isdisjoint(owners) or any(
            pattern.fullmatch(name) for pattern in patterns
        )

    def _owners(self, name: str) -> set[Key]:
        """Return classes that certainly have the attribute: those that set it, and what inherits
        from them; none when something else could set it, too: a base outside the tree, or a
        computed name.
        """
        types, program = self._types, self._types.program
        bound = (
            key
            for module, owner in self._fields.get(name, ())
            for key in program.bound(module, owner)
        )
        classes = [key for key in bound if program.unit(key).kind == "class"]
        found = {each for key in classes for each in (key, *types.below(key))}
        # `self` is an instance of the class around it or of one that inherits from it.
        computed = (key for pattern, key in self._computed if pattern.fullmatch(name))
        set_elsewhere = any(not found.isdisjoint({key, *types.below(key)}) for key in computed)
        return (
            found
            if not set_elsewhere and all(_BENIGN.issuperset(types.outsiders(k)) for k in found)
            else set()
        )


def find_needed(
    kept: Iterable[FoldedModule], known: Mapping[str, Refinement]
) -> Iterator[tuple[str, Refinement]]:
    """Yield modules, by path, that must load others again: those do something, and nothing else
    loads them. Libraries that only such an import loads are not counted: a predicate asks them.
    What is known before is by path, too.
    """
    modules = {module.module: module for module in kept}
    loads = {name: _loaded(module, modules) for name, module in modules.items()}
    loaders = grouped((other, name) for name, others in loads.items() for other in others - {name})

    @cache
    def led_to(name: str) -> frozenset[str]:
        return frozenset(reached((name,), loads.__getitem__))

    for name, module in modules.items():
        # Those that no module loads, but for those that they load themselves.
        found = (m for m in module.summary.unproven_imports if m in modules)
        alone = [m for m in found if led_to(m).issuperset(loaders.get(m, ()))]
        needed = {
            m for m in alone if any(not modules[n].summary.inert for n in led_to(m) - led_to(name))
        }
        before = known.get(module.path, NOTHING)
        if not needed <= before.needed:
            yield module.path, replace(before, needed=before.needed | needed)


def _loaded(module: FoldedModule, modules: Mapping[str, FoldedModule]) -> frozenset[str]:
    """Return modules of the tree that the module level imports, with the packages around them."""
    sites = [site for site in module.imports if site.kind == "import"]
    found = (name for site in sites for name in (site.module, f"{site.module}.{site.name}"))
    return frozenset(modules.keys() & with_packages((module.module, *found)))
