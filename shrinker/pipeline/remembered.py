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

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from shrinker.cache import Cache, hash_of, pack, unpack
from shrinker.emit.workers import load_rewriting
from shrinker.fold.again import FoldedAgain
from shrinker.fold.alike import Folding
from shrinker.fold.engine import FoldEngine
from shrinker.fold.refine.surroundings import asked_names
from shrinker.graph.build import build_graph, removals
from shrinker.graph.edges.assets import matching_paths
from shrinker.graph.removals import removed_by_rule
from shrinker.graph.symbols.dead import Place, named_again
from shrinker.graph.symbols.moved import Text, moved_symbols
from shrinker.graph.symbols.saved import SymbolData, spelled
from shrinker.graph.written import written_imports
from shrinker.pipeline.beside import Beside, Written
from shrinker.pipeline.supposed import Dead, Earlier, Proof, search_again
from shrinker.processes import beside, letter_box
from shrinker.ruleset import Asset, Keep, Root, Ruleset
from shrinker.ruleset.match import name_matches
from shrinker.values.edits import Span
from shrinker.values.folded import Escape, FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.units import NO_UNITS
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree, module_name


@dataclass(frozen=True, slots=True)
class Analysed:
    """What facts, folding and reachability say of a tree."""

    graph: Graph
    folded: dict[str, FoldedModule]
    rescued: dict[str, str]
    """Modules that stay although a rule removes them, and why."""
    symbols: SymbolData | None
    """None when only files were looked at, or while the search is made anew."""
    proof: Callable[[], SymbolData | None] | None = None
    """Waits for that search: what it found, None where the rest does not hold."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """An analysis, and all that it looked at but for what is in its key."""

    analysed: Analysed
    modules: Mapping[str, str]
    """Hash of every module of the package, by path."""
    others: Mapping[str, str]
    """The same of the files that were kept in some step, or that a rule names, and are no modules."""
    named: frozenset[str]
    """Paths outside the package that a rule names."""
    rescues: Mapping[str, tuple[str, Escape]]
    """Of each rescued module, the path and use that keep it."""
    history: Mapping[str, list[Folding]]
    """How each module was folded."""
    asked: frozenset[str]
    """Names that the modules import that rules remove."""
    asked_outside: frozenset[str]
    """Words of which a round asked whether a kept file that is no module writes them."""
    asked_inside: frozenset[str]
    """Names of which a round asked whether a kept module says them."""
    spelled: Mapping[str, str]
    """Hash of what the search of symbols read in the text of a module."""
    stay: frozenset[str] | None
    """Modules that the search left as they are; None where it had to be made more than once."""


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
        kept = _Kept(
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

    def _again(self, kept: _Kept, stack: ExitStack | None) -> Analysed | None:
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
        with ExitStack() as ended:
            proof: Proof | None = None
            told: Callable[[Mapping[str, FoldedModule]], None] = _to_nobody
            if folding and symbols is not None and kept.stay is not None and stack is not None:
                # Both processes ask for these.
                removed_by_rule([file.path for file in tree.files], self._rules.removes)
                self._engine.open_worlds(step for history in kept.history.values() for step in history)
                earlier = _searched(kept, symbols, kept.stay)
                letters = ended.enter_context(letter_box())
                search = partial(
                    search_again,
                    tree,
                    self._rules,
                    self._engine,
                    self._cache.uncounted(),
                    earlier,
                    list(folding),
                    letters.read,
                    asked_again,
                )
                proof = ended.enter_context(beside(search))
                told = letters.write
            again = FoldedAgain(self._engine, folding)
            if not again.ends_alike(load_rewriting, told) or not again.apart.isdisjoint(kept.asked_inside):
                return None
            if not self._said_alike(kept, again) or not (again.looks_alike(load_rewriting) and _all_same(again)):
                if proof is None or stack is None or symbols is None:
                    return None
                moved = self._moved(symbols, again, asked_again)
                if moved is not None:
                    # Nothing is left to search for.
                    ended.close()
                    return self._supposed(kept, again, lambda dead: moved)
                found = self._supposed(kept, again, lambda dead: _if_dead(proof, dead))
                if found is not None:
                    stack.push(ended.pop_all())
                return found
        if symbols is not None and (changed or came or went):
            symbols = _asked_alike(symbols, asked_again())
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
            graph, _ = self._graph(folded, kept.rescues)
        return self._with_companions(Analysed(graph, folded, analysed.rescued, symbols), kept.rescues)

    def _said_alike(self, kept: _Kept, again: FoldedAgain) -> bool:
        """Whether nothing but the texts of some modules is another one in the end: no unit, and no line of one."""
        return _all_same(again) and all(
            self._spelled(path, steps[0].now) == kept.spelled[path]
            for path, steps in again.steps.items()
            if path in kept.spelled
        )

    def _moved(
        self, symbols: SymbolData, again: FoldedAgain, asked: Callable[[], Mapping[str, Place | None]]
    ) -> SymbolData | None:
        """What the search would find; None where more than lines is another."""
        texts = {path: Text(steps[0].before, steps[0].now) for path, steps in again.steps.items()}
        found = moved_symbols(symbols, texts, self._tree, written_imports(self._tree, self._cache))
        return found if found is None else _asked_alike(found, asked())

    def _supposed(self, kept: _Kept, again: FoldedAgain, proof: Callable[[Dead], SymbolData | None]) -> Analysed | None:
        """The analysis as it is if a search finds nothing else dead than was.

        Args:
            kept: the earlier analysis.
            again: the modules that differ.
            proof: what the search finds, where it finds this dead in them.

        Returns:
            None where the graph tells otherwise.
        """
        analysed = kept.analysed

        def alike() -> bool:
            found = again.looks_alike()
            self._engine.save()
            return found and again.apart.isdisjoint(kept.asked_inside)

        folded, dead = dict(analysed.folded), dict[str, frozenset[Span]]()
        for path, steps in again.steps.items():
            last = steps[-1]
            if last.refinement.dead:
                dead[path] = last.refinement.dead
            if path in folded:
                folded[path] = replace(last.now, units=NO_UNITS)
        # A module that was rescued is no removed one in later steps: nothing there says where it is used.
        changed = {name: use[0] for name, use in kept.rescues.items() if use[0] in again.steps}
        if changed and not again.looks_alike(
            among=lambda path, step: any(path == changed[name] and name not in step[0] for name in changed)
        ):
            return None
        uses = _uses(again)
        if any(use[0] in changed.values() and use not in uses for use in kept.rescues.values()):
            return None
        rescues = {name: (use[0], uses.get(use, use[1])) for name, use in kept.rescues.items()}
        graph, _ = self._graph(folded, rescues)
        if graph.kept.keys() != analysed.graph.kept.keys():
            return None

        def proven() -> SymbolData | None:
            return proof(dead) if alike() else None

        rescued = {name: f"{path}:{use.line} uses {use.name}" for name, (path, use) in rescues.items()}
        return self._with_companions(Analysed(graph, folded, rescued, None, proven), rescues)

    def _graph(
        self, folded: Mapping[str, FoldedModule], rescues: Mapping[str, tuple[str, Escape]]
    ) -> tuple[Graph, dict[str, FoldedModule]]:
        return build_graph(self._tree, self._rules, lambda paths: map(folded.__getitem__, paths), rescued=rescues)

    def _with_companions(self, analysed: Analysed, rescues: Mapping[str, tuple[str, Escape]]) -> Analysed:
        folded = {path: module for path, module in analysed.folded.items() if module_name(path) is not None}
        return replace(analysed, folded=folded | self._engine.companions(analysed.graph.kept, rescues))

    def _unnoticed(self, kept: _Kept, changed: Iterable[str], came: Iterable[str], went: Iterable[str]) -> bool:
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

    def _asked_alike(self, kept: _Kept, changed: Iterable[str], came: Iterable[str], went: Iterable[str]) -> bool:
        """Whether the removed modules import the same names as before."""
        gone = {*kept.analysed.graph.ruled_out, *came}
        if gone.isdisjoint((*changed, *came, *went)):
            return True
        differ = asked_names(self._tree, sorted(gone.difference(went)), self._cache) ^ kept.asked
        # Asked for is what somebody defines, and who defines it writes it.
        return not differ or Written(self._tree, kept.history).has_none(differ)

    def _spelled(self, path: str, module: FoldedModule) -> str:
        return hash_of(spelled(self._tree.read(path).decode("utf-8", "replace"), module)).hex()


def _asked_alike(symbols: SymbolData, places: Mapping[str, Place | None]) -> SymbolData | None:
    """With the places of today; None where another method than before is named nowhere."""
    if any((places[name] is None) != (place is None) for name, place in symbols.asked.items()):
        return None
    return replace(symbols, asked=places)


def _if_dead(proof: Proof, dead: Dead) -> SymbolData | None:
    try:
        found = proof()
    except EOFError:
        # Killed, often for memory: nothing is proven then.
        return None
    return found[1] if found is not None and found[0] == dead else None


def _all_same(again: FoldedAgain) -> bool:
    return all(step.same for steps in again.steps.values() for step in steps)


def _uses(again: FoldedAgain) -> dict[tuple[str, Escape], Escape]:
    """Path and use of a removed module in the earlier texts, to the same use in the new ones."""
    return {
        (path, before): now
        for path, steps in again.steps.items()
        for step in steps
        for before, now in zip(step.before.escapes, step.now.escapes, strict=True)
    }


def _to_nobody(modules: Mapping[str, FoldedModule]) -> None:
    """No search waits for them."""


def _searched(kept: _Kept, symbols: SymbolData, stay: frozenset[str]) -> Earlier:
    steps = {path: [step for step in kept.history[path] if not step[1].dead][-1] for path in kept.spelled}
    dead = {path: history[-1][1].dead for path, history in kept.history.items() if history[-1][1].dead}
    modules = {module_name(path) for path in kept.analysed.folded}
    names = frozenset(name for name in modules if name is not None)
    return Earlier(steps, dead, symbols, names, kept.rescues, stay)


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
