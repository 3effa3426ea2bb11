"""The graph phase: from the roots outwards in waves, folding each wave of modules at once, to what
is kept, removed and uncertain, with the files that kept modules load.

Subtle: walks and star imports depend on what is kept so far, so that they are looked at again after
every wave.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

from shrinker.program.edges.data import DataEdges, included
from shrinker.program.edges.modules import (
    import_edges,
    outside_edges,
    rule_targets,
    star_edges,
    walk_edges,
)
from shrinker.program.edges.strings import DYNAMIC, StringEdges
from shrinker.program.nodes import Found, ModuleIndex, file_node, module_node, path_node, suffix
from shrinker.program.reasons import first_reasons
from shrinker.program.removals import removed_by_rule
from shrinker.ruleset import Remove, Ruleset
from shrinker.source.crates import built_from, modules_by_file
from shrinker.syntax.native.conditionals import without_refuted
from shrinker.values.errors import ShrinkerError
from shrinker.values.folded import FoldedModule, LeakedUse, Uncertain
from shrinker.values.graph import UNREACHABLE, Edge, Graph, Removal
from shrinker.values.upstream import COMPILED, PACKAGE_PREFIX, UpstreamTree

Fold = Callable[[Sequence[str]], Iterable[FoldedModule]]
"""Folds Python paths, in any order; one value a path."""
IMPORT_KINDS = frozenset({"import", "import-local", "import-type", "package"})
_MODULE = "module:"
_BINARY = frozenset({"so", "pyd", "dylib", "cubin", "fatbin"})


class FileGraph:
    """Reachability over the files of one tree, by some rules: built anew whenever folded modules
    change.
    """

    def __init__(self, tree: UpstreamTree, rules: Ruleset) -> None:
        self.tree, self.rules = tree, rules
        self.paths = [file.path for file in tree.files]

    @cached_property
    def index(self) -> ModuleIndex:
        """Modules of the tree."""
        return ModuleIndex(self.paths, modules_by_file(self.paths, self.tree.read))

    @cached_property
    def removed(self) -> Mapping[str, Remove]:
        """Paths that a rule takes."""
        return removed_by_rule(self.paths, self.rules.removes)

    def leads(self, module: FoldedModule) -> list[str]:
        """Return paths that a kept module's imports make reachable, in order.

        Only what is certain: strings, walks and rescued modules are left to the search.
        """
        paths = self.index.paths
        found = (edge.dst for edge in import_edges(module, self.index))
        named = [_named(node) for node in found if node.startswith(_MODULE)]
        around = [
            parent
            for name in named
            if paths[name] not in self.removed
            for parent in self.index.parents(name)
        ]
        return [
            path
            for path in dict.fromkeys(paths[name] for name in (*named, *around))
            if path not in self.removed
        ]

    def build(
        self, fold: Fold, rescued: Mapping[str, tuple[str, LeakedUse]] | None = None
    ) -> tuple[Graph, dict[str, FoldedModule]]:
        """Decide for every file of the tree whether it is kept: the graph, and the folded module of
        every kept Python file of the package by path, sorted; `fold` is called with whole waves of
        the search. The modules that are `rescued` stay although a rule removes them, since the code
        at that path runs one of their names, and with them the packages above. Raises
        ShrinkerError: `fold` did not return one of the paths it was given.
        """
        search = _Search(self)
        rescues = search.rescue(rescued or {})
        search.run(fold)
        search.add_files()
        first, doubtful = first_reasons(search.edges)
        kept = {
            path: edge.reason
            for node, edge in first.items()
            if (path := search.path(node)) is not None
        }
        doubts = ((search.path(node), reason) for node, reason in doubtful.items())
        reasons = (*((path, reason) for path, reason in rescues.items() if path in kept), *doubts)
        modules = sorted(search.modules.values(), key=lambda module: module.path)
        uncertain = {
            item for module in modules for item in (*module.uncertain, *_undecided_sites(module))
        }
        uncertain.update(
            search.problems,
            (Uncertain(path, 0, reason) for path, reason in reasons if path is not None),
        )
        graph = Graph(
            edges=tuple(sorted(search.edges)),
            kept=dict(sorted(kept.items())),
            removed=dict(search.removals(kept)),
            uncertain=tuple(sorted(uncertain)),
        )
        return graph, {module.path: module for module in modules}


def _undecided_sites(module: FoldedModule) -> Iterator[Uncertain]:
    """Yield imports of computed names, for which nothing is kept beyond what the strings beside
    them name.
    """
    for site in module.dynamic:
        if site.mechanism in DYNAMIC and not (site.target or "").strip("*."):
            yield Uncertain(module.path, site.line, f"imports a computed name: `{site.text}`")


class _Search:
    """What is known while the search runs: edges, the nodes they reach, the folded modules."""

    def __init__(self, files: FileGraph) -> None:
        self._tree, self._rules, self._paths = files.tree, files.rules, files.paths
        self._index, self._removed = files.index, dict(files.removed)
        self.edges: dict[Edge, str] = {}
        """Every edge to why it is weak, ``""`` for a sure one."""
        self._reached: set[str] = set()
        self.modules: dict[str, FoldedModule] = {}
        self.problems: list[Uncertain] = []
        self._importers = defaultdict[str, set[str]](set)
        self._stars: set[str] = set()
        self._compiled: set[str] = set()
        """Nodes of the compiled modules whose texts were read."""
        self._strings = StringEdges(self._index)

    def rescue(self, rescued: Mapping[str, tuple[str, LeakedUse]]) -> dict[str, str]:
        """Let modules stay that a rule removes; path of each to the reason."""
        reasons: dict[str, str] = {}
        for name, (path, use) in sorted(rescued.items()):
            for module in (name, *self._index.parents(name)):
                own = self._index.paths.get(module, "")
                if (rule := self._removed.pop(own, None)) is not None:
                    reasons[own] = (
                        f"rule {rule.id} would remove it, but `{use.name}` is used at "
                        f"{path}:{use.line}"
                    )
        return reasons

    def run(self, fold: Fold) -> None:
        """Search until no new module is reached."""
        self._start()
        while wave := sorted(
            {_named(n) for n in self._reached if n.startswith(_MODULE)} - self.modules.keys()
        ):
            by_path = {item.path: item for item in fold([self._index.paths[name] for name in wave])}
            for path in (self._index.paths[name] for name in wave):
                if path not in by_path:
                    raise ShrinkerError(
                        f"{path}: folding returned nothing", "report this as a defect of shrinker"
                    )
                self._visit(by_path[path])
            for origin, found in walk_edges(
                self.modules, self._importers, self._rules.walked(), self._index
            ):
                self._add_to(self.modules[origin], [found])
            for package in self._stars & self.modules.keys():
                self._add_to(self.modules[package], star_edges(self.modules[package], self._index))
            for module, _, found in self._strings.asked():
                self._add_to(module, [found])
            self._read_compiled()

    def _read_compiled(self) -> None:
        """Add the edges of compiled modules that were reached since the last time."""
        for path in self._index.compiled.values():
            node = file_node(path)
            if node in self._reached and node not in self._compiled:
                self._compiled.add(node)
                self._add(
                    node,
                    path,
                    (
                        Found(path_node(each), "include", 0)
                        for each in built_from(path, self._paths)
                    ),
                )
                if path.endswith(COMPILED):
                    self._add(node, path, self._strings.find_compiled(path, self._tree.read(path)))

    def _start(self) -> None:
        for kind, rules in (("root", self._rules.roots), ("keep", self._rules.keeps)):
            for rule in rules:
                nodes = rule_targets(rule, self._index, self._paths)
                self._add(f"root:{rule.id}", "", (Found(node, kind, 0) for node in nodes))
        for api in self._rules.apis:
            known = (module for module in api.modules if module in self._index.paths)
            self._add(
                f"root:{api.id}", "", (Found(module_node(module), "api", 0) for module in known)
            )

    def _visit(self, module: FoldedModule) -> None:
        self.modules[module.module] = module
        imported = [*import_edges(module, self._index)]
        for found in imported:
            self._importers[_named(found.dst)].add(module.module)
        # Importing a module runs the `__init__` of each package above it.
        packages = (
            Found(module_node(parent), "package", 1)
            for parent in self._index.parents(module.module)
        )
        self._add_to(
            module, (*imported, *packages, *self._strings.find(module), *outside_edges(module))
        )
        self._stars |= {
            s.module for s in module.imports if s.name == "*" and s.module in self._index.packages
        }

    def _add_to(self, module: FoldedModule, found: Iterable[Found]) -> None:
        self._add(module_node(module.module), module.path, found)

    def _add(self, src: str, path: str, found: Iterable[Found]) -> None:
        """Record edges, but for those whose target a rule removed."""
        for each in found:
            if each.dst == src:
                continue
            rule = self._removed.get(self.path(each.dst) or "")
            if rule is None:
                edge = Edge(src, each.dst, each.kind, path, each.line)
                if self.edges.get(edge) != "":
                    self.edges[edge] = each.weak
                self._reached.add(each.dst)
            elif each.kind in IMPORT_KINDS:
                reason = (
                    f"imports removed module {each.dst.partition(':')[2]} ({each.kind}; rule "
                    f"{rule.id})"
                )
                self.problems.append(Uncertain(path, each.line, reason))

    def path(self, node: str) -> str | None:
        """Return path of the module or file that a node is; None for what is neither."""
        kind, _, name = node.partition(":")
        if kind == "module":
            return self._index.paths[name]
        return name if kind in ("native", "data") else None

    def add_files(self) -> None:
        """Add the edges to data files and native sources of the package, transitively, once the
        modules are found; files outside the package are kept by rules alone.
        """
        own = (
            path
            for path in self._paths
            if path.startswith(PACKAGE_PREFIX) and not path.endswith(".py")
        )
        data = DataEdges(path for path in own if path not in self._removed)
        seen: set[str] = set()
        prefix = "native:" + PACKAGE_PREFIX
        for mechanism in (data.find, partial(data.find_in_folders, reached=self._reached)):
            # All are found before one is added, so that the order of the modules makes no
            # difference.
            for module, named in [
                (module, [*mechanism(module)]) for module in self.modules.values()
            ]:
                self._add_to(module, named)
            while frontier := sorted(
                node for node in self._reached - seen if node.startswith(prefix)
            ):
                seen.update(frontier)
                for path in (node.removeprefix("native:") for node in frontier):
                    if suffix(path) not in _BINARY:
                        text = without_refuted(self._tree.read(path), self._rules.undefined).decode(
                            "utf-8", "replace"
                        )
                        found = included(text, path.rpartition("/")[0], data.by_base)
                        self._add(
                            file_node(path),
                            path,
                            (Found(file_node(each), "include", line) for each, line in found),
                        )

    def removals(self, kept: Mapping[str, str]) -> Iterator[tuple[str, Removal]]:
        """Yield why each file goes that is not kept, by path, sorted."""
        unasked: dict[str, Removal] = {}
        for module, site, edge in self._strings.left():
            place = f"{module.path}:{site.line}"
            reason = (
                f"only the row of {site.key!r} names it ({place}), and no kept code asks for that"
            )
            unasked.setdefault(self.path(edge.dst) or "", Removal(site.rule, reason))
        for path in sorted(path for path in self._paths if path not in kept):
            if (rule := self._removed.get(path)) is not None:
                yield path, Removal(rule.id, f"removed feature: {rule.feature}")
            elif path in unasked:
                yield path, unasked[path]
            elif not path.startswith(PACKAGE_PREFIX):
                yield (
                    path,
                    Removal(UNREACHABLE, "out of scope: outside the package and named by no rule"),
                )
            else:
                imported = "module imports or" if path.endswith(".py") else "module or source"
                yield path, Removal(UNREACHABLE, f"no kept {imported} names it")


def _named(node: str) -> str:
    return node.removeprefix(_MODULE)
