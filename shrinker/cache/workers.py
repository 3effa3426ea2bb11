"""Processes that share what is loaded, since they start by fork: a pool of workers, single calls
beside what goes on here, and a function over many files, in an order that does not change the
result.

A killed worker is always noticed. The standard pool reads results from one pipe. A worker that is
killed (by a person, for memory) in the middle of a large result leaves it waiting for the rest for
ever. Here a result travels in a file and only its path through the pipe: so few bytes are written
whole or not at all.
"""

import gc
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from shrinker.cache.layer import Layer, pack, unpack
from shrinker.values.errors import ShrinkerError

Given = ParamSpec("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")
_FORK = get_context("fork")


class WorkerPool(ProcessPoolExecutor):
    """A `ProcessPoolExecutor` that raises BrokenProcessPool whenever a worker was killed, and never
    hangs on it.
    """

    def __init__(
        self,
        jobs: int,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(jobs, _FORK, initializer, initargs)
        self._folder = tempfile.TemporaryDirectory(prefix="shrinker-", ignore_cleanup_errors=True)

    def submit(
        self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Result]:
        """Run `fn` in a worker; `map` comes here too."""
        try:
            return super().submit(_call, self._folder.name, fn, args, kwargs)  # type: ignore[arg-type]
        except OSError as error:
            # A worker that is killed while the others are being started closes the queues under
            # them.
            raise BrokenProcessPool(
                f"the worker processes could not be started: {error}"
            ) from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the workers after the calls in hand, and remove what they left when nothing of it can
        be asked for any more.
        """
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._folder.cleanup()


@dataclass
class _Parcel:
    """Pickled by the worker as the path of a file, unpickled by the pool as what was in it."""

    folder: str
    content: object

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        handle, path = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "wb") as file:
            pickle.dump(self.content, file, pickle.HIGHEST_PROTOCOL)
        return _unpack, (path,)


def _unpack(path: str) -> object:
    with open(path, "rb") as file:
        os.unlink(path)
        return pickle.load(file)


def _call(
    folder: str, fn: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> _Parcel:
    return _Parcel(folder, fn(*args, **kwargs))


Tell = Callable[[object], None]
"""Hands a message to the process that started this one."""
_LISTEN_SECONDS = 1.0


@dataclass
class Child(Generic[Result]):
    """A call in a process of its own, seen from the one that made it."""

    _receiver: Connection
    _process: BaseProcess
    _done: tuple[Result, Exception | None] | None = None

    def hear(self) -> Iterator[object]:
        """Yield what it tells, until it is done."""
        with suppress(EOFError):
            while self._done is None:
                # Subtle: who it started holds the same pipe, which does not end where it alone is
                # killed.
                while not self._receiver.poll(_LISTEN_SECONDS):
                    if not self._process.is_alive() and not self._receiver.poll(0):
                        return
                message = self._receiver.recv()
                if len(message) == 1:
                    yield message[0]
                else:
                    self._done = message

    def __call__(self) -> Result:
        """Wait for the result, once, or raise what the call raised; BrokenProcessPool where the
        process was killed.
        """
        for _ in self.hear():
            pass
        if self._done is None:
            raise BrokenProcessPool("the process was killed")
        found, error = self._done
        if error is not None:
            raise error
        return found


@contextmanager
def run_in_child(call: Callable[[Tell], Result]) -> Iterator[Child[Result]]:
    """Call something in a process of its own while this one goes on.

    It has all that this one has at the time, and what it changes in memory stays there; what it
    tells, and its result, have to be picklable.

    Nobody waits for it in vain: when the block is left before its result was asked for, the process
    is told to end (SIGTERM raises `SystemExit` in the call), so that what it started is ended by
    whoever started it.
    """
    receiver, sender = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_call_and_send, args=(call, sender))
    # It inherits what is blocked: Ctrl-C, which reaches the whole group, finds none that does not
    # ignore it yet.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    sender.close()
    try:
        yield Child(receiver, process)
    finally:
        receiver.close()
        process.terminate()
        process.join()


def _call_and_send(call: Callable[[Tell], object], sender: Connection) -> None:
    gc.disable()
    # The main process alone answers Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    found: tuple[object, Exception | None]
    try:
        found = call(lambda message: sender.send((message,))), None
    except Exception as error:
        found = None, error
    with suppress(BrokenPipeError):
        sender.send(found)


@contextmanager
def without_gc(*, last: bool = False) -> Iterator[None]:
    """Syntax trees are millions of objects without cycles: collecting while they grow takes a third
    of the time. Where the process ends soon after (`last`), what it made until then is never looked
    through.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last:
            gc.freeze()
        if enabled:
            gc.enable()


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
    """`[call(item) for item in items]`, in `jobs` processes; one job stays in this process.

    Raises ShrinkerError when a worker was killed (out of memory, by a person).

    Args:
        call: a module-level function (it is pickled by name), or a `functools.partial` of one.
        weights: cost of each item, in any unit (bytes); the batches are balanced by it.
    """
    if jobs <= 1 or len(items) < 2:
        return _run_batch(call, items)
    count = min(len(items), jobs * _BATCHES_PER_WORKER)
    # The heaviest item of each batch first, then the next ones in turn: none weighs much more than
    # another.
    heaviest = sorted(range(len(items)), key=lambda i: -weights[i])
    batches = [heaviest[start::count] for start in range(count)]
    results: dict[int, Result] = {}
    try:
        # Ctrl-C: leaving the pool waits for the batches in hand and for no other.
        with WorkerPool(min(jobs, count)) as pool:
            futures = [
                pool.submit(_run_batch, call, [items[i] for i in batch]) for batch in batches
            ]
            for batch, future in zip(batches, futures, strict=True):
                results.update(zip(batch, future.result(), strict=True))
                progress(len(results), len(items))
    except BrokenProcessPool as error:
        raise ShrinkerError(
            "a worker process was killed before it finished (often: out of memory)",
            "run again with fewer JOBS",
        ) from error
    return [results[i] for i in range(len(items))]


def cached(layer: Layer, key: bytes, make: Callable[[], Any]) -> Any:
    """Return what `make` gives, or gave for an equal key before."""
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
    """Return what `call` gives for each path, in the order of the paths; only what the layer does
    not hold is computed. Raises as `map_files`.

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
