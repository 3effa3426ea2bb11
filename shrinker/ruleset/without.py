"""The rules of a profile but for some of them, or with one more: what a rule does is what differs without it."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from shrinker.ruleset.contradictions import refuse_contradictions
from shrinker.ruleset.load import MODELS, nearest
from shrinker.ruleset.models import Rule, Ruleset
from shrinker.values.errors import InputError


def without(rules: Ruleset, ids: Collection[str]) -> Ruleset:
    """The ruleset as if these rules had not been written.

    Args:
        rules: of a profile.
        ids: of the rules to leave out.

    Returns:
        A ruleset with a digest of its own, so that nothing remembered of the whole one is taken for it.

    Raises:
        InputError: the profile has no rule of such an id.
    """
    if not ids:
        return rules
    for asked in sorted(ids):
        if asked not in rules.places:
            raise InputError(
                f"profile {rules.profile!r} has no rule {asked!r}{nearest(asked, list(rules.places))}",
                "`shrinker rules --profile NAME` lists all of them",
            )
    left: dict[str, Any] = {}
    for field in Ruleset.model_fields:
        rows = getattr(rules, field)
        if isinstance(rows, tuple) and any(isinstance(row, Rule) for row in rows):
            left[field] = tuple(row for row in rows if row.id not in ids)
    salt = "\0".join([rules.digest, "without", *sorted(ids)])
    left["digest"] = hashlib.sha256(salt.encode()).hexdigest()
    left["places"] = {name: place for name, place in rules.places.items() if name not in ids}
    left["scope"] = tuple(name for name in rules.scope if name not in ids)
    return rules.model_copy(update=left)


def with_rule(rules: Ruleset, table: str, row: Mapping[str, Any]) -> Ruleset:
    """The ruleset as if this rule had been written, too.

    Args:
        rules: of a profile.
        table: field of the ruleset: ``facts``, ``domains`` ….
        row: what a file of rules would say.

    Returns:
        A ruleset with a digest of its own.

    Raises:
        InputError: the rule contradicts another one.
        pydantic.ValidationError: it is no rule of that kind.
    """
    rule = MODELS[table].model_validate(row)
    salt = "\0".join([rules.digest, "with", table, rule.model_dump_json()])
    more = rules.model_copy(
        update={
            table: (*getattr(rules, table), rule),
            "digest": hashlib.sha256(salt.encode()).hexdigest(),
            "places": {**rules.places, rule.id: "planted"},
        }
    )
    refuse_contradictions(more)
    return more
