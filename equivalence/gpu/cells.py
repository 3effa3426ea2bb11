"""What is run: the two trees, the environment of both and the hardware below; the cells, one
configuration of the server each, which `cells.toml` has as data; what is to be run of them.
"""

import datetime
import hashlib
import json
import os
import platform
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from equivalence.processes import execute, process_environment


@dataclass(frozen=True)
class Tree:
    """A tree under test: `name` is `upstream` or `generated`, `root` the folder that holds the
    package `sglang`.
    """

    name: str
    root: Path

    def digest(self, pattern: str = "*.py") -> str:
        """Return hash of path and content of every Python file, by which pages name the tree, or of
        other files; never of what Python writes.
        """
        files = (
            p
            for p in sorted(self.root.rglob(pattern))
            if p.is_file() and "__pycache__" not in p.parts
        )
        hashes = {
            p.relative_to(self.root).as_posix(): hashlib.sha256(p.read_bytes()) for p in files
        }
        lines = "".join(f"{name}\0{found.hexdigest()}\n" for name, found in hashes.items())
        return hashlib.sha256(lines.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Environment:
    """Where both servers run."""

    python: str = sys.executable
    packages: Sequence[Path] = ()
    """Folders put behind the tree on the module path (where packages were installed with
    `--target`).
    """
    variables: dict[str, str] = field(default_factory=dict)

    def answer(self, tree: Tree, program: str) -> str:
        """Return what a short program prints that runs on the tree; empty where it takes
        too long.
        """
        overlay = process_environment(self.overlay(tree))
        return execute([self.python, "-c", program], seconds=120, variables=overlay).stdout

    def overlay(self, tree: Tree, gpus: Sequence[int] = ()) -> dict[str, str | None]:
        """Return what is set for a process of the tree: nothing of it may come from the network or
        depend on hash order.
        """
        before = self.variables.get("PYTHONPATH")
        path = [*([before] if before else []), str(tree.root), *map(str, self.packages)]
        return {
            "PYTHONUNBUFFERED": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": None,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            **({"CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus))} if gpus else {}),
            **self.variables,
            "PYTHONPATH": ":".join(path),
        }


_VERSIONS = """
import importlib.metadata as m, json, sys
names = "torch triton transformers sglang-kernel flashinfer-python sgl-deep-gemm xgrammar nvidia-cutlass-dsl".split()
every = [d for d in m.distributions() if d.metadata["Name"]]
installed = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in reversed(every)}
found = {"python": sys.version.split()[0], **{name: installed[name] for name in names if name in installed}}
if "torch" in found:
    import torch
    found["cuda"] = torch.version.cuda
print("@" + json.dumps(found))
"""


def printed(text: str) -> dict[str, Any]:
    """Return the last object of JSON that a program printed, behind `@`; empty where it printed
    none.

    Each number is a float.
    """
    lines = [line for line in text.splitlines() if line.startswith("@{")]
    return dict(json.loads(lines[-1][1:], parse_int=float)) if lines else {}


def describe(environment: Environment, trees: Sequence[Tree]) -> dict[str, Any]:
    """Hardware and software, as plain JSON; what cannot be asked is left out."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    gpus = execute(query, seconds=20).stdout.splitlines()
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "gpus": [*filter(None, map(str.strip, gpus))],
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "versions": printed(environment.answer(trees[0], _VERSIONS)),
        "trees": {tree.name: tree.digest() for tree in trees},
    }


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_COMMON = _DECLARED.pop("common")
Kind = Literal["answers", "paired", "serving", "one_batch", "offline", "startup", "import"]
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
    servers: int = 0
    rounds: int = 0
    kind: Kind = "answers"
    why: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether its servers are asked the script."""
        return self.kind in ("answers", "paired")

    def server_arguments(self) -> list[str]:
        """Return all arguments but model, host and port; the last of two of a name counts."""
        paired = _COMMON["paired"] if self.kind == "paired" else ""
        parsers = _COMMON["parsers"] if self.is_answered and not self.roles else ""
        return f"{_COMMON['server']} {paired} {self.arguments} {parsers}".split()


def _cell(
    name: str, features: Iterable[str] = _FEATURES, more: Iterable[str] = (), **values: Any
) -> Cell:
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    return Cell(name, features=frozenset({*features, *more}), **plain)


CELLS: Mapping[str, Cell] = {name: _cell(name, **values) for name, values in _DECLARED.items()}


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
    """Of each tree and of cells that say no number; the second of upstream's is the control. One
    more of each where a verdict is in doubt."""
    recorded: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    """Another number of servers, or of blocks of what is timed, by cell."""
    passes: int = 2
    progress: Callable[[str], None] = field(default=lambda text: print(text, flush=True))

    def count(self, cell: Cell) -> int:
        """Return how many servers of each tree a cell gets."""
        return self.counts.get(cell.name) or cell.servers or self.servers


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
