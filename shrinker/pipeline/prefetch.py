"""Work ahead: what later phases will ask of upstream's own files, read in a process that takes only time which nobody else needs.

Rounds and the search of symbols run in one process, and leave the other cores with nothing to do. All that is read here depends on
the content of single files and goes through the cache of results; whoever needs it and does not find it reads it then.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial

from shrinker.cache import Cache
from shrinker.cache.workers import forked, without_gc
from shrinker.check.prefetch import prefetch_upstream
from shrinker.pipeline.external_inputs import Beside
from shrinker.program.interface.syntax import Syntax
from shrinker.program.interface.words import modules_with_words
from shrinker.program.written import written_imports
from shrinker.ruleset import Ruleset
from shrinker.values.graph import Graph
from shrinker.values.upstream import UpstreamTree, module_name, modules_of

_FILES = 12
"""Read before it is seen whether there is an end: a tenth of a second."""
_LAST = 19
"""The niceness of who waits for all others."""


class SpareTime:
    """The process; it ends with the stack, or when `stop` is called."""

    def __init__(self, tree: UpstreamTree, rules: Ruleset, cache: Cache, stack: ExitStack) -> None:
        """
        Args:
            tree: upstream.
            rules: of the profile.
            cache: of this run.
            stack: ends the process.
        """
        self._tree = tree
        self._rules = rules
        self._cache = cache
        self._stack = stack
        self._end: int | None = None

    def start(self, graph: Graph) -> None:
        """Begin, unless it was begun.

        Args:
            graph: what is kept as far as it is known; nearly all of it stays so.
        """
        if self._end is not None or not self._cache.enabled:
            return
        seen, self._end = os.pipe()
        self._stack.callback(os.close, seen)
        self._stack.callback(os.close, self._end)
        parts = list(self._parts(graph, self._cache.uncounted()))
        self._stack.enter_context(forked(lambda: _work(parts, seen, os.getppid())))
        self._stack.callback(self.stop)

    def stop(self) -> None:
        """Let it end with what it has in hand."""
        if self._end is not None:
            os.write(self._end, b"\n")

    def _parts(self, graph: Graph, cache: Cache) -> Iterator[Callable[[], object]]:
        """What is to be done, in the order in which it is asked for."""
        tree, rules = self._tree, self._rules
        yield lambda: written_imports(tree, cache)
        others = sorted(path for path in graph.kept if module_name(path) is None)
        for some in _slices(others):
            yield partial(Beside(tree, cache).note, some)
        upstream = Syntax(modules_of(tree.by_path), tree.read)
        yield lambda: modules_with_words(upstream, {p: tree.by_path[p].sha256 for p in upstream.paths.values()}, cache)
        for some in _slices(sorted(path for path in graph.kept if path.endswith(".py"))):
            yield partial(prefetch_upstream, tree, some, rules, cache)


def _slices(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + _FILES] for start in range(0, len(paths), _FILES))


def _work(parts: Sequence[Callable[[], object]], seen: int, parent: int) -> None:
    with suppress(OSError):
        if hasattr(os, "sched_setscheduler"):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        else:
            os.nice(_LAST)
    with without_gc(last=True):
        for part in parts:
            if select.select([seen], [], [], 0)[0] or os.getppid() != parent:
                return
            part()
