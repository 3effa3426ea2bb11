"""Run one command as a fresh process tree and measure it from outside; memory is sampled from
/proc.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Linux counts in KiB, macOS in bytes.
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one process tree took."""

    exit_code: int
    """Negative: ended by that signal."""
    timed_out: bool
    wall_seconds: float
    cpu_seconds: float
    """User and system time of the process and of every descendant that was waited for."""
    largest_process_bytes: int | None
    """`ru_maxrss`: peak resident set of the largest single process, kept by the kernel.

    ``None`` when it is no larger than that of the measuring process: a child starts with its
    parent's peak, so it says nothing then.
    """
    tree_rss_bytes: int | None
    """Peak sum of resident sets, sampled; shared pages count once a process.

    ``None`` without /proc.
    """
    tree_pss_bytes: int | None
    """Peak sum of proportional sets, sampled; shared pages count once.

    ``None`` where the kernel has none.
    """
    sampler_cpu_seconds: float
    """What watching cost, outside the measured tree."""

    @property
    def memory_bytes(self) -> int:
        """The figure that budgets are judged by: the largest upper bound there is."""
        return max(self.largest_process_bytes or 0, self.tree_rss_bytes or 0)


def measure(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    cores: Sequence[int] = (),
    limit_seconds: float | None = None,
) -> Measurement:
    """Run `command` to its end.

    Args:
        folder: working directory; gets the files ``stdout`` and ``stderr``.
        environment: the whole environment of the process.
        cores: the only cores that the tree may use; empty for no restriction.
        limit_seconds: after so long the whole process group is killed.

    Raises:
        OSError: the command cannot be started.
    """

    def restrict() -> None:
        if cores:
            os.sched_setaffinity(0, cores)

    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=restrict if cores else None,
        )
        expired = threading.Event()
        clock = threading.Timer(
            limit_seconds or threading.TIMEOUT_MAX, _expire, (process.pid, expired)
        )
        clock.daemon = True
        if limit_seconds:
            clock.start()
        sampler = Sampler(process.pid)
        sampler.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
        except BaseException:
            _kill_group(process.pid)
            process.wait()
            raise
        finally:
            clock.cancel()
            sampler.stop()
        # Popen must not wait for a process that is gone.
        process.returncode = os.waitstatus_to_exitcode(status)
        # Workers that outlived the process belong to the run, and must not disturb the next one.
        _kill_group(process.pid)
    return _measurement(process.returncode, expired.is_set(), wall, usage, sampler)


def _measurement(
    code: int, timed_out: bool, wall: float, usage: resource.struct_rusage, sampler: Sampler
) -> Measurement:
    largest = usage.ru_maxrss * _MAXRSS_UNIT
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT
    return Measurement(
        exit_code=code,
        timed_out=timed_out,
        wall_seconds=wall,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        largest_process_bytes=None if sampler.rss and largest <= own else largest,
        tree_rss_bytes=sampler.rss or None,
        tree_pss_bytes=sampler.pss or None,
        sampler_cpu_seconds=sampler.cpu_seconds,
    )


def _expire(group: int, expired: threading.Event) -> None:
    expired.set()
    _kill_group(group)


def _kill_group(group: int) -> None:
    # macOS refuses permission for a group whose members have all ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


INTERVAL_SECONDS = 0.05
# Reading a proportional set walks the page tables (about 15 ms a GiB), too much for every sample:
# it is read when the resident set has grown by this factor, and every so many samples.
_GROWTH = 1.02
_PSS_EVERY = 20

_PROC = Path("/proc")


class Sampler:
    """Watches a process and its descendants until told to stop; does nothing where there is no
    /proc.
    """

    def __init__(self, pid: int) -> None:
        self.rss = 0
        """Peak sum of resident sets, bytes."""
        self.pss = 0
        """Peak sum of proportional sets, bytes."""
        self.cpu_seconds = 0.0
        self._pid = pid
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin."""
        if _PROC.joinpath("self/statm").exists():
            self._thread.start()

    def stop(self) -> None:
        """End; the peaks are final then."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        begin, count, last = time.thread_time(), 0, 0
        while True:
            pids = descendants(self._pid)
            rss = sum(_resident_pages(pid) for pid in pids) * page
            self.rss = max(self.rss, rss)
            if rss > last * _GROWTH or count % _PSS_EVERY == 0:
                last = max(last, rss)
                self.pss = max(self.pss, sum(_proportional_bytes(pid) for pid in pids))
            count += 1
            self.cpu_seconds = time.thread_time() - begin
            if self._stopped.wait(INTERVAL_SECONDS):
                return


def descendants(pid: int) -> list[int]:
    """Return the process and every living descendant; those that end meanwhile may be missing."""
    found = [pid]
    for parent in found:
        try:
            threads = os.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for thread in threads:
            try:
                found.extend(
                    map(int, Path(f"/proc/{parent}/task/{thread}/children").read_text().split())
                )
            except OSError:
                continue
    return found


def _resident_pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0


def _proportional_bytes(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next(
        (int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0
    )
