"""What is to be run, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equivalence.gpu.cells import Cell
from equivalence.gpu.trees import Environment, Tree


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
        servers: of each tree and cell; the second of upstream's is the control. One more of each where a verdict is in doubt.
        counts: another number of servers, by cell.
        passes: how often each server is asked the script.
        recorded: judge what `out` holds, whichever trees it was seen of, and run nothing.
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
    servers: int = 2
    recorded: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    passes: int = 2
    progress: Callable[[str], None] = field(default=lambda text: print(text, flush=True))

    def count(self, cell: Cell) -> int:
        """How many servers of each tree a cell gets."""
        return self.counts.get(cell.name, self.servers)
