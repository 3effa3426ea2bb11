"""One server of one cell: started, asked, profiled by its own endpoints, ended; everything seen of it as plain JSON."""

import gzip
import hashlib
import json
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from equivalence.gpu.cells import Cell, Plan, Setting, Tree
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
    """How the cell's server is started: one launch a node, the one that answers first."""
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
        arguments = ["--model-path", f"{checkpoints}/{cell.checkpoint}", *map(placed, cell.server_arguments())]
        command = [environment.python, "-m", "sglang.launch_server", *arguments, *words.split()]
        overlay = {**environment.overlay(tree, gpus[node * share : (node + 1) * share]), **variables}
        place = log if node == 0 else log.with_suffix(f".node{node}.log")
        said = f"{name}/node{node}" if processes > 1 else name
        result.append(Launch(said, command, overlay, place, ready_seconds=ready))
    if cell.roles:
        # The gateway's router in Python, which answers at `port` for a server of prefill and one of decode.
        both = f"--prefill http://127.0.0.1:{ports[0]} {join} --decode http://127.0.0.1:{ports[1]}"
        asked = f"-m sglang_router.launch_router --pd-disaggregation --mini-lb {host} {port} {both}"
        command, place = [environment.python, *asked.split()], log.with_suffix(".router.log")
        there = "Application startup complete"
        result.append(Launch(f"{name}/router", command, environment.overlay(tree), place, None, there, ready))
    return result


def _written(folder: Path) -> dict[str, int]:
    """Hash of what a server left in its folder → how many files have it; of torch's files the tensors alone, since names and
    times stand beside them."""
    found: Counter[str] = Counter()
    for path in filter(Path.is_file, folder.rglob("*")):
        data = path.read_bytes()
        if path.suffix == ".pt":
            with zipfile.ZipFile(path) as packed:
                data = b"".join(packed.read(name) for name in sorted(packed.namelist()) if "/data/" in name)
        found[hashlib.sha256(data).hexdigest()[:16]] += 1
    return dict(sorted(found.items()))


def observe(setting: Setting, tree: Tree, name: str, ready: Callable[[], None]) -> dict[str, Any]:
    """Serve the cell with one tree and ask the script, several times; `ready` is called once the server is.

    Returns:
        A document: `ready_seconds`, `classes`, `choices`, `settings`, `passes` (records), `kernels`,
        `peak_host_bytes`; with `error` and `tail` where the server did not get ready.
    """
    cell, plan = setting.cell, setting.plan
    log, port, checkpoints = plan.out / "logs" / f"{name}.log", free_port(), plan.checkpoints
    starts = launches(cell, tree, plan, port, log, setting.gpus, setting.left() - _AFTER_READY)
    address = f"http://127.0.0.1:{port}"
    scale = Scale(
        tokens=cell.tokens,
        features=cell.features,
        checkpoint=str(checkpoints / cell.checkpoint),
        other=str(checkpoints / cell.other) if cell.other else "",
        adapter=str(checkpoints / f"{cell.checkpoint}-adapter"),
    )
    own = log.with_suffix("")
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    command, environment = list(starts[0].command), dict(cell.environment)
    seen: dict[str, Any] = {"gpus": list(setting.gpus), "command": command, "environment": environment}
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(start)) for start in starts]
        try:
            waited = [server.wait_ready() for server in (servers if cell.roles else servers[:1])]
            seen["ready_seconds"] = round(max(waited), 2)
            ready()
            plan.progress(f"{name}: ready after {seen['ready_seconds']} s")
            seen["passes"] = []
            # The script is asked more than once, and the weights' version would stay.
            requests = [each for each in script(scale) if each.name != "weight_version"]
            asked = [each for each in requests if not cell.only or each.name in cell.only]
            for _ in range(cell.passes or plan.passes):
                # What the server asked itself while starting, and the pass before, must not be in its cache.
                send(address, FLUSH, 30)
                answers = perform(address, asked, seconds=max(0.0, setting.left() - OVER), each=120)
                seen["passes"].append({name: asdict(answer) for name, answer in answers.items()})
            info = send(address, Request("info", "/server_info", None, "GET"), 30)
            seen["settings"] = record.settings(info.body)
            if plan.profile and setting.left() > 10:
                folder = plan.out / "traces" / name
                seen["kernels"] = launched_kernels(address, folder, min(60.0, setting.left() - 5))
                shutil.rmtree(folder, ignore_errors=True)
        except NotReady as error:
            seen.update(error=str(error), tail=error.tail)
        seen["peak_host_bytes"] = sum(server.peak for server in servers)
    if any("{own}" in value for value in cell.environment.values()):
        seen["written"] = _written(own)
    shutil.rmtree(own, ignore_errors=True)
    text = "\n".join(server.text() for server in servers)
    seen.update(classes=record.loaded_classes(text), choices=record.choices(text), errors=record.errors(text))
    plan.progress(f"{name}: {seen.get('error', 'done')}")
    return seen


_SAMPLING = {"temperature": 0, "max_new_tokens": 6, "ignore_eos": True}
_ASK = {"input_ids": list(range(100, 140)), "sampling_params": _SAMPLING}


def launched_kernels(address: str, folder: Path, seconds: float) -> dict[str, int]:
    """Kernel name → how often one request of 40 prompt tokens and 6 new ones launched it, over all ranks.

    Empty where the server could not be profiled.
    """
    folder.mkdir(parents=True, exist_ok=True)
    limit = time.monotonic() + seconds
    start = {"output_dir": str(folder), "activities": ["CPU", "GPU"], "with_stack": False, "profile_id": "shrinker"}
    begin, end = Request("start", "/start_profile", start), Request("stop", "/stop_profile")
    for request in (FLUSH, begin, Request("ask", "/generate", _ASK), end):
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
