"""A server: started, awaited by its log, and always ended."""

import random
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equivalence.processes import Group, process_environment

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
    """How a server is started, by the name that reports call it."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """What is set on top of this process's environment; None takes a variable away."""
    log: Path = Path("server.log")
    folder: Path | None = None
    """Where it runs; None: here."""
    ready: str = READY
    """The text in the log that says that it answers."""
    ready_seconds: float = 300.0
    stop_seconds: float = 15.0
    """How long it may take to end by itself once asked; 0: it is killed, where nobody looks at how
    it ends.
    """


class Server(Group):
    """A server that is started when this is made; a context manager that ends its whole process
    group.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._started = time.monotonic()
        variables = process_environment(launch.environment)
        super().__init__(launch.command, variables, launch.log, launch.folder, launch.stop_seconds)
        self.watch_memory()

    def wait_ready(self) -> float:
        """Wait for the ready text in the log, and return the seconds it took from the start.

        Reading the log rather than asking for health sends nothing that could change what the
        server answers later. Raises NotReady where it ended before, or the time is over.
        """
        limit = self._started + self.launch.ready_seconds
        wanted, kept = self.launch.ready.encode(), b""
        with self.launch.log.open("rb") as log:
            while True:
                code, late = self.wait(0), time.monotonic() > limit
                kept = kept[-len(wanted) :] + log.read()
                if wanted in kept:
                    return time.monotonic() - self._started
                if code is not None or late:
                    how = f"not ready after {self.launch.ready_seconds:.0f} s"
                    said = how if code is None else f"ended with {code} before it was ready"
                    raise NotReady(
                        f"{self.launch.name}: {said}", "\n".join(self.text().splitlines()[-30:])
                    )
                time.sleep(_POLL_SECONDS)

    def text(self) -> str:
        """Return the log so far."""
        return self.launch.log.read_text("utf-8", "replace")


_PORTS = range(21_000, 31_000, 40)
"""Apart, and low: servers take further ports above their own, one of them 10,000 above."""

_given: list[socket.socket] = []
"""A datagram's port of the same number is held for each: no server asks for it, and the next one
who looks finds it taken.
"""


def free_port() -> int:
    """Return a TCP port of this machine that nothing listens on now, below 31,000; until the
    process ends no other is given it, and it not twice. Raises OSError where all are taken.
    """
    for _ in range(len(_PORTS)):
        port, held = random.choice(_PORTS), socket.socket(type=socket.SOCK_DGRAM)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                held.bind(("127.0.0.1", port))
            except OSError:
                held.close()
            else:
                _given.append(held)
                return port
    raise OSError("no free port")
