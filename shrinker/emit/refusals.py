"""Write `sglang/removed_features.py`: the tables of what a generated tree refuses, and the function
that looks.

Among them are endpoints that a generated server no longer has, flags and choices that command lines
no longer have, and names that kept modules have lost.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from textwrap import wrap
from typing import Any

from shrinker.emit.lost_names import LostNames, Row
from shrinker.emit.removed_features import Endpoint, Option
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches, name_matches
from shrinker.ruleset.models import Refusal
from shrinker.syntax.imports import with_packages
from shrinker.values.edits import Guard, Refuse
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import UNREACHABLE, Removal
from shrinker.values.interface import UNEXPLAINED, Interface
from shrinker.values.relations import grouped
from shrinker.values.upstream import module_name

_WIDTH = 108
"""Of the names on one line."""
_TEMPLATE, _END = (
    Path(__file__).with_name(f"{name}.py") for name in ("removed_features", "refused_runs")
)
_BEGINS = "# What is written into a tree begins here.\n"
_FOR_END = "  # noqa: F401 -- The end of the module does."


def refusals_module(
    rules: Iterable[Refusal],
    switches: Iterable[tuple[str, str]],
    folded: Mapping[str, FoldedModule],
    kept: Iterable[str],
    removed: Mapping[str, Removal] | None = None,
    features: Mapping[str, str] | None = None,
    endpoints: Iterable[Endpoint] = (),
    options: Iterable[Option] = (),
    lost: LostNames | None = None,
) -> str | None:
    """Return text of the module; None when no kept function looks and no kept module guards
    imports.

    Args:
        rules: in the order in which they count.
        switches: environment variables that the closed world says are off, and the rule that says
            so.
        removed: path of every other file of upstream to what removed it; for a guard of imports.
        features: rule to the feature that it removes.
        endpoints: what the server no longer answers.
        options: flags and choices that command lines no longer take.
        lost: what kept modules have lost; for a guard of imports.
    """
    kept = sorted(kept)
    edits = [edit for path in kept if path in folded for edit in folded[path].edits]
    looks = sorted({edit.place for edit in edits if isinstance(edit, Refuse)})
    found = (
        (rule, place)
        for rule in rules
        for place in looks
        if any_name_matches(rule.functions, place)
    )
    rows = dict.fromkeys(_refusal(rule, place) for rule, place in found)
    guards = any(isinstance(edit, Guard) for edit in edits)
    if not looks and not guards:
        return None
    gone = removed_modules(removed or {}, kept) if guards else {}
    split = ((*name.rpartition(".")[::2], rule) for name, rule in gone.items())
    modules = sorted(
        (Row(package, name, rule) for package, name, rule in split), key=lambda row: row[0]
    )
    lost = lost if lost is not None and guards else LostNames()

    def went(rows: Iterable[Row[str]]) -> list[str]:
        told = (
            row._replace(said=f"{row.said!a}, {(features or {}).get(row.said, '')!a}")
            for row in rows
        )
        return _by_what_is_said(told)

    def known(rows: Iterable[Row[Any]]) -> list[str]:
        return _by_what_is_said(row._replace(said=ascii(row.said)) for row in rows)

    text = (
        _TEMPLATE.read_text("utf-8").replace(_FOR_END, "")
        + _END.read_text("utf-8").partition(_BEGINS)[2]
    )
    for name, kind, lines in (
        ("REFUSALS", "tuple[Refusal, ...]", rows),
        (
            "SWITCHES",
            "tuple[tuple[str, str], ...]",
            _in_lines((ascii(rule), name) for name, rule in switches),
        ),
        (
            "ENDPOINTS",
            "tuple[Endpoint, ...]",
            [f"    Endpoint{tuple(row)!a},\n" for row in endpoints],
        ),
        (
            "OPTIONS",
            "tuple[Option, ...]",
            [f"    Option{tuple(row)!a},\n" for row in options] if guards else [],
        ),
        ("GONE", "tuple[tuple[str, str, str], ...]", went(modules)),
        ("NAMES", "tuple[tuple[str, str, str], ...]", went(lost.gone)),
        ("VALUES", "tuple[tuple[Any, str], ...]", known(lost.values)),
        ("HANDED", "tuple[tuple[str, str], ...]", known(lost.handed)),
    ):
        empty = f"{name}: {kind} = ()"
        assert empty in text, "the template holds the empty tables"
        text = text.replace(empty, f"{name}: {kind} = (\n{''.join(lines)})")
    return text


def _refusal(rule: Refusal, place: str) -> str:
    fields = (place, rule.attributes, rule.values, rule.only, rule.feature, rule.id, rule.instead)
    return f"    Refusal{(*fields, True) if rule.any_case else fields!a},\n"


def _by_what_is_said(rows: Iterable[Row[str]]) -> list[str]:
    """Write rows of the same said thing as one, each package or module once, with a colon, before
    its words.
    """
    by_package = grouped(((row.said, row.package), row.word) for row in rows)
    return _in_lines(
        (said, word)
        for (said, package), words in by_package.items()
        for word in (f"{package}:", *sorted(words))
    )


def _in_lines(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Write rows of what is said and all words of which it is: several words a line, so that the
    tables are shorter than what reads them.
    """
    found: list[str] = []
    for said, words in sorted(grouped(rows).items()):
        lines = wrap(" ".join(words), _WIDTH, break_on_hyphens=False)
        found.append(
            f"    ({said}, " + "\n        ".join(f"{line + ' '!a}" for line in lines) + "),\n"
        )
    return found


