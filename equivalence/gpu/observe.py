"""One server of one cell: started, asked, profiled by its own endpoints, ended; everything seen of
it as plain JSON.
"""

import gzip
import hashlib
import json
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from equivalence.gpu.cells import Cell, Plan, Setting, Tree
from equivalence.gpu.shapes import find_tables
from equivalence.serving import record
from equivalence.serving.client import perform, send
from equivalence.serving.script import Request, Scale, script
from equivalence.serving.server import Launch, NotReady, Server, free_port

_AFTER_READY = 30.0
OVER = 5.0
"""Seconds before its limit at which a server is asked nothing any more."""
FLUSH = Request("flush", "/flush_cache")


def launches(
    cell: Cell, tree: Tree, plan: Plan, port: int, log: Path, gpus: Sequence[int], ready: float
) -> list[Launch]:
    """Return how the cell's server is started: one launch a node, the one that answers first."""
    environment, checkpoints = plan.environment, str(plan.checkpoints)
    processes = len(cell.roles) or cell.nodes
    join = free_port() if processes > 1 else 0
    share = len(gpus) // processes
    # What a server keeps for itself lies beside its log.
    own = str(log.with_suffix("").absolute())

    def placed(text: str) -> str:
        return text.replace("{checkpoints}", checkpoints).replace("{own}", own)

    variables = {name: placed(value) for name, value in cell.environment.items()}
    ports = [free_port() for _ in cell.roles] or [port + node for node in range(cell.nodes)]
    name, host = f"{cell.name}/{tree.name}", "--host 127.0.0.1 --port"
    result = []
    for node, own_port in enumerate(ports):
        words = f"{host} {own_port}"
        if cell.nodes == 1:
            # The server's own draw is open to every other program until its processes bind it.
            words += f" --nccl-port {own_port + 20}"
        if cell.roles:
            words += f" {cell.roles[node]} --disaggregation-bootstrap-port {join}"
        if cell.nodes > 1:
            words += f" --nnodes {cell.nodes} --node-rank {node} --dist-init-addr 127.0.0.1:{join}"
        arguments = [
            "--model-path",
            f"{checkpoints}/{cell.checkpoint}",
            *map(placed, cell.server_arguments()),
        ]
        command = [environment.python, "-m", "sglang.launch_server", *arguments, *words.split()]
        overlay = {
            **environment.overlay(tree, gpus[node * share : (node + 1) * share]),
            **variables,
        }
        place = log if node == 0 else log.with_suffix(f".node{node}.log")
        said = f"{name}/node{node}" if processes > 1 else name
        result.append(Launch(said, command, overlay, place, ready_seconds=ready))
    if cell.roles:
        # The gateway's router in Python, which answers at `port` for a server of prefill and one of
        # decode.
        both = f"--prefill http://127.0.0.1:{ports[0]} {join} --decode http://127.0.0.1:{ports[1]}"
        asked = f"-m sglang_router.launch_router --pd-disaggregation --mini-lb {host} {port} {both}"
        command, place = [environment.python, *asked.split()], log.with_suffix(".router.log")
        there = "Application startup complete"
        result.append(
            Launch(f"{name}/router", command, environment.overlay(tree), place, None, there, ready)
        )
    return result


def _written(folder: Path) -> dict[str, int]:
    """Return hash of what a server left in its folder → how many files have it; of torch's files
    the tensors alone, since names and times stand beside them.
    """
    found: Counter[str] = Counter()
    for path in filter(Path.is_file, folder.rglob("*")):
        data = path.read_bytes()
        if path.suffix == ".pt":
            with zipfile.ZipFile(path) as packed:
                data = b"".join(
                    packed.read(name) for name in sorted(packed.namelist()) if "/data/" in name
                )
        found[hashlib.sha256(data).hexdigest()[:16]] += 1
    return dict(sorted(found.items()))


