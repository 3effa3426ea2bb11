"""Level *server*: both trees serve the same tiny checkpoint with CUDA simulated, and answer one script the same.

Checks:
    requests: the declared script of `verify.serving`: native and OpenAI endpoints, grammars, tools, reasoning, errors.
    client: what the OpenAI client sees, an abort, the names of the metrics.
    removed endpoints: each listed one answers 404, and its message names the rule.
    model class: the class that the log says was loaded.
    kernels: the set of kernels that were called.

Limits: bf16 on one simulated Hopper device, attention by Triton, no CUDA graphs; no speed, no overlap of streams.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from shrinker.simulate import calls
from shrinker.simulate.environment import has_triton
from shrinker.simulate.running import run as run_command
from shrinker.verify.serving import Launch, NotReady, Record, Request, Scale, Server, free_port, judge, perform, script
from shrinker.verify.simulated.checkpoints import checkpoint
from shrinker.verify.simulated.result import Ledger, LevelResult
from shrinker.verify.simulated.setting import GENERATED, PROGRAMS, SIDES, UPSTREAM, Setting

_REQUIRED = ("requests", "client", "model class", "kernels")
_OPTIONS = (
    *("--attention-backend", "triton", "--sampling-backend", "pytorch", "--grammar-backend", "xgrammar"),
    *("--tool-call-parser", "deepseekv3", "--reasoning-parser", "deepseek-r1", "--enable-metrics"),
    *("--disable-cuda-graph", "--context-length", "512", "--max-total-tokens", "2048", "--max-running-requests", "4"),
    *("--served-model-name", "served", "--random-seed", "1", "--watchdog-timeout", "900", "--host", "127.0.0.1"),
)
_FEATURES = frozenset({"grammar", "tools", "reasoning"})
_MOST = 8
_WHOLE = frozenset({"json_schema", "tools_required"})
"""Requests whose answer says something only when it is whole."""
# The document is the level *imports*' own check, which knows what is listed as removed.
_LEFT_OUT = frozenset({"openapi"})
_LOADED = re.compile(r"Load weight end.*?type=(\w+)")


def run(
    upstream: Path, generated: Path, setting: Setting, *, options: Sequence[str] = _OPTIONS, tokens: int = 4
) -> LevelResult:
    """Serve both trees, one after the other, and compare their answers.

    Args:
        upstream, generated: folders that hold the package `sglang`.
        setting: with what to run.
        options: of the server, beside the checkpoint and the port.
        tokens: how many most requests generate.
    """
    start = time.monotonic()
    ledger = Ledger("server")
    if not has_triton(setting.simulation):
        ledger.limit("Triton has no wheel for this system: no server was started. Run this level on Linux.")
        return ledger.result(time.monotonic() - start, ())
    model = checkpoint(setting, family="v3", dense=1, moe=1, mtp=0)
    seen = {}
    for side, tree in ((UPSTREAM, upstream), (GENERATED, generated)):
        show = partial(_serve, side, tree, model, setting, options, tokens, ledger)
        seen[side] = setting.once(side, f"server {model} {options} {tokens}", show, _called)
    if all(seen.values()):
        _compare(seen, setting, ledger)  # type: ignore[arg-type]
    elif seen[GENERATED] is None and seen[UPSTREAM] is None:
        ledger.limit("Upstream's own server does not start here, so that nothing was compared.")
    return ledger.result(time.monotonic() - start, _REQUIRED)


def _called(seen: _Seen | None) -> Mapping[str, frozenset[str]]:
    return seen.called if seen is not None else {}


class _Seen:
    """What one server showed."""

    def __init__(self, record: Record, client: Mapping[str, Any], log: str, folder: Path) -> None:
        self.record = record
        self.client = client
        self.classes = sorted(set(_LOADED.findall(log)))
        self.called = calls.read(folder)


def _serve(
    side: str, tree: Path, model: Path, setting: Setting, options: Sequence[str], tokens: int, ledger: Ledger
) -> _Seen | None:
    folder = setting.work / side / "server"
    log = folder / "calls"
    log.mkdir(parents=True, exist_ok=True)
    for old in log.glob("*.calls"):
        old.unlink()
    port = free_port()
    python = str(setting.simulation.python)
    variables = setting.simulation.with_log(log).variables(tree)
    launch = Launch(
        side,
        [python, "-m", "sglang.launch_server", "--model-path", str(model), "--port", str(port), *options],
        {**dict.fromkeys(os.environ), **variables},
        folder / "log.txt",
        folder,
        ready_seconds=300 * setting.patience,
    )
    setting.progress(f"server: {side} starts")
    with Server(launch) as server:
        try:
            seconds = server.wait_ready()
        except NotReady as error:
            ledger.find("server", "", f"{error}: {_reason(error.tail)}")
            return None
        address = f"http://127.0.0.1:{port}"
        scale = Scale(tokens=tokens, features=_FEATURES, leave_out=_LEFT_OUT)
        asked = [_shorter(request) for request in script(scale)]
        record = perform(
            address,
            asked,
            seconds=600 * setting.patience,
            each=180 * setting.patience,
            progress=lambda name: setting.progress(f"server: {side}: {name}"),
        )
        record.save(folder / "answers.json")
        setting.progress(f"server: {side}: OpenAI client")
        client = _client(address, folder, setting)
        ledger.figure(f"{side} ready", f"{seconds:.0f} s, at most {server.peak_memory() / 2**20:.0f} MiB")
    return _Seen(record, client, (folder / "log.txt").read_text("utf-8", "replace"), log)


def _shorter(request: Request) -> Request:
    """The request with fewer tokens where the script asks for many: a simulated one takes half a second."""
    body = request.body
    if body is None or body.get("max_tokens", 0) <= _MOST or request.name in _WHOLE:
        return request
    return replace(request, body={**body, "max_tokens": _MOST})


def _reason(tail: str) -> str:
    """The line of a log's end that says most: the last error."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit)\b", line)]
    return (errors or lines or [""])[-1][:400]


