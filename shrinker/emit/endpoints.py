"""Which endpoints a generated server no longer has: rows of the table in `sglang/removed_features.py`."""

from __future__ import annotations

from collections.abc import Mapping

from shrinker.emit import removed_features
from shrinker.program.interface.endpoints import Endpoint, served_by
from shrinker.program.interface.reasons import feature_of, rule_of
from shrinker.program.interface.syntax import Syntax
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import name_matches
from shrinker.values.edits import Refuse
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph


def removed_endpoints(
    before: Syntax, after: Syntax, rules: Ruleset, folded: Mapping[str, FoldedModule], graph: Graph
) -> list[removed_features.Endpoint]:
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
        removed_features.Endpoint(place, path, environment, tuple(sorted(methods)), feature, rule)
        for (place, path, environment, feature, rule), methods in found.items()
    )


def _rule(syntax: Syntax, endpoint: Endpoint, folded: Mapping[str, FoldedModule], graph: Graph) -> str:
    path = syntax.paths[endpoint.module]
    tree = syntax.tree(endpoint.module)
    return rule_of(path, endpoint.line, endpoint.end_line, folded, graph.removed, tree=tree)
