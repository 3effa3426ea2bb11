"""Lines of a tree's own files that a simulated process executes, apart those that run while a
module is imported.

A server's processes are killed rather than ended, so each of them answers while it runs: a thread
looks for the file `asked` in the folder, and writes what was executed so far. A process that ends
by itself writes when it does.
"""

import atexit
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from equivalence.simulation.settings import current

ASKED = "asked"
_POLL_SECONDS = 0.2
_RUNNING, _IMPORTING = "running", "importing"


@dataclass(frozen=True, slots=True)
class Executed:
    """Numbers of lines, by path below the followed folder."""

    running: Mapping[str, frozenset[int]]
    """Executed while no module was being imported."""
    importing: Mapping[str, frozenset[int]]
    """Executed by the body of a module, or by what that called. A line may be in both."""


def install() -> None:
    """Follow this process and its threads, where the settings name a folder for that; needs
    `coverage`.
    """
    settings = current()
    if not settings.executed:
        return
    # The one that tells contexts apart, on every version of Python.
    os.environ.setdefault("COVERAGE_CORE", "ctrace")
    import coverage

    # In memory: many processes write at once, and nothing but the lines is wanted.
    ours = [os.path.join(settings.followed, "*")]
    recorder = coverage.Coverage(data_file=None, include=ours, config_file=False, messages=False)
    recorder.start()
    recorder.switch_context(_RUNNING)
    _tell_imports(recorder, settings.followed)
    watch = _Watch(recorder, settings.executed, settings.followed)
    watch.start()
    os.register_at_fork(after_in_child=watch.start)
    atexit.register(watch.write)
    leave = os._exit

    def _exit(status: int) -> None:
        watch.write()
        leave(status)

    os._exit = _exit  # type: ignore[assignment]


def _tell_imports(recorder: Any, root: str) -> None:
    """Switch to another context while the body of a module of the tree runs."""
    execute = SourceFileLoader.exec_module
    depth = 0

    def exec_module(self: SourceFileLoader, module: ModuleType) -> None:
        nonlocal depth
        ours = self.path.startswith(root)
        if ours and not depth:
            recorder.switch_context(_IMPORTING)
        depth += ours
        try:
            execute(self, module)
        finally:
            depth -= ours
            if ours and not depth:
                recorder.switch_context(_RUNNING)

    SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign,assignment]


class _Watch:
    """Writes one process's lines."""

    def __init__(self, recorder: Any, folder: str, root: str) -> None:
        self._recorder, self._folder, self._root = recorder, folder, root
        self._answered = False

    def start(self) -> None:
        """Note that this process is there, and answer when asked."""
        # Anew: a fork may have happened while another thread held it.
        self._lock = threading.Lock()
        self._put({})
        threading.Thread(target=self._wait, name="shrinker-executed", daemon=True).start()

    def write(self) -> None:
        """Write what was executed so far."""
        with self._lock:
            data = self._recorder.get_data()
            found: dict[str, dict[str, list[int]]] = {}
            for context in (_RUNNING, _IMPORTING):
                data.set_query_context(context)
                # An empty module counts as executed at line 0.
                files = {
                    f: sorted(set(data.lines(f) or ()) - {0}) for f in sorted(data.measured_files())
                }
                found[context] = {
                    os.path.relpath(f, self._root): lines for f, lines in files.items() if lines
                }
            self._put(found)

    def _put(self, found: Mapping[str, Mapping[str, list[int]]]) -> None:
        place = os.path.join(self._folder, f"{os.getpid()}.json")
        with open(f"{place}.new", "w", encoding="utf-8") as file:
            json.dump({"answered": self._answered, **found}, file)
        os.replace(f"{place}.new", place)

    def _wait(self) -> None:
        place = os.path.join(self._folder, ASKED)
        while not os.path.exists(place):
            time.sleep(_POLL_SECONDS)
        self._answered = True
        self.write()


def ask(folder: Path, seconds: float) -> bool:
    """Have every living process of a folder write, once; False when one did not within so many
    seconds.
    """
    files = list(folder.glob("*.json"))
    (folder / ASKED).touch()
    limit = time.monotonic() + seconds
    while any(
        Path("/proc", f.stem).exists() and not json.loads(f.read_text("utf-8"))["answered"]
        for f in files
    ):
        if time.monotonic() > limit:
            return False
        time.sleep(_POLL_SECONDS / 2)
    return True


def read(folder: Path) -> Executed:
    """Return lines of all processes that wrote into a folder, together."""
    files = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    return together(Executed(file.get(_RUNNING, {}), file.get(_IMPORTING, {})) for file in files)


def together(parts: Iterable[Executed]) -> Executed:
    """Return the lines of several processes or programs."""
    found: dict[str, dict[str, frozenset[int]]] = {_RUNNING: {}, _IMPORTING: {}}
    for part in parts:
        for kind, lines in found.items():
            for path, numbers in getattr(part, kind).items():
                lines[path] = lines.get(path, frozenset()).union(numbers)
    return Executed(**found)


def clear(folder: Path) -> None:
    """Make the folder, and forget what an earlier run left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
