"""Which flags and choices command lines no longer have: rows of the table in `sglang/removed_features.py`."""

from __future__ import annotations

import ast

from shrinker.emit.removed_features import Option
from shrinker.program.interface.reasons import feature_of
from shrinker.ruleset import Ruleset
from shrinker.values.interface import UNEXPLAINED, Interface


def removed_options(interface: Interface, rules: Ruleset) -> list[Option]:
    """Flags and choices that went from command lines that are still there, sorted.

    A command line that went as a whole is not asked any more. A choice that is computed is left out: nobody types it.
    """
    found: set[Option] = set()
    choices: dict[Option, set[str]] = {}
    for difference in interface.flags:
        if difference.rule == UNEXPLAINED:
            continue
        if difference.kind == "removed" and difference.names:
            found.add(_option(difference.names, "", difference.rule, rules))
        elif difference.kind == "choice removed":
            try:
                choice = ast.literal_eval(difference.before)
            except (ValueError, SyntaxError):
                continue
            choices.setdefault(_option(difference.names, str(choice), difference.rule, rules), set()).add(str(choice))
    return sorted([*found, *(option._replace(choices=tuple(sorted(each))) for option, each in choices.items())])


def _option(names: tuple[str, ...], choice: str, rule: str, rules: Ruleset) -> Option:
    attributes = {name.lstrip("-").replace("-", "_") for name in names}
    for refusal in rules.refusals:
        refused = choice not in refusal.only if refusal.only else not refusal.values or choice in refusal.values
        if refused and not attributes.isdisjoint(a.rpartition(".")[2] for a in refusal.attributes):
            # A person wrote what to do instead.
            return Option(names, (), refusal.feature, refusal.id, refusal.instead)
    return Option(names, (), feature_of(rules, rule), rule, "")
