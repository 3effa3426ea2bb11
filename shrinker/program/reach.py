"""The frontier search: from the roots outwards in waves, folding each wave of modules at once.

Subtle: walks and star imports depend on what is kept so far, so that they are looked at again after every wave.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from shrinker.program.edges.external import external_edges, kernel_edges
from shrinker.program.edges.imports import import_edges, package_edges, star_edges
from shrinker.program.edges.named import rule_targets
from shrinker.program.edges.registry import RegistryEdges
from shrinker.program.edges.strings import StringEdges
from shrinker.program.edges.walks import walk_edges
from shrinker.program.modules import ModuleIndex
from shrinker.program.nodes import Found, module_node, node_path
from shrinker.program.removals import removed_by_rule
from shrinker.ruleset import Remove, Ruleset
from shrinker.values.errors import ShrinkerError
from shrinker.values.folded import FoldedModule, Uncertain
from shrinker.values.graph import Edge
from shrinker.values.upstream import UpstreamTree

Fold = Callable[[Sequence[str]], Iterable[FoldedModule]]
"""Folds Python paths, in any order; one value a path."""
IMPORT_KINDS = frozenset({"import", "import-local", "import-type", "package"})
_MODULE = "module:"


class Search:
    """What is known while the search runs: edges, the nodes they reach, the folded modules."""

    def __init__(self, index: ModuleIndex, paths: Sequence[str], rules: Ruleset, removed: Mapping[str, Remove]) -> None:
        self.index, self.rules, self.removed, self._paths = index, rules, removed, paths
        self.edges: dict[Edge, str] = {}
        """Every edge to why it is weak, ``""`` for a sure one."""
        self.reached: set[str] = set()
        self.modules: dict[str, FoldedModule] = {}
        self.problems: list[Uncertain] = []
        self._importers = defaultdict[str, set[str]](set)
        self._stars: set[str] = set()
        self._strings = StringEdges(index)
        self.registry = RegistryEdges(self._strings)

    def add(self, src: str, path: str, found: Iterable[Found]) -> None:
        """Record edges, but for those whose target a rule removed."""
        for each in found:
            if each.dst == src:
                continue
            rule = self.removed.get(self.path(each.dst) or "")
            if rule is None:
                edge = Edge(src, each.dst, each.kind, path, each.line)
                if self.edges.get(edge) != "":
                    self.edges[edge] = each.weak
                self.reached.add(each.dst)
            elif each.kind in IMPORT_KINDS:
                reason = f"imports removed module {each.dst.partition(':')[2]} ({each.kind}; rule {rule.id})"
                self.problems.append(Uncertain(path, each.line, reason))

    def run(self, fold: Fold) -> None:
        """Search until nothing new is reached."""
        self._start()
        while wave := self._frontier():
            by_path = {item.path: item for item in fold([self.index.paths[name] for name in wave])}
            for path in (self.index.paths[name] for name in wave):
                if path not in by_path:
                    raise ShrinkerError(f"{path}: folding returned nothing", "report this as a defect of shrinker")
                self._visit(by_path[path])
            for origin, found in walk_edges(self.modules, self._importers, self.rules.walked(), self.index):
                self._add(self.modules[origin], [found])
            for package in self._stars & self.modules.keys():
                self._add(self.modules[package], star_edges(self.modules[package], self.index))
            for module, _, found in self.registry.find():
                self._add(module, [found])

    def _start(self) -> None:
        for kind, rules in (("root", self.rules.roots), ("keep", self.rules.keeps)):
            for rule in rules:
                nodes = rule_targets(rule, self.index, self._paths)
                self.add(f"root:{rule.id}", "", (Found(node, kind, 0) for node in nodes))
        for api in self.rules.apis:
            known = (module for module in api.modules if module in self.index.paths)
            self.add(f"root:{api.id}", "", (Found(module_node(module), "api", 0) for module in known))

    def _frontier(self) -> list[str]:
        """Modules that are reached and were not visited."""
        return sorted({_named(node) for node in self.reached if node.startswith(_MODULE)} - self.modules.keys())

    def _add(self, module: FoldedModule, found: Iterable[Found]) -> None:
        self.add(module_node(module.module), module.path, found)

    def _visit(self, module: FoldedModule) -> None:
        self.modules[module.module] = module
        imported = [*import_edges(module, self.index)]
        for found in imported:
            self._importers[_named(found.dst)].add(module.module)
        named = (*package_edges(module.module, self.index), *self._strings.find(module))
        self._add(module, (*imported, *named, *external_edges(module), *kernel_edges(module)))
        self.registry.read(module)
        self._stars |= {s.module for s in module.imports if s.name == "*" and s.module in self.index.packages}

    def path(self, node: str) -> str | None:
        """Path of the module or file that a node is; None for what is neither."""
        return self.index.paths[_named(node)] if node.startswith(_MODULE) else node_path(node)


def _named(node: str) -> str:
    return node.removeprefix(_MODULE)


def import_leads(tree: UpstreamTree, rules: Ruleset) -> Callable[[FoldedModule], list[str]]:
    """A function that gives the paths that a kept module's imports make reachable, in order.

    Only what is certain: strings, walks and rescued modules are left to the search.
    """

    @cache
    def known() -> tuple[ModuleIndex, dict[str, Remove]]:
        # Only when something is folded: a run that finds all it needs does not ask.
        paths = [file.path for file in tree.files]
        return ModuleIndex(paths), removed_by_rule(paths, rules.removes)

    def leads(module: FoldedModule) -> list[str]:
        index, removed = known()
        named = [_named(found.dst) for found in import_edges(module, index)]
        around = [parent for name in named if index.paths[name] not in removed for parent in index.parents(name)]
        paths = dict.fromkeys(index.paths[name] for name in (*named, *around))
        return [path for path in paths if path not in removed]

    return leads
