"""Commands that always end: in a process group of their own, with a time limit, killed with all they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    code: int | None
    """Exit code; None when it ran past its limit and was killed."""
    output: Path
    """File with all that it wrote."""
    seconds: float
    memory: int
    """Largest resident size in bytes of the command or one of its children, as the system counts it."""

    def tail(self, lines: int = 5) -> str:
        """The last lines that it wrote."""
        text = self.output.read_text("utf-8", errors="replace") if self.output.exists() else ""
        return "\n".join(text.strip().splitlines()[-lines:])


def run(
    command: Sequence[str | Path],
    *,
    variables: Mapping[str, str],
    output: Path,
    limit: float,
    folder: Path | None = None,
) -> Finished:
    """Run a command to its end.

    Args:
        command: program and arguments.
        variables: its whole environment.
        output: file for what it writes to both streams.
        limit: seconds after which it is killed, with everything in its group.
        folder: where it runs; by default beside `output`.
    """
    start = time.monotonic()
    with open(output, "wb") as file:
        process = subprocess.Popen(
            [str(part) for part in command],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=folder or output.parent,
            start_new_session=True,
        )
    with ended(process):
        code, memory = _wait(process, start + limit)
    return Finished(code, output, time.monotonic() - start, memory)


@contextlib.contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill the group of a process when the block is left, however it is left."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.returncode is None:
            with contextlib.suppress(ChildProcessError):
                process.wait()


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[int | None, int]:
    """Exit code, None after the deadline, and the largest resident size in bytes."""
    unit = 1 if os.uname().sysname == "Darwin" else 1024
    while True:
        found, status, usage = os.wait4(process.pid, os.WNOHANG)
        if found:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss * unit
        if time.monotonic() > deadline:
            return None, 0
        time.sleep(0.02)
