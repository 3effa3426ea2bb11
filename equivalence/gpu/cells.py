"""The cells: one configuration of the server each, and what is to be run of them; `cells.toml` has them as data."""

import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from equivalence.gpu.trees import Environment, Tree

COMMON = (
    "--random-seed 1 --context-length 8192 --max-running-requests 16 --max-total-tokens 65536 "
    "--mem-fraction-static 0.5 --cuda-graph-max-bs 8"
)
"""What every server gets. The size of the token pool is fixed, since it would follow the memory that happens to be free
and with it the schedule; two servers may share a GPU."""

PARSERS = "--tool-call-parser deepseekv3 --reasoning-parser deepseek-r1"
"""What every server gets that is asked the script and is one."""

_FEATURES = frozenset({"grammar", "tools", "reasoning", "long"})


@dataclass(frozen=True)
class Cell:
    """One configuration; `cells.toml` says what its keys mean."""

    name: str
    checkpoint: str = "v3-bf16"
    arguments: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    features: frozenset[str] = _FEATURES
    gpus: int = 1
    nodes: int = 1
    roles: tuple[str, ...] = ()
    other: str = ""
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    passes: int = 0
    tokens: int = 32
    kind: Literal["answers", "serving", "one_batch", "offline", "startup", "import"] = "answers"
    why: str = ""

    def server_arguments(self) -> list[str]:
        """All arguments but model, host and port."""
        parsers = PARSERS.split() if self.kind == "answers" and not self.roles else []
        return [*COMMON.split(), *self.arguments.split(), *parsers]


def _cell(name: str, features: Iterable[str] = _FEATURES, more: Iterable[str] = (), **values: Any) -> Cell:
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return Cell(name, features=frozenset({*features, *more}), **plain)


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CELLS: Mapping[str, Cell] = {name: _cell(name, **values) for name, values in _DATA.items()}


@dataclass(frozen=True)
class Plan:
    """What is to be run; `python -m equivalence.gpu --help` says what most of it means."""

    trees: tuple[Tree, Tree]
    """Upstream first, then the generated one."""
    environment: Environment
    checkpoints: Path
    out: Path
    """Where results go; what is there already is not run again unless tree or cell changed."""
    cells: Sequence[Cell]
    seconds: float = 4 * 3600.0
    cell_seconds: float = 900.0
    gpus: Sequence[int] = (0,)
    at_once: int = 1
    stagger: float = 15.0
    profile: bool = True
    retry: bool = False
    servers: int = 2
    """Of each tree and cell; the second of upstream's is the control. One more of each where a verdict is in doubt."""
    recorded: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    """Another number of servers, or of blocks of what is timed, by cell."""
    passes: int = 2
    progress: Callable[[str], None] = field(default=lambda text: print(text, flush=True))

    def count(self, cell: Cell) -> int:
        """How many servers of each tree a cell gets."""
        return self.counts.get(cell.name, self.servers)


@dataclass(frozen=True)
class Setting:
    """A cell in its time."""

    cell: Cell
    plan: Plan
    gpus: Sequence[int]
    """With twice as many as the cell takes, both trees of a pair have their own."""
    limit: float
    """When to be done, by `time.monotonic()`."""

    def left(self) -> float:
        """Seconds left."""
        return self.limit - time.monotonic()

    @property
    def apart(self) -> bool:
        """Whether both trees of a pair have GPUs of their own."""
        return len(self.gpus) >= 2 * self.cell.gpus
