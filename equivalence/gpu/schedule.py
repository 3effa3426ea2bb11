"""Many observations in the time there is: in order, some at once where asked, each kept in a file
and not made twice.
"""

import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

from equivalence.gpu import pair, throughput, turns
from equivalence.gpu.cells import Cell, Plan, Setting, Tree
from equivalence.gpu.checkpoint import CHECKPOINTS
from equivalence.gpu.observe import OVER, observe
from equivalence.gpu.shapes import group_kernels, widths
from equivalence.gpu.verdict import in_doubt, judge_cell

_ANSWERS, _TIMES = 1, 2
"""Formats of what is kept."""
_SMALLEST = 40.0
"""Seconds below which no server is started any more."""
_OF_LAST = ("ready_seconds", "peak_host_bytes")
"""What is told of the last server of each tree of a `paired` cell: the caches are warm."""


class _Run:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.begin = time.monotonic()
        self.end = self.begin + (0.0 if plan.recorded else plan.seconds)
        # Servers compile native sources, too.
        self.digests = {tree.name: tree.digest("*") for tree in plan.trees}
        self.lock, self.starting = threading.Lock(), threading.Lock()
        self.used = dict.fromkeys(plan.gpus, 0)
        self.last_start = 0.0
        self.warm = {cell.name: threading.Event() for cell in plan.cells}

    def note(self, text: str) -> None:
        """Progress, with the seconds since the start."""
        self.plan.progress(f"[{time.monotonic() - self.begin:6.1f}] {text}")

    def kept(self, name: str, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return what an earlier run wrote for the same key."""
        free = {"trees": None} if self.plan.recorded else {}
        try:
            document: dict[str, Any] = json.loads(
                (self.plan.out / "seen" / f"{name}.json").read_text("utf-8")
            )
            return document if {**document["key"], **free} == {**key, **free} else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _settled(self, name: str, key: dict[str, Any]) -> bool:
        if (found := self.kept(name, key)) is None or not self.plan.retry:
            return found is not None
        return "error" not in found and not found.get("result", "").startswith(("fails", "not run"))

    def keep(self, name: str, key: dict[str, Any], seen: dict[str, Any]) -> None:
        """Write what was seen, at once, so that a run that is cut off loses one server at most."""
        path = self.plan.out / "seen" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(".tmp")
        aside.write_text(
            json.dumps({"key": key, **seen}, indent=1, ensure_ascii=True) + "\n", "utf-8"
        )
        aside.replace(path)

    def key(self, cell: Cell, names: Sequence[str]) -> dict[str, Any]:
        """Return what an observation depends on."""
        return {
            "format": _ANSWERS if cell.kind == "answers" else _TIMES,
            "trees": {name: self.digests[name] for name in names},
            "arguments": cell.server_arguments(),
            "environment": dict(cell.environment),
            "checkpoint": cell.checkpoint,
            "tokens": cell.tokens,
            "features": sorted(cell.features),
            "nodes": cell.nodes,
            **({"only": list(cell.only)} if cell.only else {}),
            **({"rounds": cell.rounds} if cell.rounds else {}),
        }

    def one(self, cell: Cell, tree: Tree, number: int) -> None:
        """The server of that number of one cell and tree, unless it was seen before or the time is
        over. Upstream's first one warms the caches of compiled kernels; the others of the cell wait
        until it is ready.
        """
        name, key = server_name(cell, tree, number), self.key(cell, [tree.name])
        warm, warms = self.warm[cell.name], number == 1 and tree is self.plan.trees[0]
        # Each tree's servers of a cell stand on all GPUs in turn, so that no tree always gets the
        # same.
        turn = self.plan.cells.index(cell) + number + self.plan.trees.index(tree)
        try:
            if self._settled(name, key):
                return
            if not warms:
                warm.wait(max(0.0, self.end - time.monotonic()))
            with self._gpus(cell.gpus, turn) as gpus:
                with self.starting:
                    if self.plan.at_once > 1 and self.last_start:
                        time.sleep(max(0.0, self.last_start + self.plan.stagger - time.monotonic()))
                    self.last_start = time.monotonic()
                setting = self._setting(cell, gpus)
                if setting.left() < _SMALLEST:
                    return
                self.note(f"{name}: starting on GPU {', '.join(map(str, gpus))}")
                seen = observe(setting, tree, name, warm.set if warms else lambda: None)
                if setting.limit >= self.end and (
                    setting.left() < OVER or "not ready after" in seen.get("error", "")
                ):
                    self.note(
                        f"{name}: cut off by the end of the time for all, which says nothing "
                        "about the cell"
                    )
                    return
                self.keep(name, key, {**seen, "at_once": self.plan.at_once, "warms": warms})
        finally:
            if warms:
                warm.set()

    def _setting(self, cell: Cell, gpus: Sequence[int]) -> Setting:
        limit = min(self.end, time.monotonic() + self.plan.cell_seconds)
        return Setting(cell, replace(self.plan, progress=self.note), gpus, limit)

    def serve_pairs(self, cell: Cell) -> None:
        """Serve a `paired` cell, a block for each server that it gets of either tree."""
        upstream, generated = self.plan.trees
        key = self.key(cell, list(self.digests))
        with self._gpus(min(2 * cell.gpus, len(self.plan.gpus))) as gpus:
            turn = turns.blocks(self._setting(cell, gpus), upstream, [generated])
            for block in islice(turn, self.plan.count(cell)):
                name = block_name(cell, block.number)
                if self._settled(name, key):
                    continue
                setting = self._setting(cell, gpus)
                if setting.left() < pair.SHORTEST:
                    self.note(f"{name}: no time for it")
                    return
                self.note(f"{name}: starting on GPU {', '.join(map(str, gpus))}")
                found = pair.serve_pair(setting, block)
                late = "not ready after" in found.get("error", "") or not found["whole"]
                if setting.limit >= self.end and late:
                    self.note(f"{name}: cut off by the end of the time for all")
                    return
                self.keep(name, key, found)

    def pair(self, cell: Cell, others: Sequence[Tree]) -> None:
        """A cell in which the trees take turns."""
        key = self.key(cell, list(self.digests))
        if self._settled(cell.name, key):
            return
        with self._gpus(min(2 * cell.gpus, len(self.plan.gpus))) as gpus:
            setting = self._setting(cell, gpus)
            if setting.left() < _SMALLEST:
                return
            self.note(f"{cell.name}: starting")
            self.keep(cell.name, key, throughput.measure(setting, self.plan.trees[0], others))

    def all(self, tasks: Sequence[tuple[Cell, Tree, int]]) -> None:
        """Servers of cells, as many at once as the plan says."""

        def work(task: tuple[Cell, Tree, int]) -> None:
            try:
                self.one(*task)
            except Exception as error:
                # One cell's trouble is not the others': it is told, and the cell has no row.
                self.note(f"error: {type(error).__name__}: {error}")

        with ThreadPoolExecutor(max(1, self.plan.at_once)) as pool:
            list(pool.map(work, tasks))

    @contextmanager
    def _gpus(self, count: int, turn: int = 0) -> Iterator[list[int]]:
        """So many GPUs, those in use by the fewest; where it is one, whose turn it is."""
        with self.lock:
            free = sorted(self.used, key=lambda gpu: (self.used[gpu], gpu))
            chosen = sorted(
                [self.plan.gpus[turn % len(self.plan.gpus)]] if count == 1 else free[:count]
            )
            for gpu in chosen:
                self.used[gpu] += 1
        try:
            yield chosen
        finally:
            with self.lock:
                for gpu in chosen:
                    self.used[gpu] -= 1


def server_name(cell: Cell, tree: Tree, number: int) -> str:
    """Return what the files of one server are called: the first of a tree has no number."""
    return f"{cell.name}.{tree.name}" + (f".{number}" if number > 1 else "")


def block_name(cell: Cell, number: int) -> str:
    """Return what the file of one block of a `paired` cell is called."""
    return f"{cell.name}.{number + 1}"


def run(plan: Plan) -> list[dict[str, Any]]:
    """Run what is not there yet and judge all cells; returns the rows, one a cell, in the plan's
    order.
    """
    state = _Run(plan)
    lacks = _lacking(plan)
    possible = [cell for cell in plan.cells if cell.name not in lacks]
    answers = [cell for cell in possible if cell.kind == "answers"]
    if not plan.recorded:
        state.all(_order(plan, answers))
        doubtful = [cell for cell in answers if in_doubt(_row(state, cell))]
        state.all([task for cell in doubtful for task in _turn(plan, [cell], plan.count(cell) + 1)])
        for cell in possible:
            if cell.kind == "paired":
                state.serve_pairs(cell)
        timed = [cell for cell in possible if not cell.is_answered]
        # Times are taken with nothing else running.
        if timed and state.end - time.monotonic() > _SMALLEST:
            others = (plan.trees[1], turns.control(plan.trees[0], plan.out / "copy"))
            for cell in timed:
                state.pair(cell, others)
    rows = [_row(state, cell) for cell in plan.cells]
    for row in rows:
        if row["result"] == "not run" and row["cell"] in lacks:
            row["lacks"] = lacks[row["cell"]]
    return rows


def _lacking(plan: Plan) -> dict[str, str]:
    """Cells that cannot run here → what is missing."""
    names = sorted({name for cell in plan.cells for name in cell.needs})
    program = (
        f"from importlib.util import find_spec; print(*(n for n in {names} if not find_spec(n)))"
    )
    missing = plan.environment.answer(plan.trees[0], program).split() if names else []
    found: dict[str, str] = {}
    for cell in plan.cells:
        gpus = [f"{cell.gpus} GPUs"] if cell.gpus > len(plan.gpus) else []
        modules = [name for name in cell.needs if name in missing]
        if lacks := [*gpus, *modules, *_lacking_checkpoint(plan, cell)]:
            found[cell.name] = f"takes {', '.join(lacks)}"
    return found


def _lacking_checkpoint(plan: Plan, cell: Cell) -> list[str]:
    """Return the checkpoint that is missing: those of true widths are made for some cells alone."""
    there = (plan.checkpoints / cell.checkpoint / "config.json").is_file()
    return [] if there or cell.kind != "paired" else [f"the checkpoint {cell.checkpoint}"]


def _order(plan: Plan, cells: Sequence[Cell]) -> list[tuple[Cell, Tree, int]]:
    """Return all servers: as many cells at a time as there are slots, those that warm first, so
    that none waits in a slot that one of these needs.
    """
    tasks: list[tuple[Cell, Tree, int]] = []
    for start in range(0, len(cells), plan.at_once):
        some = cells[start : start + plan.at_once]
        tasks += [(cell, tree, 1) for tree in plan.trees for cell in some]
        for number in range(2, max(map(plan.count, some)) + 1):
            tasks += _turn(plan, (cell for cell in some if number <= plan.count(cell)), number)
    return tasks


def _turn(plan: Plan, cells: Iterable[Cell], number: int) -> list[tuple[Cell, Tree, int]]:
    """Return one more server of each tree for all cells; who comes first alternates, so that no
    tree always gets the same GPU.
    """
    trees = plan.trees if number % 2 else plan.trees[::-1]
    return [(cell, tree, number) for cell in cells for tree in trees]


def _row(state: _Run, cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {
        "cell": cell.name,
        "kind": cell.kind,
        "checkpoint": cell.checkpoint,
        "why": cell.why,
    }
    row |= {
        "arguments": " ".join(cell.server_arguments()),
        "environment": dict(cell.environment),
        "gpus": cell.gpus,
    }
    if cell.kind == "paired":
        return row | _paired_row(state, cell)
    if cell.kind != "answers":
        row |= state.kept(cell.name, state.key(cell, list(state.digests))) or {"result": "not run"}
        row.pop("key", None)
        if "pairs" in row:
            # By today's statistics, whatever they were when the pairs were taken.
            row["measured"] = turns.measured(row["pairs"])
        return row
    sides = []
    for tree in state.plan.trees:
        names = [server_name(cell, tree, number) for number in range(1, state.plan.count(cell) + 2)]
        found = [state.kept(name, state.key(cell, [tree.name])) for name in names]
        sides.append([seen for seen in found if seen is not None])
    if not all(sides):
        return row | {"result": "not run"}
    # Of the last server of each tree: the caches are warm.
    last = {
        name: [side[-1].get(name) for side in sides]
        for name in ("ready_seconds", "peak_host_bytes", "at_once")
    }
    return row | judge_cell(*sides) | last


def _paired_row(state: _Run, cell: Cell) -> dict[str, Any]:
    """Return what the blocks of a `paired` cell say together."""
    plan = state.plan
    key = state.key(cell, list(state.digests))
    names = [block_name(cell, number) for number in range(plan.count(cell))]
    found = [block for name in names if (block := state.kept(name, key)) is not None]
    if not found:
        return {"result": "not run"}
    sides = [[block["seen"][tree.name] for block in found] for tree in plan.trees]
    last = {name: [side[-1].get(name) for side in sides] for name in _OF_LAST}
    row = {**judge_cell(*sides), **last, "blocks": [len(found), len(names)]}
    pairs = [each for block in found for each in block["pairs"]]
    row |= {"how": found[-1]["how"], "pairs": pairs, "measured": turns.measured(pairs)}
    row["clients"] = [block["client"] for block in found if "client" in block]
    if broken := [block for block in found if "broken_by" in block]:
        error, by = broken[0]["error"], broken[0]["broken_by"]
        told = [line for line in broken[0]["tail"] if not line.startswith(" ")]
        failure = {"message": "under load", "errors": [], "tail": told}
        row |= {"result": error, f"{by}_error": failure}
    upstream, generated = map(_all_kernels, sides)
    sizes = widths(CHECKPOINTS[cell.checkpoint])
    row["bound_kernels"] = group_kernels(upstream & generated, sizes)
    return row


def _all_kernels(side: Sequence[dict[str, Any]]) -> set[str]:
    """Return the names of all kernels that a tree's servers launched, whatever they were asked."""
    lists = [seen.get(name, {}) for seen in side for name in ("kernels", "batch_kernels")]
    return set().union(*lists)
