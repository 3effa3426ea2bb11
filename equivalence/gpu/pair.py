"""A `paired` cell: one server of each tree at a time, asked the script and then loaded, in one
start.

At true widths a start costs more than all that is asked, so that answers, kernels and times are
taken from the same two servers. The third witness beside both is upstream's own client,
`bench_serving`: the one of upstream's tree in one block, the generated tree's in the next.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from equivalence.gpu import throughput
from equivalence.gpu.cells import Setting, Tree
from equivalence.gpu.load import Load, loads
from equivalence.gpu.observe import OVER, Observation
from equivalence.gpu.turns import Block, Broken, Numbers, Pair
from equivalence.processes import process_environment, run

SHORTEST = 240.0
"""Seconds below which no block is started any more."""
_CLIENT_RUNS = 3
"""How often upstream's client measures each load, after once that warms up."""
_CLIENT_SECONDS = 60.0
"""Time below which upstream's client is not asked."""
_QUANTITIES = ("output_throughput", "median_ttft_ms", "median_itl_ms")
_CLIENT = """
import json, runpy, sys
for words in json.loads(sys.argv[1]):
    sys.argv = ["bench_serving", *words]
    runpy.run_module("sglang.bench_serving", run_name="__main__")
"""
"""Upstream's command, several times in one process: importing takes longer than measuring."""


def serve_pair(setting: Setting, block: Block) -> dict[str, Any]:
    """Serve a cell with both trees of a block, ask both, and load both.

    Returns:
        A document: `seen` of each tree, as `Observation` has it; `pairs` of times, and `how` they
        were taken; `error` where a server did not get ready, or did not bear its load
        (`broken_by`); `client` with what upstream's client could not do; `whole`: whether the
        time for all left room for the answers.
    """
    found: dict[str, Any] = {"pairs": [], "how": throughput.told_place(setting)}
    with ExitStack() as stack:
        servers = [
            stack.enter_context(_observation(setting, block, tree, gpus))
            for tree, gpus in zip(block.trees, block.gpus, strict=True)
        ]
        # Waited for at once: a server that is asked late would seem to start late.
        with ThreadPoolExecutor(2) as pool:
            ready = list(pool.map(Observation.wait_ready, servers))
        standing = [server for server, stands in zip(servers, ready, strict=True) if stands]
        with ThreadPoolExecutor(2 if setting.apart else 1) as pool:
            list(pool.map(Observation.ask, standing))
            found["whole"] = setting.left() >= OVER
            list(pool.map(Observation.profile, standing))
        if all(ready):
            _take_times(setting, block, [server.port for server in servers], found)
    names = [tree.name for tree in block.trees]
    found["seen"] = {name: each.seen for name, each in zip(names, servers, strict=True)}
    # What the first block compiles, both of its servers wait for.
    if all(ready) and block.number:
        starts = {name: _told_start(seen) for name, seen in found["seen"].items()}
        found["pairs"].append({"place": block.place, **starts})
    found["pairs"] = [{"block": block.number, **pair} for pair in found["pairs"]]
    if errors := [server.seen["error"] for server in servers if "error" in server.seen]:
        found["error"] = errors[0]
    return found


def _observation(setting: Setting, block: Block, tree: Tree, gpus: Sequence[int]) -> Observation:
    name = f"{setting.cell.name}.{block.number + 1}.{tree.name}"
    return Observation(replace(setting, gpus=gpus), tree, name)


def _told_start(seen: dict[str, Any]) -> Numbers:
    return {name: float(seen[name]) for name in ("ready_seconds", "peak_host_bytes")}


def _take_times(
    setting: Setting,
    block: Block,
    ports: Sequence[int],
    found: dict[str, Any],
) -> None:
    """Put the times of two servers into the document of their block."""
    try:
        rounds = setting.cell.rounds
        found["pairs"] += throughput.load_in_rounds(setting, block, ports, rounds)
    except Broken as error:
        found |= {"error": str(error), "broken_by": error.tree, "tail": error.tail}
        return
    try:
        found["pairs"] += _ask_client(setting, block, ports)
    except Broken as error:
        # It measures both trees, and is a part of neither.
        found["client"] = {"of": choose_client(block).name, "tail": error.tail}


def choose_client(block: Block) -> Tree:
    """Return the tree whose client measures a block: each tree's has both places in four blocks."""
    by_name = sorted(block.trees, key=lambda tree: tree.name != "upstream")
    return by_name[(block.number + block.number // 2) % 2]


def _ask_client(setting: Setting, block: Block, ports: Sequence[int]) -> list[Pair]:
    """Let upstream's client measure both servers; empty where there is no time for it."""
    if setting.left() < _CLIENT_SECONDS:
        return []
    client = choose_client(block)
    with ThreadPoolExecutor(2 if setting.apart else 1) as pool:
        ask = partial(_measure, setting, block.number, client)
        measured = list(pool.map(ask, block.trees, ports))
    names = [tree.name for tree in block.trees]
    runs = [dict(zip(names, numbers, strict=True)) for numbers in zip(*measured, strict=False)]
    return [{"place": block.place, **numbers} for numbers in runs]


def _measure(setting: Setting, block: int, client: Tree, tree: Tree, port: int) -> list[Numbers]:
    """Return what a tree's client measures of a server, once for each of its runs.

    Empty where the time ended it. Raises Broken where it fails.
    """
    name = f"{setting.cell.name}.{block + 1}.{tree.name}.{client.name}-client"
    result = setting.plan.out / "bench" / f"{name}.jsonl"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    words = [
        _words(load, port, result, 1000 * block + turn)
        for turn in range(_CLIENT_RUNS + 1)
        for load in loads("paired", throughput.PART)
    ]
    environment = setting.plan.environment
    command = [environment.python, "-c", _CLIENT, json.dumps(words)]
    variables = process_environment(environment.overlay(client))
    log = setting.plan.out / "logs" / f"{name}.log"
    done = run(command, variables=variables, output=log, limit=max(1.0, setting.left() - OVER))
    if done.code is None:
        return []
    found = _read(client, result)
    if done.code != 0 or not found:
        raise Broken(client.name, done.text())
    return found


def _words(load: Load, port: int, result: Path, seed: int) -> list[str]:
    """Return the arguments of upstream's client for one load."""
    asked = (
        f"--backend sglang --host 127.0.0.1 --port {port} "
        f"--dataset-name random-ids --tokenize-prompt "
        f"--random-input-len {load.prompt} --random-output-len {load.new} --random-range-ratio 1 "
        f"--num-prompts {load.requests} --max-concurrency {load.concurrency} --seed {seed} "
        f"--flush-cache --disable-tqdm"
    )
    return [*asked.split(), "--output-file", str(result)]


def _read(client: Tree, result: Path) -> list[Numbers]:
    """Return the client's numbers by name, once for each run but the first, which warms up."""
    if not result.is_file():
        return []
    rows = [json.loads(line) for line in result.read_text("utf-8").splitlines() if line.strip()]
    by_load = defaultdict[int, list[dict[str, float]]](list)
    for row in rows:
        load = row["max_concurrency"]
        numbers = {
            f"{client.name}'s bench_serving, {name}@{load}": float(row[name])
            for name in _QUANTITIES
            if row.get(name) is not None
        }
        by_load[load].append(numbers)
    runs = zip(*by_load.values(), strict=False)
    merged: list[Numbers] = [{k: v for part in parts for k, v in part.items()} for parts in runs]
    return merged[1:]
