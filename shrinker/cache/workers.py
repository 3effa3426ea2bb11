"""Processes that share what is loaded, since they start by fork: a pool of workers, and single calls beside what goes on here.

A killed worker is always noticed. The standard pool reads results from one pipe. A worker that is killed (by a person, for memory) in the
middle of a large result leaves it waiting for the rest for ever. Here a result travels in a file and only
its path through the pipe: so few bytes are written whole or not at all.
"""

import gc
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Generic, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")
_FORK = get_context("fork")


class WorkerPool(ProcessPoolExecutor):
    """A `ProcessPoolExecutor` that raises BrokenProcessPool whenever a worker was killed, and never hangs on it."""

    def __init__(
        self, jobs: int, initializer: Callable[..., object] | None = None, initargs: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(jobs, _FORK, initializer, initargs)
        self._folder = tempfile.TemporaryDirectory(prefix="shrinker-", ignore_cleanup_errors=True)

    def submit(self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Result]:
        """Run `fn` in a worker; `map` comes here too."""
        try:
            return super().submit(_call, self._folder.name, fn, args, kwargs)  # type: ignore[arg-type]
        except OSError as error:
            # A worker that is killed while the others are being started closes the queues under them.
            raise BrokenProcessPool(f"the worker processes could not be started: {error}") from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the workers after the calls in hand, and remove what they left when nothing of it can be asked for any more."""
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


def _call(folder: str, fn: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Parcel:
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
        """What it tells, until it is done."""
        with suppress(EOFError):
            while self._done is None:
                # Subtle: who it started holds the same pipe, which does not end where it alone is killed.
                while not self._receiver.poll(_LISTEN_SECONDS):
                    if not self._process.is_alive() and not self._receiver.poll(0):
                        return
                message = self._receiver.recv()
                if len(message) == 1:
                    yield message[0]
                else:
                    self._done = message

    def __call__(self) -> Result:
        """Wait for the result, once, or raise what the call raised; BrokenProcessPool where the process was killed."""
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
    """Call something in a process of its own while this one goes on. It has all that this one has at the time, and what it changes in memory stays
    there; what it tells, and its result, have to be picklable.

    Nobody waits for it in vain: when the block is left before its result was asked for, the process is told to end (SIGTERM raises `SystemExit`
    in the call), so that what it started is ended by whoever started it.
    """
    receiver, sender = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_call_and_send, args=(call, sender))
    # It inherits what is blocked: Ctrl-C, which reaches the whole group, finds none that does not ignore it yet.
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
    """Syntax trees are millions of objects without cycles: collecting while they grow takes a third of the time. Where the process ends soon
    after (`last`), what it made until then is never looked through."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last:
            gc.freeze()
        if enabled:
            gc.enable()
