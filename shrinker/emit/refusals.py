"""Write `sglang/removed_features.py`: the tables of what a generated tree refuses, and the function that looks. Among them are endpoints that a
generated server no longer has, flags and choices that command lines no longer have, and public names that kept modules have lost.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from textwrap import wrap

from shrinker.cache import Cache
from shrinker.emit.removed_features import Endpoint, Option
from shrinker.program.decided import rule_of
from shrinker.program.written import Definition, public_definitions
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches, name_matches
from shrinker.ruleset.models import Refusal
from shrinker.syntax.imports import with_packages
from shrinker.values.edits import Guard, Refuse
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import UNREACHABLE, Removal
from shrinker.values.interface import UNEXPLAINED, Interface
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

_WIDTH = 108
"""Of the names on one line."""
_TEMPLATE, _END = (Path(__file__).with_name(f"{name}.py") for name in ("removed_features", "refused_runs"))
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
    names: Iterable[tuple[str, str]] = (),
) -> str | None:
    """Text of the module; None when no kept function looks and no kept module guards imports.

    Args:
        rules: in the order in which they count.
        switches: environment variables that the closed world says are off, and the rule that says so.
        removed: path of every other file of upstream to what removed it; for a guard of imports.
        features: rule to the feature that it removes.
        endpoints: what the server no longer answers.
        options: flags and choices that command lines no longer take.
        names: that kept modules have lost, below their modules, with their rules; for a guard of imports.
    """
    kept = sorted(kept)
    edits = [edit for path in kept if path in folded for edit in folded[path].edits]
    looks = sorted({edit.place for edit in edits if isinstance(edit, Refuse)})
    found = ((rule, place) for rule in rules for place in looks if any_name_matches(rule.functions, place))
    rows = dict.fromkeys(_refusal(rule, place) for rule, place in found)
    guards = any(isinstance(edit, Guard) for edit in edits)
    if not looks and not guards:
        return None
    gone = removed_modules(removed or {}, kept) if guards else {}
    modules = sorted(gone.items(), key=lambda row: row[0].rpartition(".")[0])

    def went(rows: Iterable[tuple[str, str]]) -> list[str]:
        return _by_rule((rule, f"{(features or {}).get(rule, '')!a}, ", word) for word, rule in _in_packages(rows))

    text = _TEMPLATE.read_text("utf-8").replace(_FOR_END, "") + _END.read_text("utf-8").partition(_BEGINS)[2]
    for name, kind, lines in (
        ("REFUSALS", "tuple[Refusal, ...]", rows),
        ("SWITCHES", "tuple[tuple[str, str], ...]", _by_rule((rule, "", name) for name, rule in switches)),
        ("ENDPOINTS", "tuple[Endpoint, ...]", [f"    Endpoint{tuple(row)!a},\n" for row in endpoints]),
        ("OPTIONS", "tuple[Option, ...]", [f"    Option{tuple(row)!a},\n" for row in options] if guards else []),
        ("GONE", "tuple[tuple[str, str, str], ...]", went(modules)),
        ("NAMES", "tuple[tuple[str, str, str], ...]", went(names) if guards else []),
    ):
        empty = f"{name}: {kind} = ()"
        assert empty in text, "the template holds the empty tables"
        text = text.replace(empty, f"{name}: {kind} = (\n{''.join(lines)})")
    return text


def _refusal(rule: Refusal, place: str) -> str:
    fields = (place, rule.attributes, rule.values, rule.only, rule.feature, rule.id, rule.instead)
    return f"    Refusal{(*fields, True) if rule.any_case else fields!a},\n"


def _by_rule(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Rows of rule, more of it, and all names that have both: several names a line, so that the tables are shorter than what reads
    them."""
    found: list[str] = []
    for (rule, more), names in sorted(grouped(((rule, more), name) for rule, more, name in rows).items()):
        lines = wrap(" ".join(names), _WIDTH, break_on_hyphens=False)
        found.append(f"    ({rule!a}, {more}" + "\n        ".join(f"{line + ' '!a}" for line in lines) + "),\n")
    return found


def removed_modules(removed: Mapping[str, Removal], kept: Iterable[str]) -> dict[str, str]:
    """Modules among removed paths to what removed them, sorted; what stands below one and went by the same rule goes with it."""
    gone = {name: removal.rule for path, removal in removed.items() if (name := module_name(path)) is not None}
    below: defaultdict[str, set[str]] = defaultdict(set)
    for name, rule in (*gone.items(), *((name, "") for name in map(module_name, kept) if name is not None)):
        # A package is also what only holds modules, without an `__init__`.
        for package in with_packages([name]):
            below[package].add(rule)
    found: dict[str, str] = {}
    for name in sorted(below):
        if name in gone or "" not in below[name]:
            # A folder without an `__init__` went by several rules: one that a person wrote says most.
            rule = gone.get(name) or min(below[name], key=lambda rule: (rule == UNREACHABLE, rule))
            above = max(found.keys() & with_packages([name]), key=len, default="")
            if not above or found[above] != rule:
                found[name] = rule
    return found


