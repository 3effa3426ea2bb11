"""Names and modules that rules speak of, that an upstream they were written for has, and that another one no longer has.

An optional rule, or one of several names of a rule, may lose its match without a word in strict mode. What was renamed is
then no longer decided: what is new where the old name was defined may be it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from shrinker.report.effects import names_of, places_of
from shrinker.ruleset import Rule, Ruleset
from shrinker.ruleset.match import module_matches, path_matches
from shrinker.ruleset.models import Keep, Remove, Root, Walk
from shrinker.values.upstream import UpstreamTree, module_name

_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_MOST = 5


Fresh = Sequence[tuple[str, str]]
"""Definitions that are new in the file that defined a name, each with ``path:line``."""


def lost_names(rules: Ruleset, tree: UpstreamTree, before: UpstreamTree) -> Iterator[tuple[str, str, str, Fresh]]:
    """Names that `before` has and `tree` has not, in the order of the rules: rule, pattern, ``path:line`` in `before` (of a module its path)."""
    patterns = sorted({name for rule in rules.all_rules() for name in names_of(rule)})
    known = places_of(before, patterns)
    here = places_of(tree, known)
    gone = {pattern: place for pattern, place in known.items() if pattern not in here}
    fresh = _fresh({_last(pattern) for pattern in gone}, tree, before)
    for rule in rules.all_rules():
        for name in dict.fromkeys(name for name in names_of(rule) if name in gone):
            yield rule.id, name, gone[name], fresh.get(_last(name), ())
        for pattern, was in _modules(rule, tree, before):
            yield rule.id, pattern, was, ()


def _modules(rule: Rule, tree: UpstreamTree, before: UpstreamTree) -> Iterator[tuple[str, str]]:
    modules, paths = tuple[str, ...](), tuple[str, ...]()
    match rule:
        case Root(optional=False):
            # Strict mode tells of its modules.
            paths = rule.paths
        case Root() | Keep() | Remove():
            modules, paths = rule.modules, rule.paths
        case Walk():
            modules = (rule.package,)
    for matches, patterns in ((_module_matches, modules), (path_matches, paths)):
        for pattern in patterns:
            was = next((file.path for file in before.files if matches(pattern, file.path)), None)
            if was is not None and not any(matches(pattern, file.path) for file in tree.files):
                yield pattern, was


def _module_matches(pattern: str, path: str) -> bool:
    return module_matches(pattern, module_name(path) or "")


def _last(pattern: str) -> str:
    return pattern.replace("()", "").rpartition(".")[2]


def _fresh(names: set[str], tree: UpstreamTree, before: UpstreamTree) -> dict[str, Fresh]:
    """What is defined anew in the files that defined some names, by name."""
    found: dict[str, Fresh] = defaultdict(tuple)
    for path, file in before.by_path.items() if names else ():
        now = tree.by_path.get(path)
        if now is None or now.sha256 == file.sha256 or not path.endswith(".py"):
            continue
        old = _defined(before, path)
        if here := names & old.keys():
            more = [(name, place) for name, place in _defined(tree, path).items() if name not in old]
            found |= {name: (*found[name], *more)[:_MOST] for name in here}
    return found


def _defined(tree: UpstreamTree, path: str) -> dict[str, str]:
    """Functions and classes of a file, each with its first place."""
    rows = enumerate(tree.read(path).decode("utf-8", "replace").split("\n"), 1)
    found: dict[str, str] = {}
    for line, row in rows:
        if (definition := _DEFINITION.match(row)) is not None:
            found.setdefault(definition[1], f"{path}:{line}")
    return found
