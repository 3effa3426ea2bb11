"""The frontier search: from the roots outwards in waves, folding each wave of modules at once.

Subtle: walks and star imports depend on what is kept so far, so that they are looked at again after every wave.
"""

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

IMPORTS_REMOVED = "imports removed module"
"""How the reason starts when kept code still imports a module that a `[[remove]]` rule took."""


class Search:
    """What is known while the search runs: edges, the nodes they reach, the folded modules."""

    def __init__(self, index: ModuleIndex, paths: Sequence[str], rules: Ruleset, removed: Mapping[str, Remove]) -> None:
        self.index = index
        self.edges: dict[Edge, str] = {}
        """Every edge to why it is weak, ``""`` for a sure one."""
        self.reached: set[str] = set()
        self.modules: dict[str, FoldedModule] = {}
        self.problems: list[Uncertain] = []
        self._paths = paths
        self.rules = rules
        self.removed = removed
        self._frontier: list[str] = []
        self._importers: dict[str, list[str]] = {}
        self._stars: set[str] = set()
        self._strings = StringEdges(index)
        self.registry = RegistryEdges(self._strings)

    def add(self, src: str, path: str, found: Found) -> None:
        """Record an edge unless a rule removed its target."""
        if found.dst == src:
            return
        target = self.path(found.dst)
        rule = self.removed.get(target) if target is not None else None
        if rule is not None:
            if found.kind in IMPORT_KINDS:
                reason = f"{IMPORTS_REMOVED} {found.dst.partition(':')[2]} ({found.kind}; rule {rule.id})"
                self.problems.append(Uncertain(path, found.line, reason))
            return
        edge = Edge(src, found.dst, found.kind, path, found.line)
        if self.edges.get(edge) != "":
            self.edges[edge] = found.weak
        if found.dst not in self.reached:
            self.reached.add(found.dst)
            if found.dst.startswith("module:"):
                self._frontier.append(found.dst[len("module:") :])

    def run(self, fold: Fold) -> None:
        """Search until nothing new is reached."""
        self._start()
        while self._frontier:
            wave, self._frontier = sorted(self._frontier), []
            by_path = {item.path: item for item in fold([self.index.paths[name] for name in wave])}
            for name in wave:
                path = self.index.paths[name]
                if path not in by_path:
                    raise ShrinkerError(f"{path}: folding returned nothing", "report this as a defect of shrinker")
                self._visit(name, by_path[path])
            for origin, found in walk_edges(self.modules, self._importers, self.rules.walked(), self.index):
                self.add(module_node(origin), self.index.paths[origin], found)
            for package in sorted(self._stars):
                if package in self.modules:
                    for found in star_edges(self.modules[package], self.index):
                        self.add(module_node(package), self.index.paths[package], found)
            for module, found in self.registry.find():
                self.add(module_node(module.module), module.path, found)

    def _start(self) -> None:
        for kind, rules in (("root", self.rules.roots), ("keep", self.rules.keeps)):
            for rule in rules:
                for node in rule_targets(rule, self.index, self._paths):
                    self.add(f"root:{rule.id}", "", Found(node, kind, 0))
        for api in self.rules.apis:
            for module in api.modules:
                if module in self.index.paths:
                    self.add(f"root:{api.id}", "", Found(module_node(module), "api", 0))

    def _visit(self, name: str, module: FoldedModule) -> None:
        self.modules[name] = module
        src = module_node(name)
        for found in import_edges(module, self.index):
            self.add(src, module.path, found)
            if found.dst.startswith("module:"):
                importers = self._importers.setdefault(found.dst[len("module:") :], [])
                if not importers or importers[-1] != name:
                    importers.append(name)
        for mechanism in (
            package_edges(name, self.index),
            self._strings.find(module),
            external_edges(module),
            kernel_edges(module),
        ):
            for found in mechanism:
                self.add(src, module.path, found)
        self.registry.read(module)
        for site in module.imports:
            if site.name == "*" and site.module in self.index.packages:
                self._stars.add(site.module)

    def path(self, node: str) -> str | None:
        """Path of the module or file that a node is; None for what is neither."""
        if node.startswith("module:"):
            return self.index.paths[node[len("module:") :]]
        return node_path(node)


_MODULE = "module:"


def import_leads(tree: UpstreamTree, rules: Ruleset) -> Callable[[FoldedModule], list[str]]:
    """A function that gives the paths that a kept module's imports make reachable, in order.

    Only what is certain: strings, walks and rescued modules are left to the search.

    Args:
        tree: upstream.
        rules: of the profile; what they remove is not reached.
    """

    @cache
    def known() -> tuple[ModuleIndex, dict[str, Remove]]:
        # Only when something is folded: a run that finds all it needs does not ask.
        paths = [file.path for file in tree.files]
        return ModuleIndex(paths), removed_by_rule(paths, rules.removes)

    def leads(module: FoldedModule) -> list[str]:
        index, removed = known()
        named = [found.dst[len(_MODULE) :] for found in import_edges(module, index) if found.dst.startswith(_MODULE)]
        found = [index.paths[name] for name in named]
        for name in named:
            if index.paths[name] not in removed:
                found += [index.paths[e.dst[len(_MODULE) :]] for e in package_edges(name, index)]
        return [path for path in dict.fromkeys(found) if path not in removed]

    return leads