def _in_packages(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Words of the table and their rule: each package or module once, with a colon, before what of it went by the rule."""
    split = ((rule, dotted.rpartition(".")) for dotted, rule in rows)
    by_package = grouped(((rule, package), name) for rule, (package, _, name) in split)
    return [(word, rule) for (rule, package), names in by_package.items() for word in (f"{package}:", *sorted(names))]


def removed_endpoints(
    interface: Interface, rules: Ruleset, folded: Mapping[str, FoldedModule], kept: Iterable[str]
) -> list[Endpoint]:
    """Endpoints that went from modules that still make an application, sorted.

    What is computed, a socket, and what no rule took away are left out: they are not in the table, and answer as any
    path that a server does not have.
    """
    places = {
        (path, edit.place)
        for path in kept
        if path in folded
        for edit in folded[path].edits
        if isinstance(edit, Refuse) and any(name_matches(rule.function, edit.place) for rule in rules.answers)
    }
    found: defaultdict[Endpoint, set[str]] = defaultdict(set)
    for gone in interface.endpoints:
        if gone.kind != "removed" or gone.rule == UNEXPLAINED or not gone.names:
            continue
        method, url, environment = gone.names
        if method not in {"*", "WEBSOCKET"} and (url.startswith("/") or (not url and environment)):
            for place in (place for path, place in places if path == gone.path):
                row = Endpoint(place, url, environment, (), feature_of(rules, gone.rule), gone.rule)
                found[row].add(method)
    return sorted(row._replace(methods=tuple(sorted(methods))) for row, methods in found.items())


def removed_options(interface: Interface, rules: Ruleset) -> list[Option]:
    """Flags and choices that went from command lines that are still there, sorted.

    A command line that went as a whole is not asked any more. A choice that is computed is left out: nobody types it.
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
    return sorted([*found, *(option._replace(choices=tuple(sorted(each))) for option, each in choices.items())])


def _option(names: tuple[str, ...], choice: str, rule: str, rules: Ruleset) -> Option:
    attributes = {name.lstrip("-").replace("-", "_") for name in names}
    for refusal in rules.refusals:
        refused = choice not in refusal.only if refusal.only else not refusal.values or choice in refusal.values
        if refused and not attributes.isdisjoint(a.rpartition(".")[2] for a in refusal.attributes):
            # A person wrote what to do instead.
            return Option(names, (), refusal.feature, refusal.id, refusal.instead)
    return Option(names, (), feature_of(rules, rule), rule, "")


def lost_names(
    tree: UpstreamTree,
    rules: Ruleset,
    folded: Mapping[str, FoldedModule],
    written: Mapping[str, str],
    read: Callable[[str], bytes],
    cache: Cache,
) -> dict[str, dict[Definition, str]]:
    """By path of each kept module that lost any, its lost names with the rule that removed them, or ``unreachable``.

    A name in a branch that facts refute is none: upstream does not have it there either.

    `written` has the SHA-256 of each module of the tree that was rewritten, by path.
    """
    paths = [path for path in sorted(written) if path in folded]
    before = public_definitions({path: tree.by_path[path].sha256 for path in paths}, tree.read, cache)
    after = public_definitions({path: written[path] for path in paths}, read, cache)
    removes = {rule.id for rule in rules.removes}
    stated = {rule.id for rule in rules.all_rules()}.difference(removes)
    found: defaultdict[str, dict[Definition, str]] = defaultdict(dict)
    left = {path: {one.name for one in after[path]} for path in paths}
    for path in paths:
        for one in before[path]:
            if one.name not in left[path] and one.kind != "star":
                why = rule_of(path, one.line, one.end_line, folded, {}, one.name).split("+")
                if not one.guarded or stated.isdisjoint(why):
                    found[path][one] = next((r for r in why if r in removes), UNREACHABLE)
    # What a module has lost, those that take all of its names have lost, too; such imports may stand in a row.
    paths_of = {folded[path].module: path for path in before}
    stars = [(path, one) for path in before for one in before[path] if one.kind == "star" and one.name in paths_of]
    for path, star in stars * len(stars):
        known = {one.name for one in found.get(path, ())} | left[path]
        for one, rule in list(found.get(paths_of[star.name], {}).items()):
            if one.name not in known:
                found[path][Definition(one.name, "import", star.line, star.end_line)] = rule
    return found


def feature_of(rules: Ruleset, rule: str) -> str:
    """What a rule takes away, in words; empty for ``unreachable`` and what is no rule of the profile."""
    ids = set(rule.split("+"))
    named = [r.feature for r in rules.removes if r.id in ids] + [r.feature for r in rules.refusals if r.id in ids]
    return named[0] if named else ""
