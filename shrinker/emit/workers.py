"""Rewrite files in worker processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from shrinker.cache.workers import WorkerPool, start_worker, starting_workers, without_gc, worker_context
from shrinker.values.edits import Edit
from shrinker.values.errors import InputError, ShrinkerError

_BATCHES_A_WORKER = 8
_YIELDING = 5
"""Niceness with which three of equal work leave one core of two to who has none."""
_SMALL = 60_000
"""What weighs less is not worth a process."""


class Unwritable(ShrinkerError):
    """Edits of some files leave no valid Python; each with its reason. Nothing is written then."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        """
        Args:
            reasons: by path.
        """
        path, reason = min(reasons.items())
        super().__init__(f"{path}: {reason}", "this is a fault of shrinker: please report it with the upstream version")
        self.reasons = dict(reasons)


@dataclass(frozen=True, slots=True)
class Task:
    """One file to rewrite."""

    path: str
    source: Path
    size: int
    edits: tuple[Edit, ...]
    header: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One file rewritten, or why it could not be."""

    path: str
    content: bytes
    problem: str = ""
    fault: bool = False
    """True when shrinker is to blame and not the input."""


def load_rewriting() -> None:
    """Load LibCST, which takes as long as folding a large module: best while other processes are at work."""
    import shrinker.emit.rewrite  # noqa: F401


def rewrite_all(tasks: Sequence[Task], jobs: int, meanwhile: Callable[[], None] = lambda: None) -> Iterator[Rewritten]:
    """Rewrite files, in the order in which they get done.

    Args:
        jobs: number of processes; 1 rewrites in this one.
        meanwhile: called once, while the other processes are at work.

    Raises:
        InputError: a file cannot be read or does not parse.
        Unwritable: edits could not be applied; after all files were tried.
        ShrinkerError: a worker was killed.
    """
    faults: dict[str, str] = {}
    here = jobs <= 1 or sum(map(_weight, tasks)) < _SMALL
    for result in _in_this_process(tasks, meanwhile) if here else _in_workers(tasks, jobs, meanwhile):
        if not result.problem:
            yield result
        elif result.fault:
            faults[result.path] = result.problem
        else:
            raise InputError(f"{result.path}: {result.problem}", "check the upstream tree")
    if faults:
        raise Unwritable(faults)


def _in_this_process(tasks: Sequence[Task], meanwhile: Callable[[], None]) -> Iterator[Rewritten]:
    meanwhile()
    for task in tasks:
        with without_gc():
            result = _rewrite(task)
        yield result


def _in_workers(tasks: Sequence[Task], jobs: int, meanwhile: Callable[[], None]) -> Iterator[Rewritten]:
    batches = _batches(tasks, jobs)
    if len(batches) > 1:
        # Before the fork: once instead of once a worker.
        load_rewriting()
    pool = WorkerPool(min(jobs, len(batches)), mp_context=worker_context(), initializer=_start_worker)
    try:
        with starting_workers():
            futures = [pool.submit(_rewrite_batch, batch) for batch in batches]
        meanwhile()
        for future in as_completed(futures):
            yield from future.result()
    except BrokenProcessPool as error:
        raise ShrinkerError(
            "a worker process was killed while it rewrote files (out of memory?)",
            "nothing was replaced; run again with fewer JOBS",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _batches(tasks: Sequence[Task], jobs: int) -> list[list[Task]]:
    """Batches of about the same work, the heaviest files first."""
    ordered = sorted(tasks, key=lambda t: (-_weight(t), t.path))
    share = sum(map(_weight, ordered)) / (jobs * _BATCHES_A_WORKER)
    batches: list[list[Task]] = []
    filled = 0.0
    for task in ordered:
        if not batches or filled >= share:
            batches.append([])
            filled = 0.0
        batches[-1].append(task)
        filled += _weight(task)
    return batches


def _weight(task: Task) -> int:
    # An edit costs about as much as parsing 10 KB.
    return task.size + 10_000 * len(task.edits)


def _start_worker() -> None:
    start_worker()
    # The main process has more to do meanwhile than one of these: where cores are few, it would be waited for in the end.
    os.nice(_YIELDING)


def _rewrite_batch(batch: Sequence[Task]) -> list[Rewritten]:
    return [_rewrite(task) for task in batch]


def _rewrite(task: Task) -> Rewritten:
    # Here and not above: see the package's docstring.
    from shrinker.emit.rewrite import RewriteError, rewrite_file

    try:
        return Rewritten(task.path, rewrite_file(task.source.read_bytes(), task.edits, header=task.header))
    except RewriteError as error:
        return Rewritten(task.path, b"", str(error), fault=True)
    except (OSError, SyntaxError, ValueError) as error:
        return Rewritten(task.path, b"", str(error))
