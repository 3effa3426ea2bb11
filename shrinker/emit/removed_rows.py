"""Rows of the tables in `sglang/removed_features.py`: endpoints that a generated server no longer has, flags and choices that command lines no
longer have, and public names that kept modules have lost.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping

from shrinker.cache import Cache
from shrinker.emit.removed_features import Endpoint, Option
from shrinker.program.definitions import Definition, public_definitions
from shrinker.program.interface.endpoints import Endpoint as Served
from shrinker.program.interface.endpoints import served_by
from shrinker.program.interface.reasons import feature_of, rule_of
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import name_matches
from shrinker.values.edits import Refuse
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import UNREACHABLE, Graph
from shrinker.values.interface import UNEXPLAINED, Interface
from shrinker.values.upstream import UpstreamTree


def removed_endpoints(
    before: Syntax, after: Syntax, rules: Ruleset, folded: Mapping[str, FoldedModule], graph: Graph
) -> list[Endpoint]:
    """Endpoints of upstream that a kept application no longer has, sorted.

    What is computed, a socket, and what no rule took away are left out: they are not in the table, and answer as any
    path that a server does not have.

    Args:
        before: modules of upstream.
        after: modules of the generated tree.
    """
    places = sorted(
        {
            (folded[path].module, edit.place)
            for path in graph.kept
            if path in folded
            for edit in folded[path].edits
            if isinstance(edit, Refuse) and any(name_matches(rule.function, edit.place) for rule in rules.answers)
        }
    )
    if not places:
        return []
    found: dict[tuple[str, str, str, str, str], set[str]] = {}
    for module, place in places:
        left = {(e.path, e.method, e.environment) for e in served_by(after, module)}
        for e in served_by(before, module):
            plain = e.method not in {"*", "WEBSOCKET"} and (e.path.startswith("/") or (not e.path and e.environment))
            if plain and (e.path, e.method, e.environment) not in left and (rule := _rule(before, e, folded, graph)):
                found.setdefault((place, e.path, e.environment, feature_of(rules, rule), rule), set()).add(e.method)
    return sorted(
        Endpoint(place, path, environment, tuple(sorted(methods)), feature, rule)
        for (place, path, environment, feature, rule), methods in found.items()
    )


def _rule(syntax: Syntax, endpoint: Served, folded: Mapping[str, FoldedModule], graph: Graph) -> str:
    path = syntax.paths[endpoint.module]
    tree = syntax.tree(endpoint.module)
    return rule_of(path, endpoint.line, endpoint.end_line, folded, graph.removed, tree=tree)


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

    Args:
        tree: upstream.
        folded: folded modules by path.
        written: SHA-256 of each module of the tree that was rewritten, by path.
        read: bytes of such a module.
        cache: of earlier runs.
    """
    paths = [path for path in sorted(written) if path in folded]
    before = public_definitions({path: tree.by_path[path].sha256 for path in paths}, tree.read, cache)
    after = public_definitions({path: written[path] for path in paths}, read, cache)
    removes = {rule.id for rule in rules.removes}
    stated = {rule.id for rule in rules.all_rules()}.difference(removes)
    found: dict[str, dict[Definition, str]] = {}
    left = {path: {one.name for one in after[path]} for path in paths}
    for path in paths:
        for one in before[path]:
            if one.name not in left[path] and one.kind != "star":
                why = rule_of(path, one.line, one.end_line, folded, {}, one.name).split("+")
                if not one.guarded or stated.isdisjoint(why):
                    found.setdefault(path, {})[one] = next((r for r in why if r in removes), UNREACHABLE)
    _hand_on(found, before, left, folded)
    return found


def _hand_on(
    found: dict[str, dict[Definition, str]],
    before: Mapping[str, Iterable[Definition]],
    left: Mapping[str, Collection[str]],
    folded: Mapping[str, FoldedModule],
) -> None:
    """What a module has lost, those that take all of its names have lost, too; such imports may stand in a row."""
    paths = {folded[path].module: path for path in before}
    stars = [(path, one) for path, names in before.items() for one in names if one.kind == "star" and one.name in paths]
    more = True
    while more:
        more = False
        for path, star in stars:
            known = {one.name for one in found.get(path, ())} | set(left[path])
            for one, rule in list(found.get(paths[star.name], {}).items()):
                if one.name not in known:
                    handed = Definition(one.name, "import", star.line, star.end_line)
                    found.setdefault(path, {})[handed] = rule
                    more = True


def dotted_names(
    lost: Mapping[str, Mapping[Definition, str]], folded: Mapping[str, FoldedModule]
) -> Iterable[tuple[str, str]]:
    """The names below their modules, with the rule."""
    return ((f"{folded[path].module}.{one.name}", rule) for path, names in lost.items() for one, rule in names.items())
