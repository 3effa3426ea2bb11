"""Many observations in the time there is: in order, some at once where asked, each kept in a file and not made twice."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shrinker.verify.gpu import imports, startup, throughput
from shrinker.verify.gpu.cells import Cell
from shrinker.verify.gpu.observe import observe
from shrinker.verify.gpu.trees import Environment, Tree
from shrinker.verify.gpu.verdict import judge_cell

FORMAT = 1
_SMALLEST = 40.0
"""Seconds below which no server is started any more."""


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Attributes:
        trees: upstream first, then the generated one.
        environment: where both run.
        checkpoints: folder of the cells' checkpoints.
        out: where results go; what is there already is not run again unless tree or cell changed.
        cells: in order.
        seconds: time for all.
        cell_seconds: time for one server, or one benchmark cell.
        gpus: ids of the GPUs that may be used.
        at_once: servers at a time; 1: one after the other, as times should be taken.
        stagger: seconds between two starts, where several run at once.
        profile: whether kernels are listed.
        retry: run again what failed in an earlier run.
    """

    trees: tuple[Tree, Tree]
    environment: Environment
    checkpoints: Path
    out: Path
    cells: Sequence[Cell]
    seconds: float = 4 * 3600.0
    cell_seconds: float = 900.0
    gpus: Sequence[int] = (0,)
    at_once: int = 1
    stagger: float = 15.0
    profile: bool = True
    retry: bool = False
    progress: Callable[[str], None] = field(default=lambda text: print(text, flush=True))


class _Run:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.end = time.monotonic() + plan.seconds
        self.digests = {tree.name: tree.digest() for tree in plan.trees}
        self.lock = threading.Lock()
        self.starting = threading.Lock()
        self.used = dict.fromkeys(plan.gpus, 0)
        self.last_start = 0.0
        self.begin = time.monotonic()

    def note(self, text: str) -> None:
        """Progress, with the seconds since the start."""
        self.plan.progress(f"[{time.monotonic() - self.begin:6.1f}] {text}")

    def kept(self, name: str, key: dict[str, Any]) -> dict[str, Any] | None:
        """What an earlier run wrote for the same key."""
        path = self.plan.out / "seen" / f"{name}.json"
        try:
            document = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) and document.get("key") == key else None

    def _settled(self, name: str, key: dict[str, Any]) -> bool:
        found = self.kept(name, key)
        failed = found is not None and (
            "error" in found or str(found.get("result", "")).startswith(("fails", "not run"))
        )
        return found is not None and not (failed and self.plan.retry)

    def keep(self, name: str, key: dict[str, Any], seen: dict[str, Any]) -> dict[str, Any]:
        """Write what was seen, at once, so that a run that is cut off loses one server at most."""
        document = {"key": key, **seen}
        _write(self.plan.out / "seen" / f"{name}.json", document)
        return document

    def key(self, cell: Cell, names: Sequence[str]) -> dict[str, Any]:
        """What an observation depends on."""
        return {
            "format": FORMAT,
            "trees": {name: self.digests[name] for name in names},
            "arguments": cell.server_arguments(),
            "environment": dict(cell.environment),
            "checkpoint": cell.checkpoint,
            "tokens": cell.tokens,
            "features": sorted(cell.features),
            "nodes": cell.nodes,
        }

    def one(self, cell: Cell, tree: Tree) -> None:
        """One server of one cell, unless it was seen before or the time is over."""
        name, key = f"{cell.name}.{tree.name}", self.key(cell, [tree.name])
        if self._settled(name, key):
            return
        gpus = self._take(cell.gpus)
        try:
            self._wait_turn()
            limit = min(self.end, time.monotonic() + self.plan.cell_seconds)
            if limit - time.monotonic() < _SMALLEST:
                return
            self.note(f"{name}: starting on GPU {', '.join(map(str, gpus))}")
            plan = self.plan
            seen = observe(
                cell, tree, plan.environment, plan.checkpoints, plan.out, gpus, limit, self.note, plan.profile
            )
            if "error" in seen and "not ready after" in seen["error"] and limit >= self.end:
                # The time of the whole run ended it: that says nothing about the cell.
                _write(plan.out / "cut" / f"{name}.json", seen)
                return
            self.keep(name, key, {**seen, "at_once": plan.at_once})
        finally:
            self._give(gpus)

    def pair(self, cell: Cell) -> None:
        """A cell in which both trees take turns."""
        key = self.key(cell, list(self.digests))
        if self._settled(cell.name, key):
            return
        limit = min(self.end, time.monotonic() + self.plan.cell_seconds)
        if limit - time.monotonic() < _SMALLEST:
            return
        self.note(f"{cell.name}: starting")
        plan = self.plan
        gpus = self._take(cell.gpus)
        try:
            if cell.kind == "import":
                seen = imports.measure(plan.trees, plan.environment, limit, self.note)
            else:
                measure = startup.measure if cell.kind == "startup" else throughput.measure
                seen = measure(cell, plan.trees, plan.environment, plan.checkpoints, plan.out, gpus, limit, self.note)
        finally:
            self._give(gpus)
        self.keep(cell.name, key, seen)

    def _take(self, count: int) -> list[int]:
        with self.lock:
            chosen = sorted(sorted(self.used, key=lambda gpu: (self.used[gpu], gpu))[:count])
            for gpu in chosen:
                self.used[gpu] += 1
            return chosen

    def _give(self, gpus: Sequence[int]) -> None:
        with self.lock:
            for gpu in gpus:
                self.used[gpu] -= 1

    def _wait_turn(self) -> None:
        with self.starting:
            if self.plan.at_once > 1 and self.last_start:
                time.sleep(max(0.0, self.last_start + self.plan.stagger - time.monotonic()))
            self.last_start = time.monotonic()