def removed_modules(removed: Mapping[str, Removal], kept: Iterable[str]) -> dict[str, str]:
    """Return modules among removed paths to what removed them, sorted; what stands below one and
    went by the same rule goes with it.
    """
    gone = {
        name: removal.rule
        for path, removal in removed.items()
        if (name := module_name(path)) is not None
    }
    below: defaultdict[str, set[str]] = defaultdict(set)
    for name, rule in (
        *gone.items(),
        *((name, "") for name in map(module_name, kept) if name is not None),
    ):
        # A package is also what only holds modules, without an `__init__`.
        for package in with_packages([name]):
            below[package].add(rule)
    found: dict[str, str] = {}
    for name in sorted(below):
        if name in gone or "" not in below[name]:
            # A folder without an `__init__` went by several rules: one that a person wrote says
            # most.
            rule = gone.get(name) or min(below[name], key=lambda rule: (rule == UNREACHABLE, rule))
            above = max(found.keys() & with_packages([name]), key=len, default="")
            if not above or found[above] != rule:
                found[name] = rule
    return found


def removed_endpoints(
    interface: Interface, rules: Ruleset, folded: Mapping[str, FoldedModule], kept: Iterable[str]
) -> list[Endpoint]:
    """Endpoints that went from modules that still make an application, sorted.

    What is computed and what no rule took away are left out: they are not in the table, and answer
    as any path that a server does not have. A socket has a row of its own, since its path may be
    that of a request, too.
    """
    places = {
        (path, edit.place)
        for path in kept
        if path in folded
        for edit in folded[path].edits
        if isinstance(edit, Refuse)
        and any(name_matches(rule.function, edit.place) for rule in rules.answers)
    }
    found: defaultdict[Endpoint, set[str]] = defaultdict(set)
    sockets: set[Endpoint] = set()
    for gone in interface.endpoints:
        if gone.kind != "removed" or gone.rule == UNEXPLAINED or not gone.names:
            continue
        method, url, environment = gone.names
        if method != "*" and (url.startswith("/") or (not url and environment)):
            for place in (place for path, place in places if path == gone.path):
                row = Endpoint(place, url, environment, (), feature_of(rules, gone.rule), gone.rule)
                if method == "WEBSOCKET":
                    sockets.add(row._replace(methods=(method,)))
                else:
                    found[row].add(method)
    return sorted(
        [
            *sockets,
            *(row._replace(methods=tuple(sorted(methods))) for row, methods in found.items()),
        ]
    )


def removed_options(interface: Interface, rules: Ruleset) -> list[Option]:
    """Return flags and choices that went from command lines that are still there, sorted.

    A command line that went as a whole is not asked any more. A choice that is computed is left
    out: nobody types it.
    """
    found: set[Option] = set()
    choices: defaultdict[Option, set[str]] = defaultdict(set)
    for difference in interface.flags:
        if difference.rule == UNEXPLAINED:
            continue
        if difference.kind == "removed" and difference.names:
            found.add(_option(difference.names, "", difference.rule, rules))
        elif difference.kind == "choice removed":
            with suppress(ValueError, SyntaxError):
                choice = str(ast.literal_eval(difference.before))
                choices[_option(difference.names, choice, difference.rule, rules)].add(choice)
    return sorted(
        [
            *found,
            *(option._replace(choices=tuple(sorted(each))) for option, each in choices.items()),
        ]
    )


def _option(names: tuple[str, ...], choice: str, rule: str, rules: Ruleset) -> Option:
    attributes = {name.lstrip("-").replace("-", "_") for name in names}
    for refusal in rules.refusals:
        refused = (
            choice not in refusal.only
            if refusal.only
            else not refusal.values or choice in refusal.values
        )
        if refused and not attributes.isdisjoint(a.rpartition(".")[2] for a in refusal.attributes):
            # A person wrote what to do instead.
            return Option(names, (), refusal.feature, refusal.id, refusal.instead)
    return Option(names, (), feature_of(rules, rule), rule, "")


def feature_of(rules: Ruleset, rule: str) -> str:
    """Return what a rule takes away, in words; empty for ``unreachable`` and what is no rule of the
    profile.
    """
    ids = set(rule.split("+"))
    named = [r.feature for r in rules.removes if r.id in ids] + [
        r.feature for r in rules.refusals if r.id in ids
    ]
    return named[0] if named else ""
