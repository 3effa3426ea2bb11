"""Rules that say different things of one thing: an error when they are loaded, never a matter of their order."""

from collections.abc import Iterator
from itertools import combinations

from shrinker.ruleset.match import module_matches, overlap, path_matches
from shrinker.ruleset.models import Fact, Keep, Root, Rule, Ruleset
from shrinker.values.errors import InputError

Clash = tuple[Rule, str, Rule, str]
"""A rule and what it says, another one and what it says against it."""
_SHOWN = 10
_NEXT = "take one of the two out, or narrow its patterns until they mean different things"


def refuse_contradictions(rules: Ruleset) -> None:
    """Compare the rules with each other.

    Raises:
        InputError: two rules contradict each other; names both with file and line.
    """
    kinds = (_values, _variables, _domains, _kept_and_removed, _absent_and_stated, _asked_and_stated)
    found = [
        f"{rules.places.get(one.id, '?')}: rule {one.id} {said}, "
        f"but {rules.places.get(other.id, '?')}: rule {other.id} says {against}"
        for kind in kinds
        for one, said, other, against in kind(rules)
    ]
    if found:
        more = [f"… and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise InputError("rules contradict each other:\n  " + "\n  ".join([*found[:_SHOWN], *more]), _NEXT)


def _values(rules: Ruleset) -> Iterator[Clash]:
    for one, other in combinations(rules.facts, 2):
        if (type(one.value), one.value, one.exact) == (type(other.value), other.value, other.exact):
            continue
        pairs = [(p, q) for p in one.calls for q in other.calls]
        pairs += [(p, q) for p in (*one.names, *one.attributes) for q in (*other.names, *other.attributes)]
        for pattern, against in pairs:
            if overlap(pattern, against):
                yield one, f"says {pattern} is {_text(one)}", other, f"{against} is {_text(other)}"


def _variables(rules: Ruleset) -> Iterator[Clash]:
    for one, other in combinations(rules.facts, 2):
        for name in sorted(set(one.environment) & set(other.environment)):
            if one.value != other.value:
                what = f"says the variable {name} is {_text(one)}"
                yield one, what, other, f"it is {_text(other)}"


def _domains(rules: Ruleset) -> Iterator[Clash]:
    for fact in rules.facts:
        for domain in rules.domains:
            if fact.value not in domain.never and (not domain.only or fact.value in (None, *domain.only)):
                continue
            pairs = [(p, q) for p in (*fact.names, *fact.attributes) for q in domain.names]
            pairs += [(p, q) for p in fact.calls for q in domain.calls]
            for pattern, against in pairs:
                if overlap(pattern, against):
                    yield fact, f"says {pattern} is {_text(fact)}", domain, f"{against} never is"


def _kept_and_removed(rules: Ruleset) -> Iterator[Clash]:
    named: tuple[Root | Keep, ...] = (*rules.roots, *rules.keeps)
    wanted: list[tuple[Rule, str, bool]] = [(rule, module, True) for rule in named for module in rule.modules]
    wanted += [(walk, f"{walk.package}.{name}", True) for walk in rules.walks for name in walk.keep]
    wanted += [(rule, path, False) for rule in named for path in rule.paths]
    for rule, name, is_module in wanted:
        if "*" in name:
            continue
        for absent in rules.absents if is_module else ():
            if any(name == m or name.startswith(m + ".") for m in absent.modules):
                yield rule, f"keeps {name}", absent, "it is not installed"
        matches = module_matches if is_module else path_matches
        for remove in rules.removes:
            if not any(matches(pattern, name) for pattern in remove.unless):
                for pattern in remove.modules if is_module else remove.paths:
                    if matches(pattern, name):
                        yield rule, f"keeps {name}", remove, f"{pattern} is removed"


def _absent_and_stated(rules: Ruleset) -> Iterator[Clash]:
    for fact in rules.facts:
        for absent in rules.absents:
            for name in sorted({*fact.names, *fact.attributes} & {*absent.attributes, *absent.modules}):
                yield fact, f"says {name} is {_text(fact)}", absent, "there is no such thing"


def _asked_and_stated(rules: Ruleset) -> Iterator[Clash]:
    # A fact about a function of a removed module is how its use becomes decidable; the error would be another answer.
    for fact in rules.facts:
        for remove in rules.removes:
            for pattern in fact.calls:
                for asked in remove.only_when_asked:
                    # The fact counts first: a wide pattern says what holds for all that no fact speaks of.
                    if pattern == asked:
                        what = f"says {pattern} is {_text(fact)}"
                        yield fact, what, remove, f"a use of {asked} is an error"


def _text(fact: Fact) -> str:
    value = (
        "None" if fact.value is None else str(fact.value).lower() if isinstance(fact.value, bool) else str(fact.value)
    )
    return value if fact.exact else f"{value} (only its truth)"
