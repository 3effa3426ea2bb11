"""Run a command that waits in the middle: `driver.py PHASE ACTION ARGUMENTS...`.

PHASE is where to wait for a line on standard input; with a `+` at its end, not when the phase
begins but when it first tells of progress. The line `PAUSED pid...` on standard error names the
worker processes.

ACTION: `die N` ends the process without any clean-up (as SIGKILL would) before the N-th rename of
the final replacement; `full NAME` fills the disk for a file of that name; `slow SECONDS` lets
workers take that long for a file.
"""

import errno
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from shrinker.cli import main, options
from shrinker.emit import staging


def wait(at: str) -> None:
    """Pause in a phase."""
    wanted = at.removesuffix("+")
    current = ""

    def pause(phase: str) -> None:
        nonlocal wanted
        if phase == wanted:
            wanted = ""
            workers = [str(child.pid) for child in multiprocessing.active_children()]
            print("PAUSED", *workers, file=sys.stderr, flush=True)
            sys.stdin.readline()

    def phase(self: options.LineProgress, name: str) -> None:
        nonlocal current
        current = name
        if not at.endswith("+"):
            pause(name)

    def advance(self: options.LineProgress, done: int, total: int | None = None) -> None:
        if at.endswith("+") and (multiprocessing.active_children() or "jobs1" in at):
            pause(current)

    options.LineProgress.phase = phase  # type: ignore[method-assign]
    options.LineProgress.advance = advance  # type: ignore[method-assign]


def die(before: int) -> None:
    """Count the renames of `install`."""
    count = 0
    install = staging.install

    def counted(*arguments: object, **named: object) -> tuple[Path, ...]:
        for name in ("rename", "replace"):
            plain = getattr(Path, name)

            def rename(self: Path, target: Path, plain: object = plain) -> Path:
                nonlocal count
                if count == before:
                    os._exit(9)
                count += 1
                return plain(self, target)  # type: ignore[operator, no-any-return]

            setattr(Path, name, rename)
        return install(*arguments, **named)  # type: ignore[arg-type]

    sys.modules["shrinker.pipeline"].install = counted  # type: ignore[attr-defined]


def full(wanted: str) -> None:
    """No space for a file; what is written goes through `write_bytes` or `open`."""
    import builtins

    no_space = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), wanted)
    write, plain = Path.write_bytes, builtins.open

    def write_bytes(self: Path, data: bytes) -> int:
        if self.name == wanted:
            raise no_space
        return write(self, data)

    def builtin(file: object, mode: str = "r", *arguments: object, **named: object) -> object:
        if isinstance(file, str) and file.endswith(f"/{wanted}") and "w" in mode:
            raise no_space
        return plain(file, mode, *arguments, **named)  # type: ignore[call-overload]

    Path.write_bytes = write_bytes  # type: ignore[method-assign, assignment]
    builtins.open = builtin  # type: ignore[assignment]


def slow(seconds: float) -> None:
    """Only in forked workers, so that one is surely at work when the main process pauses."""
    from shrinker.facts import environment
    from shrinker.fold import workers

    owner = os.getpid()

    def slowed(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            if os.getpid() != owner:
                time.sleep(seconds)
            return function(*arguments, **named)

        return call

    environment.outline = slowed(environment.outline)  # type: ignore[assignment, attr-defined]
    workers.fold_source = slowed(workers.fold_source)  # type: ignore[assignment, attr-defined]


if __name__ == "__main__":
    # As from a terminal, however the tests were started: a job in the background and `nohup` hand
    # down ignored signals.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    phase_name, action, *command = sys.argv[1:]
    if phase_name:
        wait(phase_name)
    if action:
        import shrinker.pipeline  # noqa: F401

        kind, _, value = action.partition(" ")
        if kind == "die":
            die(int(value))
        elif kind == "slow":
            slow(float(value))
        else:
            full(value)
    sys.argv = ["shrinker", *command]
    main()
