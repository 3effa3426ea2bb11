"""Public names that kept modules have lost, and why: the generated tree answers for them with the named error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from shrinker.cache import Cache
from shrinker.program.definitions import Definition, public_definitions
from shrinker.program.interface.reasons import rule_of
from shrinker.ruleset import Ruleset
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import UNREACHABLE
from shrinker.values.upstream import UpstreamTree


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


def words_of(
    lost: Mapping[str, Mapping[Definition, str]], folded: Mapping[str, FoldedModule]
) -> Iterable[tuple[str, str]]:
    """Words of the table and their rule: each module once for a rule, with a colon, before its names."""
    for path, names in lost.items():
        for rule in sorted(set(names.values())):
            yield f"{folded[path].module}:", rule
            for name in sorted(one.name for one, why in names.items() if why == rule):
                yield name, rule
