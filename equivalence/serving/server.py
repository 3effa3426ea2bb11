"""A server in a process group of its own: started, awaited by its log, and always ended."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from equivalence.serving.processes import GroupMemory, group_alive

READY = "The server is fired up and ready to roll"
"""What upstream's server logs once its first request was answered."""

_POLL_SECONDS = 0.2


class NotReady(Exception):
    """A server that ended, or was not ready in time; `tail` is the end of its log."""

    def __init__(self, message: str, tail: str) -> None:
        super().__init__(message)
        self.tail = tail


@dataclass(frozen=True)
class Launch:
    """How a server is started.

    Attributes:
        name: what reports call it.
        command: program and arguments.
        environment: what is set on top of this process's environment; None takes a variable away.
        log: the file that gets all that it prints.
        folder: where it runs; None: here.
        ready: the text in the log that says that it answers.
        ready_seconds: how long it may take until then.
        stop_seconds: how long it may take to end by itself once asked.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str | None] = field(default_factory=dict)
    log: Path = Path("server.log")
    folder: Path | None = None
    ready: str = READY
    ready_seconds: float = 300.0
    stop_seconds: float = 15.0

    def full_environment(self) -> dict[str, str]:
        """This process's environment with the launch's own on top."""
        merged: dict[str, str | None] = {**os.environ, **self.environment}
        return {name: value for name, value in merged.items() if value is not None}


class Server:
    """A context manager: entering starts the server, leaving ends its whole process group, whatever happened.

    Attributes:
        launch: how it was started.
        pid: id of the leader and of the group, 0 before it is started.
        ready_after: seconds from the start to the ready text, None before that.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.pid = 0
        self.ready_after: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._memory: GroupMemory | None = None
        self._started = 0.0

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Start it in a session of its own, so that its group can be ended by one id."""
        self.launch.log.parent.mkdir(parents=True, exist_ok=True)
        with self.launch.log.open("wb") as log:
            self._started = time.monotonic()
            self._process = subprocess.Popen(
                list(self.launch.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.launch.full_environment(),
                cwd=self.launch.folder,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._memory = GroupMemory(self.pid)
        self._memory.start()

    def wait_ready(self) -> float:
        """Wait for the ready text in the log, and return the seconds it took from the start.

        Reading the log rather than asking for health sends nothing that could change what the server answers later.

        Raises:
            NotReady: it ended before, or the time is over.
        """
        limit = self._started + self.launch.ready_seconds
        wanted, kept, offset = self.launch.ready.encode(), b"", 0
        while True:
            ended = self.returncode() is not None
            with self.launch.log.open("rb") as log:
                log.seek(offset)
                fresh = log.read()
            offset += len(fresh)
            kept = (kept + fresh)[-max(len(wanted), 1) - len(fresh) :]
            if wanted in kept:
                self.ready_after = time.monotonic() - self._started
                return self.ready_after
            if ended:
                raise NotReady(f"{self.launch.name}: ended with {self.returncode()} before it was ready", self.tail())
            if time.monotonic() > limit:
                raise NotReady(f"{self.launch.name}: not ready after {self.launch.ready_seconds:.0f} s", self.tail())
            time.sleep(_POLL_SECONDS)

    def returncode(self) -> int | None:
        """Exit status of the leader, None while it runs."""
        return self._process.poll() if self._process else None

    def peak_memory(self) -> int:
        """Largest host memory seen of the whole group, bytes; shared pages count once (see `GroupMemory`)."""
        return self._memory.peak if self._memory else 0

    def text(self) -> str:
        """The log so far."""
        return self.launch.log.read_text("utf-8", "replace") if self.launch.log.exists() else ""

    def tail(self, lines: int = 30) -> str:
        """The last lines of the log."""
        return "\n".join(self.text().splitlines()[-lines:])

    def stop(self) -> None:
        """End the group: asked first, killed when it does not; returns once no process of it runs."""
        process = self._process
        if process is None:
            return
        if self._memory:
            self._memory.stop()
        for number, seconds in ((signal.SIGTERM, self.launch.stop_seconds), (signal.SIGKILL, 10.0)):
            # The leader may be gone and its children not: the group is asked, not the leader.
            if not self._signal(number):
                break
            limit = time.monotonic() + seconds
            while time.monotonic() < limit:
                process.poll()
                if not group_alive(self.pid):
                    break
                time.sleep(0.05)
        process.poll()
        self._process = None if process.returncode is not None else process

    def _signal(self, number: int) -> bool:
        assert self._process is not None
        self._process.poll()
        if not group_alive(self.pid):
            return False
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True


_PORTS = range(21_000, 31_000, 40)
"""Apart, and low: servers take further ports above their own, one of them 10,000 above."""

_given: set[int] = set()


def free_port() -> int:
    """A TCP port of this machine that nothing listens on now; never the same twice in a process, below 31,000.

    Raises:
        OSError: all are taken.
    """
    for _ in range(len(_PORTS)):
        port = random.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port
    raise OSError("no free port")
