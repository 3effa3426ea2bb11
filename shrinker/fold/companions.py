"""Fold packages that travel beside the one that is served, such as the Python of its kernel library.

Which files of them are kept is for `root` and `keep` rules: here only their branches are decided, by the same facts. They
see the served package; it does not see them, so that a release, which comes without them, gives the same Python as its
commit.
"""

from collections.abc import Collection, Mapping

from shrinker.facts.build import outline_file
from shrinker.facts.environment import Environment
from shrinker.facts.outline import Outline
from shrinker.fold.module import fold_source
from shrinker.values.edits import Span
from shrinker.values.folded import FoldedModule, Refinement
from shrinker.values.upstream import UpstreamTree, module_name


def fold_companions(
    tree: UpstreamTree,
    environment: Environment,
    kept: Collection[str],
    dead: Mapping[str, frozenset[Span]] | None = None,
) -> dict[str, FoldedModule]:
    """Folded modules of the companions that the rules name, by path, sorted.

    Args:
        tree: upstream.
        environment: the closed world of the served package.
        kept: paths of all kept files.
        dead: statements and imported names that nothing names, by path; of the other modules the units are collected.
    """
    names: dict[str, str] = {}
    for rule in environment.rules.companions:
        around, _, _ = rule.folder.rpartition("/")
        for path in kept:
            if path.startswith(rule.folder + "/") and path.endswith(".py"):
                dotted = path[len(around) + bool(around) : -len(".py")].replace("/", ".")
                names[path] = dotted.removesuffix(".__init__")
    if not names:
        return {}
    outlines: dict[str, Outline] = {}
    # Tests and benchmarks beside a companion import from it: what they ask for stays.
    for path in sorted(p for p in kept if p.endswith(".py") and module_name(p) is None):
        name = names.get(path, path.removesuffix(".py").replace("/", "."))
        # One that does not parse stays as it is.
        if (found := outline_file(tree.root, path, name)) is not None:
            outlines[name] = found
    own = {part for name in names.values() for part in (name, name.rpartition(".")[0]) if part}
    known = {**environment.outlines, **outlines}
    world = Environment(environment.rules, known, environment.modules | own, environment.rescued)
    folded: dict[str, FoldedModule] = {}
    for path, name in sorted(names.items()):
        if name in outlines:
            refinement = Refinement(dead=(dead or {}).get(path, frozenset()))
            folded[path] = fold_source(path, name, path.endswith("/__init__.py"), tree.read(path), world, refinement)
    return folded
