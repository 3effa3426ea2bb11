"""What the rules say, by the names that code writes: a second reading of them, apart from the one that folds.

Only what a name by itself can tell is read: it is less than the folding knows, and it is never more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from shrinker.cache import Question, digest_of
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_module_matches, any_name_matches, any_path_matches
from shrinker.ruleset.models import Remove, Shape

_TABLE = re.compile(r"E=(\d+),N=(\d+),")


Patterns = tuple[str, ...]
"""Over dotted names."""


@dataclass(frozen=True, slots=True)
class RuleIndex:
    """The rules of a profile, as far as a judge asks them. Can be sent to another process; its text is the same in each."""

    _calls: dict[bool, Patterns]
    """By what they give."""
    _names: dict[bool, Patterns]
    _methods: dict[str, bool]
    _attributes: dict[str, bool]
    _environment: dict[str, bool]
    _domains: tuple[tuple[Patterns, Patterns, Patterns], ...]
    """Patterns of each, the texts that it never is, and all that it may be where these are told."""
    _registers: tuple[tuple[Patterns, Patterns, Patterns], ...]
    _members: Patterns
    _modules: tuple[tuple[Patterns, Patterns], ...]
    """Of each rule the modules that it removes, and those of them that it spares."""
    _walks: Mapping[str, tuple[str, ...]]
    """By package, the names below it that a walk over it finds."""
    _files: tuple[Remove, ...]
    """Rules that remove files by their paths."""
    _functions: dict[str, bool] = field(default_factory=dict)

    def said(self, questions: Iterable[Question]) -> bytes:
        """One hash over questions, each a method's name with its arguments, and their answers."""
        return digest_of(f"{question} {getattr(self, question[0])(*question[1:])}" for question in questions)

    def with_functions(self, functions: Mapping[str, bool]) -> RuleIndex:
        """These, and what functions give that the rules do not name, by their full names."""
        return replace(self, _functions=dict(functions))

    def call(self, dotted: str) -> bool | None:
        """Truth of what a function gives, by its full name."""
        said = _said(self._calls, dotted)
        return said.pop() if len(said) == 1 else None if said else self._functions.get(dotted)

    def method(self, name: str) -> bool | None:
        """Truth of what a method of this name gives, whatever it is called on."""
        return self._methods.get(name)

    def name(self, dotted: str) -> bool | None:
        """Truth of a name as it is written below its module."""
        said = _said(self._names, dotted)
        return said.pop() if len(said) == 1 else None

    def attribute(self, name: str) -> bool | None:
        """Truth of an attribute of this name of any object."""
        return self._attributes.get(name)

    def environment(self, name: str) -> bool | None:
        """Truth of an environment variable."""
        return self._environment.get(name)

    def never(self, dotted: str, text: str) -> bool:
        """True when what is written so below its module is never this text."""
        return _excludes(self._domains, dotted, text)

    def unregistered(self, function: str, text: str) -> bool:
        """True when a rule says that nothing is asked for which this function files under this text."""
        return _excludes(self._registers, function, text)

    def removes_member(self, written: str) -> bool:
        """True when a rule names a member of an enumeration, by its class as modules write it, as a removed one."""
        # Where the class is does not matter: a module may have it from anywhere.
        return written.count(".") == 1 and any_name_matches(self._members, written)

    def removes_module(self, dotted: str) -> bool:
        """True when a rule names this module, or one that it would be in, as a removed one."""
        return any(
            any_module_matches(taken, dotted) and not (spared and any_module_matches(spared, dotted))
            for taken, spared in self._modules
        )

    def walked_past(self, module: str) -> bool:
        """True for a module of a package that code walks, which by the rules does not find it."""
        return any(
            module.startswith(f"{package}.") and not any(f"{module}.".startswith(f"{package}.{name}.") for name in kept)
            for package, kept in self._walks.items()
        )

    def removes(self, path: str) -> bool:
        """True when a rule names this file as a removed one: neither it spares it, nor may one of its shapes ask for the table."""
        return any(
            any_path_matches(rule.paths, path)
            and not any_path_matches(rule.unless, path)
            and not (rule.shapes and _may_be_asked_for(path, rule.shapes))
            for rule in self._files
        )


def _said(rows: Mapping[bool, Patterns], dotted: str) -> set[bool]:
    return {value for value, patterns in rows.items() if any_name_matches(patterns, dotted)}


def _excludes(rows: Iterable[tuple[Patterns, Patterns, Patterns]], dotted: str, text: str) -> bool:
    """True when what is named so is never this text."""
    return any(
        (text in never or (bool(only) and text not in only)) and any_name_matches(patterns, dotted)
        for patterns, never, only in rows
    )


def _may_be_asked_for(path: str, shapes: Iterable[Shape]) -> bool:
    """True for a tuning table whose experts and width are a rank's share of one of these models, and for what names no shape.

    Read from the table's side: its experts times the ranks are the routed ones and at most 128 redundant ones, where up to eight of
    them may be shared ones.
    """
    named = _TABLE.match(path.rpartition("/")[2])
    if named is None:
        return True
    experts, width = map(int, named.groups())
    return any(
        shape.width % width == 0
        and shape.width // width <= 64
        and any(
            # The fewest ranks whose shares are all experts, and the redundant ones that these make.
            -(-shape.experts // share) <= 320 and -shape.experts % share <= 128
            for share in range(max(1, experts - 8), experts + 1)
        )
        for shape in shapes
    )


class AskedIndex:
    """Stands in the place of an index while one file is judged, and notes what is asked: the result is used again where the answers are
    the same."""

    def __init__(self, index: RuleIndex) -> None:
        self._index = index
        self._asked: dict[Question, None] = {}

    def as_index(self) -> RuleIndex:
        """Itself, for code that asks an index."""
        return cast(RuleIndex, self)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What was asked, in order, each question once."""
        return tuple(self._asked)

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._index, name)

        def ask(*arguments: str) -> object:
            self._asked[name, *arguments] = None
            return method(*arguments)

        return ask


def index_rules(rules: Ruleset) -> RuleIndex:
    """Of the rules of a profile."""
    facts = [(fact, bool(fact.value)) for fact in rules.facts]
    calls = [(p, value) for fact, value in facts for p in fact.calls]
    return RuleIndex(
        _calls=_by_value((p, value) for p, value in calls if not p.startswith(".")),
        _names=_by_value((p, value) for fact, value in facts for p in fact.names),
        _methods=_of_any(calls),
        _attributes=_of_any((p, value) for fact, value in facts for p in fact.attributes),
        _environment={name: value for fact, value in facts for name in fact.environment},
        _domains=tuple((d.names, d.never, d.only) for d in rules.domains if d.names),
        _registers=tuple((d.registers, d.never, d.only) for d in rules.domains if d.registers),
        _members=tuple(".".join(p.split(".")[-2:]) for rule in rules.removes for p in rule.members),
        _modules=tuple((rule.modules, rule.unless) for rule in rules.removes if rule.modules),
        _walks=rules.walked(),
        _files=tuple(rule for rule in rules.removes if rule.paths),
    )


def _by_value(rows: Iterable[tuple[str, bool]]) -> dict[bool, Patterns]:
    found: dict[bool, list[str]] = {True: [], False: []}
    for pattern, value in rows:
        found[value].append(pattern)
    return {value: tuple(patterns) for value, patterns in found.items()}


def _of_any(rows: Iterable[tuple[str, bool]]) -> dict[str, bool]:
    return {p[1:]: value for p, value in rows if re.fullmatch(r"\.\w+", p)}
