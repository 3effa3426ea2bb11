"""Times of upstream, of the generated tree and of a copy of upstream, in pairs: whatever else changes in a lease, both see it.

A block pairs upstream with one of the others, each on GPUs of its own where there are enough. Who stands on which GPUs and who
starts first alternates from block to block, who is measured first from round to round. The copy is the control: what it
differs by, upstream differs from itself.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equivalence.gpu.cells import Cell
from equivalence.gpu.interval import Sample, estimate, finding
from equivalence.gpu.trees import Environment, Tree

CONTROL = "control"
"""The name of the copy of upstream."""

Numbers = Mapping[str, float]


class Broken(Exception):
    """A run that measures failed: `tree` names whose, `tail` has the last lines it printed."""

    def __init__(self, tree: str, tail: Sequence[str]) -> None:
        super().__init__(f"fails in {tree}")
        self.tree, self.tail = tree, list(tail)


@dataclass(frozen=True)
class Setting:
    """What every measurement needs.

    Attributes:
        cell: what is measured.
        environment: where the trees run.
        checkpoints: folder of the cells' checkpoints.
        out: where logs go.
        gpus: ids of GPUs; with twice as many as the cell takes, both trees of a pair have their own.
        limit: when to be done, by `time.monotonic()`.
        progress: told what was measured.
    """

    cell: Cell
    environment: Environment
    checkpoints: Path
    out: Path
    gpus: Sequence[int]
    limit: float
    progress: Callable[[str], None]

    def left(self) -> float:
        """Seconds left."""
        return self.limit - time.monotonic()

    @property
    def apart(self) -> bool:
        """Whether both trees of a pair have GPUs of their own."""
        return len(self.gpus) >= 2 * self.cell.gpus


@dataclass(frozen=True)
class Block:
    """Upstream and another tree, in the order in which they start, each with its GPUs."""

    number: int
    trees: tuple[Tree, Tree]
    gpus: tuple[Sequence[int], Sequence[int]]

    @property
    def place(self) -> str:
        """What the block's numbers may be compared with."""
        return f"{self.trees[0].name == 'upstream'}/{','.join(map(str, self.gpus[0]))}"

    @property
    def other(self) -> Tree:
        """The tree that is not upstream's."""
        return next(tree for tree in self.trees if tree.name != "upstream")


def control(upstream: Tree, folder: Path) -> Tree:
    """A copy of upstream's package in a folder, under the name `CONTROL`, made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(upstream.root / "sglang", folder / "sglang")
    return Tree(CONTROL, folder)


def blocks(setting: Setting, upstream: Tree, others: Sequence[Tree]) -> Iterator[Block]:
    """Without end: every other tree in turn, then all again with the places changed."""
    first, second = setting.gpus[: setting.cell.gpus], setting.gpus[setting.cell.gpus : 2 * setting.cell.gpus]
    number = 0
    while True:
        for other in others:
            order = (upstream, other) if number // len(others) % 2 == 0 else (other, upstream)
            yield Block(number, order, (first, second if setting.apart else first))
            number += 1


def both(
    setting: Setting, block: Block, run: Callable[[Tree, Sequence[int]], list[Numbers]]
) -> dict[str, list[Numbers]]:
    """A run of each tree of a block: at once where they have GPUs of their own or need none, else one after the other.

    Raises:
        Broken: one failed.
    """
    with ThreadPoolExecutor(2 if setting.apart or setting.cell.kind == "import" else 1) as pool:
        futures = [pool.submit(run, tree, gpus) for tree, gpus in zip(block.trees, block.gpus, strict=True)]
        return {tree.name: future.result() for tree, future in zip(block.trees, futures, strict=True)}


def document(setting: Setting, taken: Sequence[tuple[Block, Mapping[str, Numbers]]], unmeasured: str) -> dict[str, Any]:
    """The row of a cell: every pair of numbers, and what they say."""
    if not taken:
        return {"result": "not run"}
    pairs = [{"place": block.place, **{name: dict(numbers) for name, numbers in pair.items()}} for block, pair in taken]
    apart = "a GPU each" if setting.apart else "one GPU for both, one after the other"
    return {"result": "measured", "how": unmeasured or apart, "measured": measured(pairs), "pairs": pairs}


def measured(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For each quantity and each other tree the estimate of all pairs, each of which has a place and the numbers of two trees."""
    samples: dict[str, dict[str, list[Sample]]] = {}
    for pair in pairs:
        (other,) = pair.keys() - {"place", "upstream"}
        for name in pair["upstream"].keys() & pair[other].keys():
            sample = Sample(pair["place"], pair["upstream"][name], pair[other][name])
            samples.setdefault(name, {}).setdefault(other, []).append(sample)
    result: dict[str, Any] = {}
    for name in sorted(samples):
        rows: dict[str, Any] = {
            other: found.document() for other, some in samples[name].items() if (found := estimate(some))
        }
        if "generated" in rows:
            rows["finding"] = finding(rows["generated"], rows.get(CONTROL), higher=more_is_better(name))
        result[name] = rows
    return result


def more_is_better(quantity: str) -> bool:
    """Whether more of a quantity is better: rates; of times, sizes and counts less is."""
    return "throughput" in quantity or "per_second" in quantity
