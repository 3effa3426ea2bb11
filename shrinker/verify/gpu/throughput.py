"""Upstream's own benchmarks in both trees, by turns (A B A B), as ratios with their spread."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from shrinker.verify.gpu.cells import Cell
from shrinker.verify.gpu.observe import launches, not_ready
from shrinker.verify.gpu.running import complete
from shrinker.verify.gpu.trees import Environment, Tree
from shrinker.verify.serving import NotReady, Server, free_port

_ROUNDS = 4
_SERVING = (
    "--backend sglang --dataset-name random-ids --random-input-len 256 --random-output-len 64 --random-range-ratio 1"
)
_PROMPTS = 256
_ONE_BATCH = "--batch-size 1 8 --input-len 256 --output-len 64"
_OFFLINE = (
    "--dataset-name generated-shared-prefix --gsp-num-groups 8 --gsp-prompts-per-group 16 "
    "--gsp-system-prompt-len 128 --gsp-question-len 64 --gsp-output-len 64"
)

_HIGHER = ("request_throughput", "output_throughput", "total_throughput", "median_ttft_ms", "median_tpot_ms")
"""What is read of a result of `bench_serving`."""


def measure(
    cell: Cell,
    trees: Sequence[Tree],
    environment: Environment,
    checkpoints: Path,
    out: Path,
    gpus: Sequence[int],
    limit: float,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Run the cell's benchmark by turns until `_ROUNDS` rounds or the time are over; the first round warms up."""
    values: dict[str, list[dict[str, float]]] = {tree.name: [] for tree in trees}
    with ExitStack() as stack:
        ports: dict[str, int] = {}
        servers: list[tuple[Tree, Server]] = []
        if cell.kind == "serving":
            for tree in trees:
                ports[tree.name] = free_port()
                log = out / "logs" / f"{cell.name}.{tree.name}.log"
                left = limit - time.monotonic() - 30
                start = launches(cell, tree, environment, checkpoints, ports[tree.name], log, gpus, left)[0]
                servers.append((tree, stack.enter_context(Server(start))))
            for tree, server in servers:
                try:
                    server.wait_ready()
                except NotReady as error:
                    return not_ready(tree, error)
        for turn in range(_ROUNDS + 1):
            # Every second round begins with the other tree, so that no tree always runs on a warmer chip.
            for tree in trees if turn % 2 == 0 else tuple(reversed(trees)):
                left = limit - time.monotonic()
                if left < 15:
                    break
                result = out / "bench" / f"{cell.name}.{tree.name}.{turn}.jsonl"
                result.parent.mkdir(parents=True, exist_ok=True)
                result.unlink(missing_ok=True)
                command = _command(cell, environment, checkpoints, result, ports.get(tree.name, 0))
                overlay = {**environment.overlay(tree, gpus), **cell.environment}
                log = out / "logs" / f"{cell.name}.{tree.name}.{turn}.bench.log"
                done = complete(f"{cell.name}/{tree.name}/{turn}", command, overlay, log, left)
                if done.code is None:
                    break
                found = _read(cell.kind, result, done.text)
                if done.code != 0 or not found:
                    return {"result": f"fails in {tree.name}", "tail": done.text.splitlines()[-15:]}
                values[tree.name].append(found)
                progress(f"{cell.name} {tree.name} ({turn}): {found}")
    return summary([tree.name for tree in trees], values)


def summary(names: Sequence[str], values: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Medians, the ratio of the second tree's to the first's, and the spread of each: largest over smallest.

    Each tree's first run, which warms up, does not count.
    """
    rounds = min(len(values[name]) for name in names) - 1
    if rounds < 1:
        return {"result": "not run"}
    quantities = sorted(values[names[0]][1].keys() & values[names[1]][1].keys())
    rows = {}
    for quantity in quantities:
        first, second = ([run[quantity] for run in values[name][1 : rounds + 1]] for name in names)
        if min(*first, *second) <= 0:
            continue
        rows[quantity] = {
            names[0]: first,
            names[1]: second,
            "ratio": round(median(second) / median(first), 4),
            "spread": [round(max(runs) / min(runs), 4) for runs in (first, second)],
        }
    return {"result": "measured", "rounds": rounds, "measured": rows}


def _command(cell: Cell, environment: Environment, checkpoints: Path, result: Path, port: int) -> list[str]:
    model = str(checkpoints / cell.checkpoint)
    if cell.kind == "serving":
        return environment.command(
            *("-m", "sglang.bench_serving", "--host", "127.0.0.1", "--port", str(port), "--model", model),
            *(*_SERVING.split(), "--num-prompts", str(_PROMPTS), "--seed", "1", "--output-file", str(result)),
            "--flush-cache",
        )
    engine = ["--model-path", model, *cell.server_arguments()]
    if cell.kind == "one_batch":
        return environment.command(
            "-m", "sglang.bench_one_batch", *engine, *_ONE_BATCH.split(), "--result-filename", str(result)
        )
    return environment.command(
        "-m", "sglang.bench_offline_throughput", *engine, *_OFFLINE.split(), "--result-filename", str(result)
    )


def _read(kind: str, result: Path, text: str) -> dict[str, float]:
    """The numbers of one run, by name; empty when it left none."""
    try:
        rows = [json.loads(line) for line in result.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        return {}
    if not rows:
        return {}
    if kind == "one_batch":
        return {
            f"{name}@batch{row['batch_size']}": float(row[name])
            for row in rows
            for name in ("overall_throughput", "median_decode_throughput", "prefill_latency")
            if name in row
        }
    names = _HIGHER if kind == "serving" else tuple(k for k in rows[-1] if re.search("throughput", k))
    return {name: float(rows[-1][name]) for name in names if isinstance(rows[-1].get(name), (int, float))}
