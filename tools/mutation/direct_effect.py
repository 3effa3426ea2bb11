"""What one more rule does by itself: the modules that it speaks of are folded anew, and all else
stays as it was decided.

A whole generation takes a minute and more, this a second. What a rule decides is decided where its
words stand, and where a name is read to which it gives another value. All else follows from that:
what nothing names any more, files that nothing reaches. So what is lost here is lost in the tree of
a run, too, but where all that stood around it went with it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile

from shrinker.emit.rewrite import rewrite_modules
from shrinker.facts.environment import Environment, build_environment
from shrinker.facts.lattice import Value
from shrinker.fold.engine import FoldEngine
from shrinker.fold.workers import fold_files
from shrinker.pipeline import Run, analyse
from shrinker.ruleset import Ruleset
from shrinker.values.folded import NOTHING, FoldedModule
from shrinker.values.upstream import enclosing, module_name, modules_of

_WORD = re.compile(r"[^\W\d]\w*")


class DirectEffect:
    """Of one rule after the other on one tree."""

    def __init__(self, run: Run) -> None:
        """Of a run by the right rules; the analysis by these is taken from the cache."""
        self._tree = tree = run.tree
        found = analyse(run)
        world = build_environment(tree, run.rules, jobs=run.jobs, cache=run.cache)
        with FoldEngine(tree, world, jobs=1) as engine:
            self._before = engine.world_with(frozenset(found.rescued))
        self._folded = found.folded
        self._steps = {
            p: found.refinements.get(p, NOTHING) for p in found.folded if module_name(p) is not None
        }
        self._paths = modules_of(tree.by_path)
        kept = {module: path for module, path in self._paths.items() if path in self._steps}
        self._words = {
            m: frozenset(_WORD.findall(tree.read(p).decode("utf-8", "replace")))
            for m, p in kept.items()
        }
        self._importers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        """By module who imports it, and which name of it; none for all of it."""
        for path in self._steps:
            folded = self._folded[path]
            sites = [(site.module, site.name or "") for site in folded.imports]
            outline = self._before.outlines.get(folded.module)
            sites += [(source, name) for source, name, _ in outline.aliases] if outline else []
            for site in folded.strings:
                owner, _, name = site.text.replace(":", ".").rpartition(".")
                sites.append((owner, name))
            for source, name in sites:
                self._importers[source].add((folded.module, name))
                self._importers[f"{source}.{name}"].add((folded.module, ""))

    def of(self, rules: Ruleset, words: frozenset[str]) -> dict[str, str | None]:
        """Return texts of the files that are other ones by a rule more; None for one that is gone.

        Without one of the words the rule says nothing about a statement. Raises InputError where a
        file cannot be rewritten.
        """
        rescued = self._before.rescued
        while True:
            probe = Environment(rules, {}, self._before.modules, rescued)
            gone = {m for m in self._words if probe.removed_module(m) is not None}
            outlines = {name: it for name, it in self._before.outlines.items() if name not in gone}
            world = Environment(rules, outlines, self._before.modules, rescued)
            asked = [
                (self._paths[m], self._steps[self._paths[m]])
                for m in sorted(self._touched(words, gone, world))
            ]
            now = {module.path: module for module, _ in fold_files(self._tree.root, asked, world)}
            used = {use.module for module in now.values() for use in module.escapes}
            fresh = {
                name for m in used for name in takewhile(world.removed_module, (m, *enclosing(m)))
            } - rescued
            if not fresh:
                return self._written(now, gone)
            rescued |= fresh

    def _touched(self, words: frozenset[str], gone: set[str], world: Environment) -> set[str]:
        """Return modules that hold a word, import one that is gone, or read a name that has
        another value.
        """
        found = {module for module, said in self._words.items() if not words.isdisjoint(said)}
        found |= {module for source in gone for module, _ in self._importers.get(source, ())}
        found &= self._words.keys() - gone
        waiting = [*found]
        while waiting:
            source = waiting.pop()
            other = self._other_names(source, world)
            for module, name in self._importers.get(source, ()) if other else ():
                # Who takes all of it reads the name by itself.
                asked = {name} if name not in ("", "*") else self._words.get(module, frozenset())
                if module not in found | gone and not other.isdisjoint(asked):
                    found.add(module)
                    waiting.append(module)
        return found

    def _other_names(self, module: str, world: Environment) -> set[str]:
        names = outline.names if (outline := self._before.outlines.get(module)) else ()
        return {
            name
            for name in names
            if _said(self._before, module, name) != _said(world, module, name)
        }

    def _written(
        self, now: Mapping[str, FoldedModule], gone: Iterable[str]
    ) -> dict[str, str | None]:
        other = {
            path: module for path, module in now.items() if module.edits != self._folded[path].edits
        }
        written = rewrite_modules(
            (module for module in other.values() if module.edits), self._tree.read
        )
        data = {path: self._tree.read(path) for path in other} | written
        return {path: text.decode() for path, text in data.items()} | dict.fromkeys(
            self._paths[m] for m in gone
        )


def _said(world: Environment, module: str, name: str) -> tuple[Value, bool]:
    value = world.resolve(module, name)
    return value, world.is_hot(value)
