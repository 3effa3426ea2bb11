"""What is measured of a cell: imports, starts, upstream's benchmarks without a server, and servers
under load.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from equivalence.gpu.cells import Setting, Tree, printed
from equivalence.gpu.observe import FLUSH, launches
from equivalence.gpu.turns import Block, Broken, Numbers, Pair, blocks, measured
from equivalence.processes import process_environment, run
from equivalence.serving.client import send
from equivalence.serving.server import NotReady, Server, free_port

ROUNDS = 3
"""Rounds of each block of servers, after one that warms up: more blocks say more than more rounds.
"""
BLOCKS = 10
AT_ONCE = {"import": 4, "startup": 5}
"""Blocks that are measured at once: what these kinds do is the host's work, and both trees of a
block see the same load.
"""
WARM_RUNS = {"serving": 0, "one_batch": 0, "offline": 2}
"""Runs of each tree that fill caches and are dropped, where it is not one.

What measures often drops its own first numbers.
"""
_LONGEST = {"import": 30.0}
"""Seconds below which no block is started any more, where it is not 75."""
PART = 1.0
"""Of the requests of each round."""

_ONE_BATCH = "--batch-size 1 8 1 8 1 8 1 8 1 8 --input-len 256 --output-len 64"
_ONE_BATCH_NAMES = ("overall_throughput", "median_decode_throughput", "prefill_latency")
_OFFLINE = (
    "--dataset-name generated-shared-prefix --gsp-num-groups 8 --gsp-prompts-per-group 16 "
    "--gsp-system-prompt-len 128 --gsp-question-len 64 --gsp-output-len 64"
)
_CONVERSATIONS = [
    {"conversations": [{"value": f"{i} " * 64}, {"value": f"{i} " * 16}]} for i in range(32)
]
_IMPORT = """
import json, os, resource, sys, time
begin = time.perf_counter()
import sglang.srt.entrypoints.http_server
took = time.perf_counter() - begin
own = [m for m in sys.modules if m == "sglang" or m.startswith("sglang.")]
used = resource.getrusage(resource.RUSAGE_SELF)
cpu = used.ru_utime + used.ru_stime
peak = used.ru_maxrss * 1024
print("\\n@" + json.dumps(dict(seconds=took, cpu_seconds=cpu, peak_bytes=peak, own_modules=len(own), modules=len(sys.modules))), flush=True)
os._exit(0)
"""


def measure(setting: Setting, upstream: Tree, others: Sequence[Tree]) -> dict[str, Any]:
    """Return the row of a timed cell: as many blocks as the time allows, `BLOCKS` or the plan's
    number at most; what warms up is dropped.
    """
    kind, taken, ran = setting.cell.kind, list[Pair](), Counter[str]()
    at_once, warm = AT_ONCE.get(kind, 1), WARM_RUNS.get(kind, 1)
    dropped = max(at_once, warm * len(others)) if warm else 0
    turn = blocks(setting, upstream, others)
    try:
        for _ in range(0, setting.plan.counts.get(setting.cell.name, BLOCKS) + dropped, at_once):
            if setting.left() < _LONGEST.get(kind, 75.0):
                break
            group = list(islice(turn, at_once))
            with ThreadPoolExecutor(at_once) as pool:
                found = list(
                    pool.map(partial(_serve if kind == "serving" else _pair, setting), group)
                )
            for block, pairs in zip(group, found, strict=True):
                taken += pairs if all(ran[tree.name] >= warm for tree in block.trees) else []
            # Blocks of one group run at once: none warms another.
            ran.update(tree.name for block in group for tree in block.trees)
    except Broken as error:
        return {"result": str(error), "tail": error.tail}
    if not taken:
        return {"result": "not run"}
    how = told_place(setting)
    if at_once > 1:
        how = f"{2 * at_once} at once{', no GPU' if kind == 'import' else ''}"
    return {"result": "measured", "how": how, "measured": measured(taken), "pairs": taken}


def told_place(setting: Setting) -> str:
    """Tell where the two trees of a pair run."""
    return "a GPU each" if setting.apart else "one GPU for both, one after the other"


def _pair(setting: Setting, block: Block) -> list[Pair]:
    """Upstream and the other tree, once each: at once where they have GPUs of their own or need
    none. A pair for each row of a benchmark that measures more than once.
    """
    with ThreadPoolExecutor(2 if setting.apart or setting.cell.kind == "import" else 1) as pool:
        found = pool.map(partial(_one, setting, block.number), block.trees, block.gpus)
        runs = {tree.name: numbers for tree, numbers in zip(block.trees, found, strict=True)}
    pairs = [dict(zip(runs, numbers, strict=True)) for numbers in zip(*runs.values(), strict=False)]
    for pair in pairs:
        setting.plan.progress(f"{setting.cell.name} ({block.number}): {_told(pair)}")
    return [{"place": block.place, **pair} for pair in pairs]


def _one(setting: Setting, turn: int, tree: Tree, gpus: Sequence[int]) -> list[Numbers]:
    """Return one run that has no server under load: what it measured, once or more often; empty
    where the time ended it.
    """
    cell, environment = setting.cell, setting.plan.environment
    log = setting.plan.out / "logs" / f"{cell.name}.{tree.name}.{turn}.log"
    if cell.kind == "startup":
        with _server(setting, tree, gpus, free_port(), log) as server:
            seconds = _ready(setting, tree, server)
        return (
            [{"ready_seconds": round(seconds, 2), "peak_host_bytes": server.peak}]
            if seconds
            else []
        )
    result = setting.plan.out / "bench" / f"{cell.name}.{tree.name}.{turn}.jsonl"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    if cell.kind == "import":
        words, overlay = ["-c", _IMPORT], environment.overlay(tree)
    else:
        engine = [
            "--model-path",
            str(setting.plan.checkpoints / cell.checkpoint),
            *cell.server_arguments(),
        ]
        name, asked = "bench_one_batch", _ONE_BATCH.split()
        if cell.kind == "offline":
            # It draws its warm-up of conversations, which it would fetch from the network.
            conversations = result.with_name("conversations.json")
            conversations.write_text(json.dumps(_CONVERSATIONS), "utf-8")
            name, asked = (
                "bench_offline_throughput",
                [*_OFFLINE.split(), "--dataset-path", str(conversations)],
            )
        words = ["-m", f"sglang.{name}", *engine, *asked, "--result-filename", str(result)]
        overlay = {**environment.overlay(tree, gpus), **cell.environment}
    limit, variables = max(1.0, setting.left()), process_environment(overlay)
    done = run([environment.python, *words], variables=variables, output=log, limit=limit)
    if done.code is None:
        return []
    numbers: list[Numbers] = (
        [printed(done.text())] if cell.kind == "import" else _read(cell.kind, result)
    )
    if done.code != 0 or not all(numbers) or not numbers:
        raise Broken(tree.name, done.text())
    return numbers


def _server(setting: Setting, tree: Tree, gpus: Sequence[int], port: int, log: Path) -> Server:
    """Return the server of a cell that takes one process."""
    return Server(
        launches(setting.cell, tree, setting.plan, port, log, gpus, max(1.0, setting.left() - 20))[
            0
        ]
    )


def _ready(setting: Setting, tree: Tree, server: Server) -> float:
    """Seconds until the server was there; 0 where the time of the whole run ended it."""
    try:
        return server.wait_ready()
    except NotReady as error:
        if setting.left() < 30:
            return 0.0
        raise Broken(tree.name, error.tail) from error


def _serve(setting: Setting, block: Block) -> list[Pair]:
    """Start two servers and load them in rounds; returns how long they took to start, too."""
    ports, servers = [free_port() for _ in block.trees], []
    where = f"{setting.cell.name} ({block.number}"
    with ExitStack() as stack:
        for tree, gpus, port in zip(block.trees, block.gpus, ports, strict=True):
            log = setting.plan.out / "logs" / f"{setting.cell.name}.{block.number}.{tree.name}.log"
            servers.append(stack.enter_context(_server(setting, tree, gpus, port, log)))
        # Waited for at once: a server that is asked late would seem to start late.
        with ThreadPoolExecutor() as pool:
            ready = list(pool.map(partial(_ready, setting), block.trees, servers))
        if not all(ready):
            return []
        starts = {
            t.name: {"ready_seconds": round(seconds, 2)}
            for t, seconds in zip(block.trees, ready, strict=True)
        }
        setting.plan.progress(f"{where}): {_told(starts)}")
        taken = load_in_rounds(setting, block, ports, ROUNDS)
        for tree, server in zip(block.trees, servers, strict=True):
            starts[tree.name]["peak_host_bytes"] = float(server.peak)
    return [*taken, {"place": block.place, **starts}]


def load_in_rounds(setting: Setting, block: Block, ports: Sequence[int], rounds: int) -> list[Pair]:
    """Load two servers in so many rounds, after one that warms up; fewer where the time ends them.

    Servers with GPUs of their own are loaded at once, others by turns. Who comes first alternates.
    """
    taken = list[Pair]()
    places = [*zip(block.trees, ports, strict=True)]
    for turn in range(rounds + 1):
        order = places[:: 1 if turn % 2 == 0 else -1]
        with ThreadPoolExecutor(2 if setting.apart else 1) as pool:
            asked = [pool.submit(_load, setting, *place, block.number, turn) for place in order]
            found = {tree.name: one.result() for (tree, _), one in zip(order, asked, strict=True)}
        if not all(found.values()):
            break
        setting.plan.progress(f"{setting.cell.name} ({block.number}.{turn}): {_told(found)}")
        if turn:
            taken.append({"place": block.place, **found})
    return taken


def _load(setting: Setting, tree: Tree, port: int, block: int, turn: int) -> Numbers:
    """Return the numbers of one round of `equivalence.gpu.load`; empty where the time ended it."""
    if setting.left() < 10:
        return {}
    send(f"http://127.0.0.1:{port}", FLUSH, 30)
    seed = 1000 * block + turn
    asked = f"-m equivalence.gpu.load --port {port} --seed {seed} --part {PART}"
    asked += f" --kind {setting.cell.kind}"
    variables = process_environment({"PYTHONPATH": str(Path(__file__).parents[2])})
    log = setting.plan.out / "logs" / f"{setting.cell.name}.{block}.{turn}.{tree.name}.load.log"
    done = run(
        [sys.executable, *asked.split()], variables=variables, output=log, limit=setting.left()
    )
    numbers = printed(done.text())
    if done.code is not None and (done.code != 0 or not numbers):
        raise Broken(tree.name, done.text())
    return numbers


def _told(pair: Mapping[str, Numbers]) -> str:
    return "; ".join(
        f"{tree} {', '.join(f'{n} {value:.4g}' for n, value in own.items())}"
        for tree, own in pair.items()
    )


def _read(kind: str, result: Path) -> list[Numbers]:
    """Return the numbers of one run of upstream's benchmark, by name, as often as it measured;
    empty when it left none.

    Of a run that measures several times the first row warms up.
    """
    try:
        rows = [json.loads(line) for line in result.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        return []
    if kind == "offline":
        rates = (
            (name, value)
            for row in rows[-1:]
            for name, value in row.items()
            if "throughput" in name
        )
        return (
            [{name: float(value) for name, value in rates if isinstance(value, int | float)}]
            if rows
            else []
        )
    found = defaultdict[int, list[Numbers]](list)
    for row in rows:
        size = row["batch_size"]
        found[size].append(
            {f"{name}@batch{size}": float(row[name]) for name in _ONE_BATCH_NAMES if name in row}
        )
    runs = zip(*found.values(), strict=False)
    times: list[Numbers] = [
        {name: value for each in some for name, value in each.items()} for some in runs
    ]
    return times[1:]
