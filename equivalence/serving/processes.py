"""The processes of one group, read from the kernel's tables: whether any runs, and how much memory they hold."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_PROC = Path("/proc")
_MEMORY_PERIOD = 0.5


def group_members(group: int) -> list[int]:
    """Process ids of a group, zombies left out: they hold nothing and wait for their parent only."""
    members = []
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The command may hold spaces and brackets: what follows its last bracket is state, parent, group.
            fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            members.append(int(entry.name))
    return members


def group_alive(group: int) -> bool:
    """Whether a process of the group still runs."""
    if _PROC.is_dir():
        return bool(group_members(group))
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def memory_of(pid: int) -> int:
    """Proportional set size of a process in bytes (pages shared by n processes count 1/n), 0 when it is gone."""
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class GroupMemory:
    """Samples the memory of a process group in a thread; `peak` is the largest sum seen, in bytes."""

    def __init__(self, group: int) -> None:
        self.peak = 0
        self._group = group
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to sample, twice a second."""
        self._thread.start()

    def stop(self) -> None:
        """Sample no more; may be called twice."""
        self._end.set()
        self._thread.join(timeout=5)

    def _watch(self) -> None:
        while not self._end.wait(_MEMORY_PERIOD):
            self.peak = max(self.peak, sum(memory_of(pid) for pid in group_members(self._group)))
