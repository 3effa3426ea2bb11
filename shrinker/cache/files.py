"""Run a function over many files in a few processes, in an order that does not change the result."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from shrinker.cache.layer import Layer, pack, unpack
from shrinker.cache.workers import WorkerPool, without_gc
from shrinker.values.errors import ShrinkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

Progress = Callable[[int, int], None]
"""Called with the items done and the items in all."""
_BATCHES_PER_WORKER = 6
"""Several, so that one batch of large files does not keep the others waiting."""


def _run_batch(call: Callable[[Item], Result], batch: Sequence[Item]) -> list[Result]:
    with without_gc():
        return [call(item) for item in batch]


def map_files(
    call: Callable[[Item], Result],
    items: Sequence[Item],
    weights: Sequence[int],
    *,
    jobs: int,
    progress: Progress = lambda done, total: None,
) -> list[Result]:
    """`[call(item) for item in items]`, in `jobs` processes; one job stays in this process. Raises ShrinkerError when a worker was killed (out of
    memory, by a person).

    Args:
        call: a module-level function (it is pickled by name), or a `functools.partial` of one.
        weights: cost of each item, in any unit (bytes); the batches are balanced by it.
    """
    if jobs <= 1 or len(items) < 2:
        return _run_batch(call, items)
    count = min(len(items), jobs * _BATCHES_PER_WORKER)
    # The heaviest item of each batch first, then the next ones in turn: none weighs much more than another.
    heaviest = sorted(range(len(items)), key=lambda i: -weights[i])
    batches = [heaviest[start::count] for start in range(count)]
    results: dict[int, Result] = {}
    try:
        # Ctrl-C: leaving the pool waits for the batches in hand and for no other.
        with WorkerPool(min(jobs, count)) as pool:
            futures = [pool.submit(_run_batch, call, [items[i] for i in batch]) for batch in batches]
            for batch, future in zip(batches, futures, strict=True):
                results.update(zip(batch, future.result(), strict=True))
                progress(len(results), len(items))
    except BrokenProcessPool as error:
        raise ShrinkerError(
            "a worker process was killed before it finished (often: out of memory)", "run again with fewer JOBS"
        ) from error
    return [results[i] for i in range(len(items))]


def cached(layer: Layer, key: bytes, make: Callable[[], Any]) -> Any:
    """What `make` gives, or gave for an equal key before."""
    return layer.each({"": key}, lambda _: make())[""]


def map_cached(
    call: Callable[[str], Result],
    layer: Layer,
    contents: Mapping[str, str],
    root: Path,
    *,
    jobs: int,
    progress: Progress = lambda done, total: None,
) -> dict[str, Result]:
    """What `call` gives for each path, in the order of the paths; only what the layer does not hold is computed. Raises as `map_files`.

    Args:
        layer: with all that the results depend on besides the files.
        contents: by path below `root`, what the file holds (its SHA-256).
    """

    def make(missing: list[str]) -> list[bytes]:
        weights = [(root / path).stat().st_size for path in missing]
        return map_files(partial(_packed, call), missing, weights, jobs=jobs, progress=progress)

    keys = {path: layer.key(path, content) for path, content in contents.items()}
    packed = layer.packed(keys, make)
    return {path: unpack(packed[path]) for path in keys}


def _packed(call: Callable[[str], object], path: str) -> bytes:
    return pack(call(path))