class Observation:
    """One server of a cell from its start to its end; a context manager, which ends it.

    `seen` is the document of it, plain JSON: `ready_seconds`, `settings`, `passes` (records),
    `kernels`, and once it has ended `classes`, `choices`, `tables`, `errors` of its log and
    `peak_host_bytes`; `error` and `tail` where it did not get ready.
    """

    def __init__(self, setting: Setting, tree: Tree, name: str) -> None:
        self.port = free_port()
        self._setting, self._tree, self._name = setting, tree, name
        self._log = setting.plan.out / "logs" / f"{name}.log"
        self._own = self._log.with_suffix("")
        self._address = f"http://127.0.0.1:{self.port}"
        left = setting.left() - _AFTER_READY
        cell, plan = setting.cell, setting.plan
        self._starts = launches(cell, tree, plan, self.port, self._log, setting.gpus, left)
        self.seen: dict[str, Any] = {
            "gpus": list(setting.gpus),
            "command": list(self._starts[0].command),
            "environment": dict(cell.environment),
        }

    def __enter__(self) -> Self:
        shutil.rmtree(self._own, ignore_errors=True)
        self._own.mkdir(parents=True)
        with ExitStack() as stack:
            self._servers = [stack.enter_context(Server(start)) for start in self._starts]
            self._running = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seen["peak_host_bytes"] = sum(server.peak for server in self._servers)
        self._running.close()
        if any("{own}" in value for value in self._setting.cell.environment.values()):
            self.seen["written"] = _written(self._own)
        shutil.rmtree(self._own, ignore_errors=True)
        text = "\n".join(server.text() for server in self._servers)
        self.seen["classes"] = record.loaded_classes(text)
        self.seen["choices"] = record.choices(text)
        self.seen["tables"] = find_tables(text)
        self.seen["errors"] = record.errors(text)
        self._tell(self.seen.get("error", "done"))

    def wait_ready(self) -> bool:
        """Wait until the server answers; False where it ended before, or its time is over."""
        waited_for = self._servers if self._setting.cell.roles else self._servers[:1]
        try:
            waited = [server.wait_ready() for server in waited_for]
        except NotReady as error:
            self.seen.update(error=str(error), tail=error.tail)
            return False
        self.seen["ready_seconds"] = round(max(waited), 2)
        self._tell(f"ready after {self.seen['ready_seconds']} s")
        return True

    def ask(self) -> None:
        """Ask the script, several times, and what the settings are."""
        cell, setting = self._setting.cell, self._setting
        self.seen["passes"] = []
        # The script is asked more than once, and the weights' version would stay.
        requests = [each for each in script(self._scale()) if each.name != "weight_version"]
        asked = [each for each in requests if not cell.only or each.name in cell.only]
        for _ in range(cell.passes or setting.plan.passes):
            # Its cache must not have what the server asked itself, or what the pass before did.
            send(self._address, FLUSH, 30)
            left = max(0.0, setting.left() - OVER)
            answers = perform(self._address, asked, seconds=left, each=120)
            self.seen["passes"].append({name: asdict(answer) for name, answer in answers.items()})
        info = send(self._address, Request("info", "/server_info", None, "GET"), 30)
        self.seen["settings"] = record.settings(info.body)

    def profile(self) -> None:
        """List the kernels that some requests launch; in a `paired` cell those of a batch apart."""
        paired = self._setting.cell.kind == "paired"
        self.seen["kernels"] = self._launched("alone", [_ASK, _LONG_ASK] if paired else [_ASK])
        if paired:
            self.seen["batch_kernels"] = self._launched("batch", [_BATCH_ASK])

    def _launched(self, folder_name: str, bodies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
        plan, left = self._setting.plan, self._setting.left()
        if not plan.profile or left <= 10:
            return {}
        # One of its own: another rank may write its trace of the profile before this one late.
        folder = plan.out / "traces" / self._name / folder_name
        shutil.rmtree(folder, ignore_errors=True)
        found = launched_kernels(self._address, folder, min(60.0, left - 5), bodies)
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def _scale(self) -> Scale:
        cell, checkpoints = self._setting.cell, self._setting.plan.checkpoints
        return Scale(
            tokens=cell.tokens,
            features=cell.features,
            checkpoint=str(checkpoints / cell.checkpoint),
            other=str(checkpoints / cell.other) if cell.other else "",
            adapter=str(checkpoints / f"{cell.checkpoint}-adapter"),
        )

    def _tell(self, text: str) -> None:
        self._setting.plan.progress(f"{self._name}: {text}")


def observe(setting: Setting, tree: Tree, name: str, ready: Callable[[], None]) -> dict[str, Any]:
    """Serve the cell with one tree, ask the script and return what was seen.

    Args:
        ready: called once the server is.
    """
    with Observation(setting, tree, name) as observation:
        if observation.wait_ready():
            ready()
            observation.ask()
            observation.profile()
    return observation.seen


_SAMPLING = {"temperature": 0, "max_new_tokens": 6, "ignore_eos": True}
_ASK = {"input_ids": list(range(100, 140)), "sampling_params": _SAMPLING}
_LONG_ASK = {"input_ids": [100 + i % 4000 for i in range(2500)], "sampling_params": _SAMPLING}
_BATCH_ASK = {
    "input_ids": [list(range(100 * row, 100 * row + 40)) for row in range(1, 17)],
    "sampling_params": _SAMPLING,
}
"""Sixteen rows: other shapes than one's. The server may cut them into batches as it likes."""


def launched_kernels(
    address: str, folder: Path, seconds: float, bodies: Sequence[Mapping[str, Any]] = (_ASK,)
) -> dict[str, int]:
    """Return how often the requests launched each kernel, over all ranks, by its name.

    Empty where the server could not be profiled.
    """
    folder.mkdir(parents=True, exist_ok=True)
    limit = time.monotonic() + seconds
    start = {
        "output_dir": str(folder),
        "activities": ["CPU", "GPU"],
        "with_stack": False,
        "profile_id": "shrinker",
    }
    asks = [Request("ask", "/generate", body) for body in bodies]
    begin, end = Request("start", "/start_profile", start), Request("stop", "/stop_profile")
    for request in (FLUSH, begin, *asks, end):
        if send(address, request, max(1.0, limit - time.monotonic())).status != 200:
            return {}
    while time.monotonic() < limit:
        # The file is there before it is complete.
        with suppress(OSError, EOFError, ValueError):
            if found := _traced(folder):
                return found
        time.sleep(0.2)
    return {}


def _traced(folder: Path) -> dict[str, int]:
    """Kernel name → number of launches, summed over the traces of a folder."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("*.trace.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            events = json.load(file).get("traceEvents", [])
        found.update(event["name"] for event in events if event.get("cat") == "kernel")
    return dict(sorted(found.items()))
