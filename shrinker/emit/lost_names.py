"""Find which names kept modules have lost, and what a generated tree says of each to who asks for
it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from shrinker.cache import Cache
from shrinker.program.decided import rule_of
from shrinker.program.definitions import Definition, ModuleNames, read_names
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches
from shrinker.values.folded import Folded
from shrinker.values.graph import UNREACHABLE
from shrinker.values.outside import Constant, KnownNames
from shrinker.values.relations import grouped, reached
from shrinker.values.upstream import UpstreamTree

Said = TypeVar("Said")


class Row(NamedTuple, Generic[Said]):
    """One lost name in a table."""

    package: str
    """The module that has lost it."""
    word: str
    """The name; of a member its class, a dot and its name. Parentheses follow what is called for
    the value, an equals sign what only objects of the class have."""
    said: Said
    """The rule, the value or the module that hands it on."""


@dataclass(frozen=True, slots=True)
class LostNames:
    """Names that modules of upstream have and those of the tree have not."""

    gone: list[Row[str]] = field(default_factory=list)
    """With the rule that removed each, or ``unreachable``: who asks gets the named error."""
    values: list[Row[Constant]] = field(default_factory=list)
    """With the constant that each is, or answers with."""
    handed: list[Row[str]] = field(default_factory=list)
    """With the module that still has each."""
    public: dict[str, dict[Definition, str]] = field(default_factory=dict)
    """By path of the module, those that are for others, with the rule: for a person who reads them.
    """


@dataclass(frozen=True)
class _Search:
    """What is known while lost names are looked for."""

    rules: Ruleset
    folded: Folded
    before: Mapping[str, ModuleNames]
    after: Mapping[str, ModuleNames]
    known: Mapping[str, KnownNames]

    @cached_property
    def left(self) -> dict[str, frozenset[str]]:
        """Names that modules of the tree still have, by the name of the module."""
        return {
            self.folded[path].module: frozenset(one.name for one in names.names)
            for path, names in self.after.items()
        }

    @cached_property
    def families(self) -> Mapping[str, frozenset[str]]:
        """Member names of each class and of all that stand above or below it."""
        return _families(self.after)

    def rule_of(self, path: str, one: Definition) -> str | None:
        """Find the rule by which a name went; None where upstream does not have it either.

        That is so of a name that stands only in a branch which the facts refute.
        """
        removes = {rule.id for rule in self.rules.removes}
        stated = {rule.id for rule in self.rules.all_rules()} - removes
        why = rule_of(path, one.line, one.end_line, self.folded, {}, one.name).split("+")
        if one.guarded and not stated.isdisjoint(why):
            return None
        by_decision = next((rule for rule in why if rule in removes), None)
        return by_decision or self._rule_by_name(f"{self.folded[path].module}.{one.path}")

    def _rule_by_name(self, qualified: str) -> str:
        for rule in self.rules.removes:
            if any_name_matches((*rule.definitions, *rule.members), qualified):
                return rule.id
        return UNREACHABLE


def find_lost_names(
    tree: UpstreamTree,
    rules: Ruleset,
    folded: Folded,
    written: Mapping[str, str],
    read: Callable[[str], bytes],
    cache: Cache,
    known: Mapping[str, KnownNames],
) -> LostNames:
    """Compare the names of each kept module with those that upstream's has.

    Args:
        written: SHA-256 of each module of the tree, by path.
        read: gives the bytes of a module of the tree.
        known: what is known of names that may be lost, by path.
    """
    paths = [path for path in sorted(written) if path in folded]
    before = read_names({path: tree.by_path[path].sha256 for path in paths}, tree.read, cache)
    after = read_names({path: written[path] for path in paths}, read, cache)
    search = _Search(rules, folded, before, after, known)
    lost, found = _names_by_path(search), LostNames()
    for path in paths:
        names = lost.get(path, {})
        if public := {one: rule for one, rule in names.items() if one.is_public}:
            found.public[path] = public
        for one, rule in (*names.items(), *_members(search, path)):
            _file(search, path, one, rule, found)
    return found


def _names_by_path(search: _Search) -> dict[str, dict[Definition, str]]:
    """Find lost names of modules, each with its rule; empty for one that went by none."""
    found: defaultdict[str, dict[Definition, str]] = defaultdict(dict)
    left = {path: search.left[search.folded[path].module] for path in search.after}
    for path, names in search.before.items():
        for one in names.names:
            if one.name not in left[path] and one.kind != "star":
                rule = search.rule_of(path, one)
                if rule is not None or _is_known(search, path, one):
                    found[path][one] = rule or UNREACHABLE
    # What a module has lost, those that take all of its names have lost, too; such imports may
    # stand in a row.
    paths_of = {search.folded[path].module: path for path in search.before}
    stars = [
        (path, one)
        for path, names in search.before.items()
        for one in names.names
        if one.kind == "star" and one.name in paths_of
    ]
    for path, star in stars * len(stars):
        named = {one.name for one in found.get(path, ())} | left[path]
        for one, rule in list(found.get(paths_of[star.name], {}).items()):
            if one.is_public and one.name not in named:
                handed = Definition(one.name, "import", star.line, star.end_line)
                found[path][handed] = rule
    return found


def _is_known(search: _Search, path: str, one: Definition) -> bool:
    known = search.known.get(path, KnownNames())
    places = (known.values, known.results, known.unset, known.origins)
    return any(one.path in place for place in places)


def _members(search: _Search, path: str) -> Iterator[tuple[Definition, str]]:
    """Go through the members that kept classes of a module have lost.

    One is left out where another class above or below its own has that name: there, who asks is
    answered by that class.
    """
    left = {one.path for one in search.after[path].members}
    classes = {one.name for one in search.after[path].names if one.kind == "class"}
    for one in search.before[path].members:
        if one.owner not in classes or one.path in left or one.kind == "declared":
            continue
        if one.name in search.families.get(one.owner, ()):
            continue
        rule = search.rule_of(path, one)
        if rule is not None or _is_known(search, path, one):
            yield one, rule or UNREACHABLE


def _families(modules: Mapping[str, ModuleNames]) -> Mapping[str, frozenset[str]]:
    """Find, by the name of each class, all member names of the classes that it is related to.

    Classes of one name count as one: what is too much here is only said less of.
    """
    members = grouped((one.owner, one.name) for names in modules.values() for one in names.members)
    classes = {one.name for names in modules.values() for one in names.names if one.kind == "class"}
    bases = [row for names in modules.values() for row in names.bases if row[1] in classes]
    related = grouped((*bases, *((base, name) for name, base in bases)))
    found: dict[str, frozenset[str]] = {}
    for name in sorted(classes):
        if name not in found:
            family = reached([name], lambda each: related.get(each, ()))
            own = frozenset(member for each in family for member in members.get(each, ()))
            found |= dict.fromkeys(family, own)
    return found


def _file(search: _Search, path: str, one: Definition, rule: str, found: LostNames) -> None:
    """File a lost name with what is said of it: the most that is known."""
    module, known = search.folded[path].module, search.known.get(path, KnownNames())
    origin = known.origins.get(one.path, "")
    if one.name in search.left.get(origin, ()):
        found.handed.append(Row(module, one.path, origin))
        return
    for places, sign in ((known.values, ""), (known.results, "()"), (known.unset, "=")):
        if one.path in places:
            found.values.append(Row(module, one.path + sign, places[one.path]))
            return
    found.gone.append(Row(module, one.path, rule))
