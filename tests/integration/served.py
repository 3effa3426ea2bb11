"""A tree of the default release, served without a GPU for as long as a test asks it."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from equivalence.checkpoints.weights import small
from equivalence.levels import Setting
from equivalence.serving.client import send
from equivalence.serving.script import Request
from equivalence.serving.server import Launch, Server, free_port
from equivalence.simulation.environment import Simulation, simulation
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder, locked
from shrinker.source.pins import load_pins
from tests.integration.shrunk import REPOSITORY, Shrunk
from tests.simulations import simulation_python

Answer = TypeVar("Answer")

OPTIONS = (
    "--attention-backend triton --sampling-backend pytorch --disable-cuda-graph --context-length "
    "512 --max-total-tokens 2048 "
    "--max-running-requests 4 --random-seed 1 --watchdog-timeout 900 --host 127.0.0.1 "
    "--skip-server-warmup"
)


@dataclass(frozen=True)
class Served:
    """A server that has said that it is ready."""

    server: Server
    python: Path
    model: Path
    port: int
    variables: Mapping[str, str]
    """Of the simulation, for another program of the same tree."""

    def address(self) -> str:
        """Where it answers over HTTP: without a first request of its own it says that it is ready a
        moment before it listens.
        """
        found, limit = f"http://127.0.0.1:{self.port}", time.monotonic() + 120
        while send(found, Request("ready", "/health", method="GET"), 60).status == 0:
            assert time.monotonic() < limit, self.server.text()[-3000:]
            time.sleep(0.2)
        return found


def of_both(newest: Shrunk, folder: Path, ask: Callable[[Path, Path], Answer]) -> dict[str, Answer]:
    """What a question has for an answer in either tree, asked of both at once: a server waits more
    than it works.

    The test is skipped where no simulation can be had.

    Args:
        newest: the generated tree.
        folder: gets a folder for each tree.
        ask: takes the folder that holds the package, and that of the tree's own.
    """
    simulation_python()
    trees = dict(zip(("upstream", "generated"), newest.trees, strict=True))
    with ThreadPoolExecutor(len(trees)) as threads:
        return dict(
            zip(trees, threads.map(ask, trees.values(), map(folder.joinpath, trees)), strict=True)
        )


def checkpoint(made: Simulation) -> Path:
    """The folder of the tiny checkpoint that all of them serve, made once; of few tokens, which
    each process of a server loads.
    """
    kept = default_folder() / "served"
    with locked(kept):
        return Setting(made, kept).checkpoint(small(vocab_size=4096))


@contextmanager
def serving(
    tree: Path, folder: Path, options: str = "", *, counted: Path | None = None
) -> Iterator[Served]:
    """Serve a tiny checkpoint with a tree.

    Args:
        tree: holds the package.
        folder: is made, for the log.
        options: beside those of all.
        counted: where to count what the server does, if at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pinned = load_pins(REPOSITORY).default_spec
    declared = open_upstream(pinned, repository=REPOSITORY).declared.dependencies
    made = simulation(declared, compiled=default_folder() / "compiled")
    model, port = checkpoint(made), free_port()
    if counted is not None:
        made = made.seeing(counted=str(counted), followed=str(tree / "sglang"))
    command = [
        str(made.python),
        "-m",
        "sglang.launch_server",
        "--model-path",
        str(model),
        "--port",
        str(port),
    ]
    variables = {**dict.fromkeys(os.environ), **made.variables(tree)}
    arguments = [*command, *OPTIONS.split(), *options.split()]
    launch = Launch(
        tree.name,
        arguments,
        variables,
        folder / "log.txt",
        folder,
        ready_seconds=1500,
        stop_seconds=0,
    )
    with Server(launch) as server:
        server.wait_ready()
        yield Served(server, Path(made.python), model, port, made.variables(tree))
