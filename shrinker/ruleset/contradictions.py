"""Rules that say different things of one thing: an error when they are loaded, never a matter of
their order.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, product

from shrinker.ruleset.match import module_matches, overlap, path_matches
from shrinker.ruleset.models import Fact, Keep, Root, Rule, Ruleset
from shrinker.values.errors import InputError

Clash = tuple[Rule, str, Rule, str]
"""A rule and what it says, another one and what it says against it."""
_SHOWN = 10
_NEXT = "take one of the two out, or narrow its patterns until they mean different things"


def refuse_contradictions(rules: Ruleset) -> None:
    """Compare the rules with each other.

    Raises InputError: two rules contradict each other; names both with file and line.
    """
    kinds = (_facts, _otherwise_stated, _kept_and_removed)
    found = [
        f"{rules.places.get(one.id, '?')}: rule {one.id} {said}, "
        f"but {rules.places.get(other.id, '?')}: rule {other.id} says {against}"
        for kind in kinds
        for one, said, other, against in kind(rules)
    ]
    if found:
        more = [f"… and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise InputError(
            "rules contradict each other:\n  " + "\n  ".join([*found[:_SHOWN], *more]), _NEXT
        )


def _facts(rules: Ruleset) -> Iterator[Clash]:
    for one, other in combinations(rules.facts, 2):
        if (type(one.value), one.value, one.exact) != (type(other.value), other.value, other.exact):
            for pattern, against in _overlapping(
                one, other.calls, (*other.names, *other.attributes)
            ):
                yield one, f"says {pattern} is {_text(one)}", other, f"{against} is {_text(other)}"
        if one.value != other.value:
            for name in sorted({*one.environment} & {*other.environment}):
                yield (
                    one,
                    f"says the variable {name} is {_text(one)}",
                    other,
                    f"it is {_text(other)}",
                )


def _overlapping(
    fact: Fact, calls: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Return patterns of a fact, each with one of another rule that may name the same."""
    pairs = chain(product(fact.calls, calls), product((*fact.names, *fact.attributes), names))
    return (pair for pair in pairs if overlap(*pair))


def _otherwise_stated(rules: Ruleset) -> Iterator[Clash]:
    """Facts, each against a rule of another kind."""
    for fact, domain in product(rules.facts, rules.domains):
        if fact.value in domain.never or (domain.only and fact.value not in (None, *domain.only)):
            for pattern, against in _overlapping(fact, domain.calls, domain.names):
                yield fact, f"says {pattern} is {_text(fact)}", domain, f"{against} never is"
    for fact, absent in product(rules.facts, rules.absents):
        for name in sorted({*fact.names, *fact.attributes} & {*absent.attributes, *absent.modules}):
            yield fact, f"says {name} is {_text(fact)}", absent, "there is no such thing"
    # A fact about a function of a removed module is how its use becomes decidable; the error would
    # be another answer. The fact counts first: a wide pattern says what holds for all that no fact
    # speaks of.
    for fact, remove in product(rules.facts, rules.removes):
        for name in fact.calls:
            if name in remove.only_when_asked:
                yield fact, f"says {name} is {_text(fact)}", remove, f"a use of {name} is an error"


def _kept_and_removed(rules: Ruleset) -> Iterator[Clash]:
    named: tuple[Root | Keep, ...] = (*rules.roots, *rules.keeps)
    wanted: list[tuple[Rule, str, bool]] = [
        (rule, module, True) for rule in named for module in rule.modules
    ]
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


def _text(fact: Fact) -> str:
    value = str(fact.value).lower() if isinstance(fact.value, bool) else str(fact.value)
    return value if fact.exact else f"{value} (only its truth)"