def run(plan: Plan) -> list[dict[str, Any]]:
    """Run what is not there yet and judge all cells; returns the rows, one a cell, in the plan's order."""
    state = _Run(plan)
    answers = [cell for cell in plan.cells if cell.kind == "answers" and cell.gpus <= len(plan.gpus)]
    tasks = [(cell, tree) for cell in answers for tree in plan.trees]
    _parallel([lambda c=c, t=t: state.one(c, t) for c, t in tasks], plan.at_once, state.note)  # type: ignore[misc]
    for cell in plan.cells:
        # Times are taken with nothing else running.
        if cell.kind != "answers" and cell.gpus <= len(plan.gpus):
            state.pair(cell)
    return [_row(state, cell) for cell in plan.cells]


def _row(state: _Run, cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {"cell": cell.name, "kind": cell.kind, "checkpoint": cell.checkpoint, "why": cell.why}
    row |= {"arguments": " ".join(cell.server_arguments()), "environment": dict(cell.environment), "gpus": cell.gpus}
    if cell.kind != "answers":
        seen = state.kept(cell.name, state.key(cell, list(state.digests)))
        row |= {"result": "not run"} if seen is None else {k: v for k, v in seen.items() if k != "key"}
    else:
        both = [state.kept(f"{cell.name}.{t.name}", state.key(cell, [t.name])) for t in state.plan.trees]
        upstream, generated = both
        if upstream is None or generated is None:
            row["result"] = "not run"
        else:
            row |= judge_cell(upstream, generated)
            for name in ("ready_seconds", "peak_host_bytes", "at_once"):
                row[name] = [upstream.get(name), generated.get(name)]
    _write(state.plan.out / "cells" / f"{cell.name}.json", row)
    return row


def _parallel(tasks: Sequence[Callable[[], None]], at_once: int, note: Callable[[str], None]) -> None:
    waiting = list(tasks)
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                task = waiting.pop(0)
            try:
                task()
            except Exception as error:
                # One cell's trouble is not the others': it is told, and the cell has no row.
                note(f"error: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=work) for _ in range(min(at_once, len(waiting)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".tmp")
    aside.write_text(json.dumps(document, indent=1, ensure_ascii=True) + "\n", "utf-8")
    aside.replace(path)
