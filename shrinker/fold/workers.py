"""Fold files, here or in worker processes that are kept busy: what a module leads to is folded as
soon as it is seen.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import cast

from shrinker.cache import Recorded, pack, unpack
from shrinker.cache.workers import WorkerPool
from shrinker.facts.environment import Environment
from shrinker.fold.dependency_tracker import Answers, RecordingEnvironment
from shrinker.fold.module import fold_source
from shrinker.values.errors import InputError
from shrinker.values.folded import FoldedModule, Refinement
from shrinker.values.upstream import UpstreamTree, module_name

World = Answers | Environment
Wanted = tuple[str, Refinement]
"""Path of a module, and what is known of it."""
Result = tuple[FoldedModule, Recorded | None]

_CHUNK_BYTES = 400_000
"""Files are handed to workers in chunks of no more than about this many bytes."""
_SERIAL_BYTES = 200_000
"""Waves smaller than this, and single files, are folded in this process: starting workers would
cost more.
"""
_SERIAL_BYTES_BESIDE = 60_000
"""The same where there are workers already."""
_CHUNKS_A_WORKER = 8
"""Of one wave, so that no worker waits long for another that has the large files."""
_LEAST_BYTES = 25_000
"""Chunks are not made smaller: to hand one over costs as much as to fold a file of this size."""


class FoldWorkers:
    """Worker processes that fold in one closed world, started when there is enough to do."""

    def __init__(self, tree: UpstreamTree, jobs: int) -> None:
        self._tree = tree
        self._jobs = jobs
        self._pool: WorkerPool | None = None

    def close(self) -> None:
        """End the processes; the next ones may fold in another world."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def fold(
        self,
        wanted: Sequence[Wanted],
        world: World,
        more: Callable[[FoldedModule], Sequence[Wanted]],
    ) -> Iterator[Result]:
        """Fold these modules, and in other processes also `more`: what a folded one leads to, none
        twice, and none of `wanted`. Raises InputError: a file does not parse, or a worker died.
        """
        size = sum(self._tree.by_path[path].size for path, _ in wanted)
        enough = _SERIAL_BYTES if self._pool is None else _SERIAL_BYTES_BESIDE
        if self._jobs == 1 or len(wanted) == 1 or size < enough:
            yield from fold_files(self._tree.root, wanted, world)
            return
        if self._pool is None:
            self._pool = WorkerPool(self._jobs, _adopt, (self._tree.root, world))
        try:
            limit = min(max(size // (self._jobs * _CHUNKS_A_WORKER), _LEAST_BYTES), _CHUNK_BYTES)
            waiting = self._submit(self._pool, wanted, limit)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                found = [_arrived(sent) for future in done for sent in future.result()]
                waiting |= self._submit(
                    self._pool, [item for module, _ in found for item in more(module)], limit
                )
                yield from found
        except BrokenProcessPool as error:
            raise InputError(
                "a worker process was killed while folding",
                "free memory or lower JOBS, and run again",
            ) from error

    def _submit(
        self, pool: WorkerPool, wanted: Sequence[Wanted], limit: int
    ) -> set[Future[list[bytes | Recorded]]]:
        return {pool.submit(_fold_in_worker, group) for group in chunks(self._tree, wanted, limit)}


def chunks(tree: UpstreamTree, wanted: Iterable[Wanted], limit: int) -> Iterator[list[Wanted]]:
    """Yield modules in groups of about `limit` bytes, larger files first."""
    group: list[Wanted] = []
    size = 0
    for path, refinement in sorted(wanted, key=lambda item: (-tree.by_path[item[0]].size, item[0])):
        group.append((path, refinement))
        size += tree.by_path[path].size
        if size >= limit:
            yield group
            group, size = [], 0
    if group:
        yield group


_WORKER: list[tuple[Path, World]] = []
"""Of a worker process: what it folds below, and in which world."""


def _adopt(root: Path, world: World) -> None:
    gc.disable()
    _WORKER[:] = [(root, world)]


def _fold_in_worker(wanted: list[Wanted]) -> list[bytes | Recorded]:
    [(root, world)] = _WORKER
    # Packed by `pack`, and once: what is kept holds the module already.
    return [recorded or pack(module) for module, recorded in fold_files(root, wanted, world)]


def _arrived(sent: bytes | Recorded) -> Result:
    return (unpack(sent), None) if isinstance(sent, bytes) else (unpack(sent.packed), sent)


def fold_files(root: Path, wanted: Iterable[Wanted], world: World) -> Iterator[Result]:
    """Fold files below a folder in this process; with what later runs need to know of it where the
    world keeps answers. Raises InputError: a file does not parse.
    """
    for path, refinement in wanted:
        name = module_name(path)
        assert name is not None
        # It folds in the sight of a recorder: the result may serve later runs that would give the
        # same answers.
        recorder = RecordingEnvironment(world, name) if isinstance(world, Answers) else None
        environment = cast(Environment, recorder or world)
        is_package, data = path.endswith("/__init__.py"), (root / path).read_bytes()
        try:
            module = fold_source(path, name, is_package, data, environment, refinement)
        except SyntaxError as error:
            raise _broken(f"{path}:{error.lineno or 1}: does not parse: {error.msg}") from None
        except (UnicodeDecodeError, ValueError) as error:
            raise _broken(f"{path}:1: cannot be read as Python source: {error}") from None
        yield module, None if recorder is None else recorder.recorded(pack(module))


def _broken(message: str) -> InputError:
    return InputError(message, "mend the file in the upstream tree")
