"""A command in a process group of its own with a time limit, for what is no server."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equivalence.serving import Launch, Server


@dataclass(frozen=True)
class Done:
    """How a command ended: `code` None when its time was over; `text` is all that it printed."""

    code: int | None
    text: str
    seconds: float


def complete(
    name: str, command: Sequence[str], environment: Mapping[str, str | None], log: Path, seconds: float
) -> Done:
    """Run a command to its end, or end its group after `seconds`."""
    begin = time.monotonic()
    with Server(Launch(name, command, environment, log, stop_seconds=5.0)) as process:
        while process.returncode() is None and time.monotonic() - begin < seconds:
            time.sleep(0.05)
        code = process.returncode()
        took = time.monotonic() - begin
    return Done(code, process.text(), took)
