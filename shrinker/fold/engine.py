"""Fold many modules: worker processes, results remembered, uses that escape their rule honoured.

When kept code turns out to run a name of a module that a rule removes, the module is rescued: it
stays, is listed as uncertain, and every module that imports it is folded again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from shrinker.facts.build import chunks, module_paths, outline_file, worker_context
from shrinker.facts.environment import Environment
from shrinker.facts.lattice import Removed
from shrinker.fold.module import fold_source
from shrinker.processes import WorkerPool
from shrinker.values.errors import InputError
from shrinker.values.folded import Escape, FoldedModule
from shrinker.values.upstream import UpstreamTree, module_name

_SERIAL_BYTES = 200_000
"""Waves smaller than this are folded in this process: starting workers would cost more."""


class FoldEngine:
    """Folds modules on demand, each once for a given set of rescued modules."""

    def __init__(
        self,
        tree: UpstreamTree,
        environment: Environment,
        *,
        jobs: int,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        """
        Args:
            tree: upstream.
            environment: the closed world.
            jobs: worker processes.
            progress: called with the number of modules folded so far.
        """
        self.tree = tree
        self.environment = environment
        self.jobs = jobs
        self.progress = progress
        self.folded: dict[str, FoldedModule] = {}
        self.rescued: dict[str, tuple[str, Escape]] = {}
        """Module to the path and use that keep it."""
        self._pool: WorkerPool | None = None

    def __enter__(self) -> FoldEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def fold(self, paths: Sequence[str]) -> Iterable[FoldedModule]:
        """Folded modules of these paths, in their order.

        Raises:
            InputError: a file does not parse, or a worker died.
        """
        missing = [p for p in paths if p not in self.folded]
        for module in self._fold(missing):
            self.folded[module.path] = module
        self.progress(len(self.folded))
        return [self.folded[p] for p in paths]

    def _fold(self, paths: list[str]) -> Iterable[FoldedModule]:
        size = sum(self.tree.by_path[p].size for p in paths)
        if self.jobs == 1 or size < _SERIAL_BYTES:
            return _fold_files(self.tree.root, paths, self.environment)
        if self._pool is None:
            self._pool = WorkerPool(
                self.jobs, mp_context=worker_context(), initializer=_adopt, initargs=(self.tree.root, self.environment)
            )
        found: list[FoldedModule] = []
        try:
            for group in self._pool.map(_fold_in_worker, chunks(self.tree, paths)):
                found.extend(group)
                self.progress(len(self.folded) + len(found))
        except BrokenProcessPool as error:
            raise InputError(
                "a worker process was killed while folding", "free memory or lower JOBS, and run again"
            ) from error
        return found

    def rescue(self, kept: Iterable[str]) -> bool:
        """Rescue the removed modules that the kept ones are seen to run.

        Args:
            kept: paths of the modules that the graph reached.

        Returns:
            True when a module was rescued: its importers are to be folded again, the graph built again.
        """
        fresh: dict[str, tuple[str, Escape]] = {}
        for path in sorted(kept):
            module = self.folded.get(path)
            for use in module.escapes if module is not None else ():
                for name in self._with_packages(use.module):
                    if name not in self.rescued:
                        fresh.setdefault(name, (path, use))
        if not fresh:
            return False
        self.rescued.update(fresh)
        self._close()
        before = self.environment
        outlines = dict(self.environment.outlines)
        paths = module_paths(self.tree)
        for name in fresh:
            found = outline_file(self.tree.root, paths[name]) if name in paths else None
            if found is not None:
                outlines[name] = found
        self.environment = Environment(
            self.environment.rules, outlines, self.environment.modules, self.environment.rescued | frozenset(fresh)
        )
        for path in [p for p, m in self.folded.items() if self._touches(m, fresh, before)]:
            del self.folded[path]
        return True

    def _with_packages(self, name: str) -> list[str]:
        """The module and the removed packages around it: importing it runs their ``__init__``."""
        names: list[str] = []
        while name and self.environment.removed_module(name) is not None:
            names.append(name)
            name = name.rpartition(".")[0]
        return names

    def _touches(self, module: FoldedModule, fresh: Collection[str], before: Environment) -> bool:
        """True when a name that the module imports came from one of these modules, through whatever re-exports."""
        known = before.outlines.get(module.module)
        if known is None:
            return False
        for source, name, _ in known.aliases:
            whole = f"{source}.{name}" if name else source
            values = [before.removed_module(whole), *(before.resolve(whole, n) for n in before.hot_names(whole))]
            if name and name != "*":
                values.append(before.resolve(source, name))
            elif name == "*":
                values += [
                    before.removed_module(source),
                    *(before.resolve(source, n) for n in before.hot_names(source)),
                ]
            if any(isinstance(v, Removed) and v.module in fresh for v in values):
                return True
        return False


_WORKER: dict[str, object] = {}


def _adopt(root: Path, environment: Environment) -> None:
    gc.disable()
    _WORKER["root"], _WORKER["environment"] = root, environment


def _fold_in_worker(paths: list[str]) -> list[FoldedModule]:
    root, environment = _WORKER["root"], _WORKER["environment"]
    assert isinstance(root, Path) and isinstance(environment, Environment)
    return _fold_files(root, paths, environment)


def _fold_files(root: Path, paths: list[str], environment: Environment) -> list[FoldedModule]:
    found: list[FoldedModule] = []
    for path in paths:
        name = module_name(path)
        assert name is not None
        try:
            found.append(
                fold_source(path, name, path.endswith("/__init__.py"), (root / path).read_bytes(), environment)
            )
        except SyntaxError as error:
            raise InputError(
                f"{path}:{error.lineno or 1}: does not parse: {error.msg}", "mend the file in the upstream tree"
            ) from None
        except (UnicodeDecodeError, ValueError) as error:
            raise InputError(
                f"{path}:1: cannot be read as Python source: {error}", "mend the file in the upstream tree"
            ) from None
    return found
