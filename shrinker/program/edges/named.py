"""What rules name by hand: `[[root]]` and `[[keep]]`.

A pattern over modules names exactly what it matches: ``sglang.x`` the module, ``sglang.x.**`` all below it. A pattern
over paths names a file or a folder with all below it.
"""

from collections.abc import Iterator, Sequence

from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import module_node, path_node
from shrinker.ruleset import Keep, Root, path_matches
from shrinker.ruleset.match import name_matches


def named_modules(pattern: str, index: ModuleIndex) -> list[str]:
    """Modules of the tree that a root or keep pattern names, sorted."""
    if "*" not in pattern:
        return [pattern] if pattern in index.paths else []
    return [name for name in sorted(index.paths) if name_matches(pattern, name)]


def rule_targets(rule: Root | Keep, index: ModuleIndex, paths: Sequence[str]) -> Iterator[str]:
    """Nodes that the rule names, of all paths of the tree."""
    for pattern in rule.modules:
        yield from map(module_node, named_modules(pattern, index))
    # Most patterns start with a literal folder, most paths are elsewhere.
    heads = tuple(pattern.partition("*")[0].rstrip("/") for pattern in rule.paths)
    for path in paths:
        if path.startswith(heads) and any(path_matches(pattern, path) for pattern in rule.paths):
            yield path_node(path)