def _client(address: str, folder: Path, setting: Setting) -> Mapping[str, Any]:
    given, result = folder / "client.given.json", folder / "client.json"
    result.unlink(missing_ok=True)
    removed = [
        row["subject"].split(" ", 1)
        for row in setting.expected.endpoints
        if row["kind"] == "removed" and row["subject"] != "(all)"
    ]
    given.write_text(json.dumps({"address": address, "removed": removed}), "utf-8")
    command: list[str | Path] = [setting.simulation.python, "-I", PROGRAMS / "client.py", given, result]
    finished = run_command(command, variables=os.environ, output=folder / "client.txt", limit=400 * setting.patience)
    if result.is_file():
        found: Mapping[str, Any] = json.loads(result.read_text("utf-8"))
        return found
    return {"client": f"ended with {finished.code}: {finished.tail()}"}


def _compare(seen: Mapping[str, _Seen], setting: Setting, ledger: Ledger) -> None:
    before, after = seen[UPSTREAM], seen[GENERATED]
    for verdict in judge(before.record, None, after.record):
        ledger.count("requests")
        if verdict.result == "identical":
            continue
        if verdict.result == "unanswered":
            ledger.find("requests", "", f"{verdict.request}: no answer from either server")
        for difference in verdict.differences[:3]:
            message = f"{verdict.request}: {difference.path} is {difference.right}, in upstream {difference.left}"
            ledger.find("requests", "", message)
    for name in sorted({*before.client, *after.client} - {"removed"}):
        ledger.count("client")
        if before.client.get(name) != after.client.get(name):
            left, right = (json.dumps(side.client.get(name), sort_keys=True)[:300] for side in (before, after))
            ledger.find("client", "", f"{name}: {right}, in upstream {left}")
    if "client" in after.client:
        ledger.find("client", "", str(after.client["client"]))
    for endpoint, (status, body) in (after.client.get("removed") or {}).items():
        ledger.count("removed endpoints")
        if status != 404 or "rule" not in body:
            ledger.find("removed endpoints", "", f"{endpoint} answers {status}: {body[:200]}")
    ledger.count("model class", len(after.classes))
    if before.classes != after.classes:
        ledger.find("model class", "", f"{after.classes} was loaded, in upstream {before.classes}")
    compare_calls(before.called, after.called, ledger)


def compare_calls(
    before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]], ledger: Ledger, where: str = ""
) -> None:
    """The kernels that were called are the same, and nothing without a reference was."""
    start = f"{where}: " if where else ""
    ledger.count("kernels", len(after[calls.KERNEL]))
    for kind in (calls.KERNEL, calls.LOADED):
        for name in sorted(before[kind] ^ after[kind]):
            side = "upstream" if name in before[kind] else "the generated tree"
            ledger.find("kernels", "", f"{start}{kind} {name}: only in {side}")
    for name in sorted(before[calls.STUB] | after[calls.STUB]):
        which = "both trees" if name in before[calls.STUB] & after[calls.STUB] else "one tree only"
        ledger.find("kernels", "", f"{start}{name} was called in {which}, and has no reference")


__all__ = ["SIDES", "compare_calls", "run"]
