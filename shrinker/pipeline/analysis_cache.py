"""The analysis of an earlier run, used again where nothing that it looked at says anything else.

Most commits of upstream touch no kept module: documents, tests, removed models. Then all that was decided holds, and only the
written tree and its reports are made again. What an analysis looks at, and what must be equal of it:

- the rules and the tool: everything (they are part of the key);
- the paths of the package: everything (the key), but for modules that rules remove: one may come or go where nobody writes its
  name; those outside that a rule names: the graph of files is built again where one came or went;
- the outlines of modules that no rule removes: what they can answer (the key, by way of the closed world's identity);
- kept files that are no modules: includes, words that a round asked for, and what Python that imports the tree writes
  (`beside.py`);
- companions: they are folded again;
- folded modules: what they fold to in every step, and what the search of symbols reads in their text;
- modules that rules remove: the names that they import from the tree, as far as a folded module writes them;
- all modules: which public methods they name, where nothing that is kept does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from shrinker.cache import Cache, hash_of, pack, unpack
from shrinker.emit.workers import load_rewriting
from shrinker.fold.engine import FoldEngine
from shrinker.fold.propagate.surroundings import asked_names
from shrinker.fold.reuse import FoldedAgain
from shrinker.pipeline.external_inputs import Beside, Written
from shrinker.pipeline.kept import Analysed, Kept
from shrinker.pipeline.rebase import Carry, with_places
from shrinker.program.build import build_graph, removals
from shrinker.program.edges.assets import matching_paths
from shrinker.program.removals import removed_by_rule
from shrinker.program.symbols.dead import Place, named_again
from shrinker.program.symbols.removed_code import spelled
from shrinker.ruleset import Asset, Keep, Root, Ruleset
from shrinker.ruleset.match import name_matches
from shrinker.values.folded import Escape, FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree, module_name


class AnalysisMemory:
    """Finds the last analysis with the same key, or keeps a new one."""

    def __init__(self, tree: UpstreamTree, rules: Ruleset, engine: FoldEngine, cache: Cache, *more: str) -> None:
        """
        Args:
            tree: upstream.
            rules: of the profile.
            engine: folds what changed.
            cache: of earlier runs.
            more: what else the analysis depends on.
        """
        self._tree = tree
        self._rules = rules
        self._engine = engine
        self._cache = cache
        self._seen: set[str] = set()
        if cache.enabled:
            self._layer = cache.layer("analyses", rules.model_dump_json(), *more)
            declared = repr((tree.declared.name, sorted(tree.declared.scripts.items())))
            inside = [
                file.path
                for file in tree.files
                if file.path.startswith(PACKAGE_PREFIX) and not engine.removes(module_name(file.path))
            ]
            self._key = self._layer.key(engine.world_identity, "\n".join(inside), declared)
            self._beside = Beside(tree, cache)
            self._named = self._named_outside()

    def saw(self, graph: Graph) -> None:
        """A step of the analysis kept these files."""
        self._seen.update(path for path in graph.kept if module_name(path) is None)

    def recall(self, stack: ExitStack | None = None) -> Analysed | None:
        """The analysis of an earlier run, None where it may be another one now.

        Args:
            stack: ends a process that searches symbols anew; without it, what only holds if such a search says so does not.
        """
        if not self._cache.enabled:
            return None
        data = self._layer.load({"analysis": self._key}, counted=False)
        found = self._again(unpack(data["analysis"]), stack) if data else None
        self._layer.count(1, int(found is not None))
        return found

    def keep(self, analysed: Analysed, searched: Mapping[str, FoldedModule], stay: frozenset[str] | None) -> None:
        """Keep a new analysis.

        Args:
            analysed: the analysis.
            searched: the modules that the search of symbols looked at, by path.
            stay: modules that it left as they are; None where it was made more than once.
        """
        if not self._cache.enabled:
            return
        hashes = {file.path: file.sha256 for file in self._tree.files}
        others = sorted(self._seen | self._named)
        self._beside.note(others)
        kept = Kept(
            analysed,
            {path: sha256 for path, sha256 in hashes.items() if module_name(path) is not None},
            {path: hashes[path] for path in others},
            self._named,
            self._engine.rescued,
            self._engine.history,
            asked_names(self._tree, analysed.graph.ruled_out, self._cache),
            frozenset(self._engine.asked_outside),
            frozenset(self._engine.asked_inside),
            {path: self._spelled(path, module) for path, module in searched.items()},
            stay,
        )
        self._layer.save({"analysis": self._key}, {"analysis": pack(kept)})

    def _named_outside(self) -> frozenset[str]:
        outside = [file.path for file in self._tree.files if not file.path.startswith(PACKAGE_PREFIX)]
        rules = self._rules
        return frozenset(_matched((*rules.roots, *rules.keeps, *rules.assets), outside))

    def _surely_kept(self) -> set[str]:
        """Paths outside the package that a rule keeps, whatever the modules say."""
        rules = self._rules
        removed = removed_by_rule([file.path for file in self._tree.files], rules.removes)
        return {path for path in _matched((*rules.roots, *rules.keeps), sorted(self._named)) if path not in removed}

    def _again(self, kept: Kept, stack: ExitStack | None) -> Analysed | None:
        tree, analysed = self._tree, kept.analysed
        now = {file.path: file.sha256 for file in tree.files}
        others = {path: now[path] for path in {*kept.others, *self._named} if path in now}

        def sure() -> set[str]:
            return {*self._surely_kept(), *analysed.graph.kept}

        if not self._beside.says_the_same(kept.others, others, kept.history, kept.asked_outside, sure):
            return None
        changed = [path for path, sha256 in kept.modules.items() if now.get(path, sha256) != sha256]
        # Modules that rules remove: otherwise the key is another one.
        came = [path for path in now if module_name(path) is not None and path not in kept.modules]
        went = [path for path in kept.modules if path not in now]
        if any(module_name(path) in analysed.rescued for path in (*changed, *came, *went)):
            return None
        if (came or went) and not self._unnoticed(kept, changed, came, went):
            return None
        if not self._asked_alike(kept, changed, came, went):
            return None
        symbols = analysed.symbols
        asked = symbols.asked if symbols is not None else {}

        def asked_again() -> Mapping[str, Place | None]:
            return named_again(tree, asked, [*changed, *came], went)

        folding = {path: (kept.modules[path], kept.history[path]) for path in changed if path in kept.history}
        carry = Carry(tree, self._rules, self._engine, self._cache, kept, folding, asked_again)
        again = carry.again
        with ExitStack() as ended:
            if stack is not None:
                carry.search(ended)
            if not again.ends_alike(load_rewriting, carry.told) or not again.apart.isdisjoint(kept.asked_inside):
                return None
            alike = self._said_alike(kept, again)
            if alike and not again.looks_alike(load_rewriting):
                return None
            if not alike or not _all_same(again):
                found = carry.analysed(ended)
                if found is None or stack is None:
                    return None
                stack.push(ended.pop_all())
                return self._with_companions(*found)
        if symbols is not None and (changed or came or went):
            symbols = with_places(symbols, asked_again())
            if symbols is None:
                return None
        folded = dict(analysed.folded)
        for path, steps in again.steps.items():
            if path in folded:
                folded[path] = replace(folded[path], sha256=steps[0].now.sha256, lines=steps[0].now.lines)
        if self._named == kept.named:
            paths = [file.path for file in tree.files]
            graph = replace(analysed.graph, removed=removals(paths, self._rules, analysed.graph))
        else:
            graph, _ = build_graph(
                tree, self._rules, lambda paths: map(folded.__getitem__, paths), rescued=kept.rescues
            )
        return self._with_companions(Analysed(graph, folded, analysed.rescued, symbols), kept.rescues)

    def _said_alike(self, kept: Kept, again: FoldedAgain) -> bool:
        """Whether nothing but the texts of some modules is another one in the end: no unit, and no line of one."""
        return _all_same(again) and all(
            self._spelled(path, steps[0].now) == kept.spelled[path]
            for path, steps in again.steps.items()
            if path in kept.spelled
        )

    def _with_companions(self, analysed: Analysed, rescues: Mapping[str, tuple[str, Escape]]) -> Analysed:
        folded = {path: module for path, module in analysed.folded.items() if module_name(path) is not None}
        return replace(analysed, folded=folded | self._engine.companions(analysed.graph.kept, rescues))

    def _unnoticed(self, kept: Kept, changed: Iterable[str], came: Iterable[str], went: Iterable[str]) -> bool:
        """Whether modules that rules remove came or went without anybody who could tell."""
        if any(path in kept.history for path in changed):
            # It may name them, or have named them.
            return False
        names = {name for path in kept.modules if (name := module_name(path))}
        now = {name for file in self._tree.files if (name := module_name(file.path))}
        # Their packages may be new, or gone with them.
        other = _with_packages(names) ^ _with_packages(now)
        rules = self._rules
        patterns = [pattern for root in rules.roots for pattern in root.modules]
        patterns += [pattern for keep in rules.keeps for pattern in keep.modules]
        patterns += [module for api in rules.apis for module in api.modules]
        if any(name_matches(pattern, name) for pattern in patterns for name in other):
            return False
        if any(_matched((*rules.roots, *rules.keeps, *rules.assets), [*came, *went])):
            return False
        written = Written(self._tree, kept.history)
        for name in other:
            package, _, own = name.rpartition(".")
            if package in other:
                # Who cannot tell of the package cannot tell of what is in it.
                continue
            telling = written.by(own)
            # What is asked of a removed package is removed, there or not: only who spells all of the path asks more.
            while telling and package in names & now and self._engine.removes(package):
                package, _, own = package.rpartition(".")
                telling &= written.by(own)
            if telling:
                return False
        return True

    def _asked_alike(self, kept: Kept, changed: Iterable[str], came: Iterable[str], went: Iterable[str]) -> bool:
        """Whether the removed modules import the same names as before."""
        gone = {*kept.analysed.graph.ruled_out, *came}
        if gone.isdisjoint((*changed, *came, *went)):
            return True
        differ = asked_names(self._tree, sorted(gone.difference(went)), self._cache) ^ kept.asked
        # Asked for is what somebody defines, and who defines it writes it.
        return not differ or Written(self._tree, kept.history).has_none(differ)

    def _spelled(self, path: str, module: FoldedModule) -> str:
        return hash_of(spelled(self._tree.read(path).decode("utf-8", "replace"), module)).hex()


def _all_same(again: FoldedAgain) -> bool:
    return all(step.same for steps in again.steps.values() for step in steps)


def _with_packages(names: Iterable[str]) -> set[str]:
    """Dotted names and the packages around them."""
    found: set[str] = set()
    for name in names:
        while name and name not in found:
            found.add(name)
            name = name.rpartition(".")[0]
    return found


def _matched(rules: Iterable[Root | Keep | Asset], paths: Sequence[str]) -> Iterable[str]:
    return matching_paths([pattern for rule in rules for pattern in rule.paths], paths)
