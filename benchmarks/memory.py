"""Peak memory of a process tree, sampled from /proc."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

INTERVAL_SECONDS = 0.05
# Reading a proportional set walks the page tables (about 15 ms a GiB), too much for every sample: it is read when
# the resident set has grown by this factor, and every so many samples.
_GROWTH = 1.02
_PSS_EVERY = 20

_PROC = Path("/proc")


class Sampler:
    """Watches a process and its descendants until told to stop; does nothing where there is no /proc."""

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
    """The process and every living descendant; those that end meanwhile may be missing."""
    found = [pid]
    for parent in found:
        try:
            threads = os.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for thread in threads:
            try:
                found.extend(map(int, Path(f"/proc/{parent}/task/{thread}/children").read_text().split()))
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
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)
