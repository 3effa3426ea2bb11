"""Commands and children that always end: in a process group of their own, with a time limit, ended
with all that they started.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

_PROC = Path("/proc")
_MEMORY_PERIOD = 0.5


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    code: int | None
    """Exit code; None when it ran past its limit and was killed."""
    output: Path
    """File with all that it wrote."""

    def text(self) -> str:
        """Return all that it wrote."""
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""

    def tail(self, lines: int = 5) -> str:
        """Return the last lines that it wrote."""
        return "\n".join(self.text().strip().splitlines()[-lines:])


class Group:
    """A command that runs in a group of its own: a context manager, which ends all of the group,
    whatever happened.

    Args:
        variables: its whole environment.
        log: file for what it writes to both streams.
        folder: where it runs; None: here.
        grace: seconds in which it may end by itself once asked; without them it is killed.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        variables: Mapping[str, str],
        log: Path,
        folder: Path | None = None,
        grace: float = 0.0,
    ) -> None:
        self.peak = 0
        """Largest memory seen of the whole group, bytes; pages that processes share count once."""
        self._grace = grace
        log.parent.mkdir(parents=True, exist_ok=True)
        # A session of its own is a group of its own.
        how: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stderr": subprocess.STDOUT,
            "start_new_session": True,
        }
        with log.open("wb") as file:
            self._process = subprocess.Popen(command, env=variables, cwd=folder, stdout=file, **how)
        self.pid = self._process.pid
        """Of the leader and of the group."""
        # Reads until this process is no more, however it ended, and ends the group then.
        last = ["sh", "-c", f"read _; kill -9 -{self.pid}"]
        self._guard = subprocess.Popen(
            last, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._over = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        for number, seconds in ((signal.SIGTERM, self._grace), (signal.SIGKILL, 10.0)):
            limit = time.monotonic() + seconds
            if seconds and self._alive():
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, number)
            # The leader may be gone and its children not.
            while time.monotonic() < limit and self._alive():
                time.sleep(0.02)
        self._guard.kill()
        self._guard.communicate()
        self.wait(1.0)

    def watch_memory(self) -> None:
        """Sample the memory of the group twice a second, until it ends."""

        def watch() -> None:
            while not self._over.wait(_MEMORY_PERIOD):
                self.peak = max(self.peak, sum(map(_memory_of, members(self.pid))))

        threading.Thread(target=watch, daemon=True).start()

    def wait(self, seconds: float) -> int | None:
        """Exit code of the leader; None when it still runs after so many seconds."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def _alive(self) -> bool:
        self._process.poll()
        return bool(members(self.pid))


def process_environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return this process's environment with some variables set; None takes one away."""
    return {name: value for name, value in {**os.environ, **changes}.items() if value is not None}


def run(
    command: Sequence[str | Path], *, variables: Mapping[str, str], output: Path, limit: float
) -> Finished:
    """Run a command to its end, or end it and all that it started after `limit` seconds; it runs
    beside the file for its output. `variables` is its whole environment.
    """
    with Group(command, variables, output, output.parent) as group:
        return Finished(group.wait(limit), output)


def execute(
    command: Sequence[str],
    seconds: float,
    variables: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command for what it prints; one that does not start or takes too long has failed, and
    says why.
    """
    try:
        return subprocess.run(
            command,
            env=variables,
            cwd=folder,
            capture_output=True,
            timeout=seconds,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def members(group: int) -> list[int]:
    """Process ids of a group, zombies left out: they hold nothing and wait for their parent
    only.
    """
    found = []
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            # The command may hold spaces and brackets: what follows its last bracket is state,
            # parent, group.
            state, _, owner = (
                (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
            )
            if int(owner) == group and state not in "ZX":
                found.append(int(entry.name))
    return found


def _memory_of(pid: int) -> int:
    """Proportional set size of a process in bytes (pages shared by n processes count 1/n), 0 when
    it is gone.
    """
    with suppress(OSError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def given() -> Any:
    """Return what a program is given: the JSON in the file that its first argument names."""
    return json.loads(Path(sys.argv[1]).read_text("utf-8"))


def tell(result: Any, **options: Any) -> NoReturn:
    """Write a program's result as JSON into the file that its second argument names, and end:
    nothing that it started keeps it.
    """
    Path(sys.argv[2]).write_text(json.dumps(result, **options), "utf-8")
    os._exit(0)


def in_child(show: Callable[[], Any], seconds: int) -> tuple[int, Any]:
    """Call a function in a child that knows all that is loaded, and nothing of other children; it
    ends with all that it started. How it ended, and the result, which travels as JSON beside the
    program's own; None where there is none.
    """
    place = Path(f"{sys.argv[2]}.child")
    place.unlink(missing_ok=True)
    # No child looks through all that is loaded for what nothing refers to.
    gc.freeze()
    child = os.fork()
    if not child:
        os.setsid()
        signal.alarm(seconds)
        place.write_text(json.dumps(show()), "utf-8")
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    return code, json.loads(place.read_text("utf-8")) if not code and place.exists() else None
