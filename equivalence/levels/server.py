"""Level *server*: both trees serve the same tiny checkpoint with CUDA simulated, and answer one script the same.

Checks:
    requests: the declared script of `verify.serving`: native and OpenAI endpoints, grammars, tools, reasoning, errors.
    client: what the OpenAI client sees, an abort, the names of the metrics.
    removed endpoints: each listed one answers 404, and its message names the rule.
    model class: the class that the log says was loaded.
    kernels: the set of kernels that were called.

Scenarios: the whole script on one device; ids and logprobs with a draft layer (MTP), on two ranks, and with each feature of `SCENARIOS`. A feature
that upstream's own server does not have in a simulation is *not shown*, which is counted and said.

Limits: bf16 on simulated Hopper devices, attention by Triton, no CUDA graphs; no speed, no overlap of streams.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from equivalence.levels.both import show_both
from equivalence.levels.checkpoints import checkpoint
from equivalence.levels.openapi import removed_endpoints
from equivalence.levels.result import Ledger, LevelResult
from equivalence.levels.setting import GENERATED, PROGRAMS, SIDES, UPSTREAM, Setting, slug
from equivalence.serving import Launch, NotReady, Record, Request, Scale, Server, free_port, judge, perform, script
from equivalence.simulation import calls
from equivalence.simulation.environment import has_triton
from equivalence.simulation.running import run as run_command

_REQUIRED = ("requests", "client", "model class", "kernels")
_OPTIONS = (
    *("--attention-backend", "triton", "--sampling-backend", "pytorch", "--grammar-backend", "xgrammar"),
    *("--tool-call-parser", "deepseekv3", "--reasoning-parser", "deepseek-r1", "--enable-metrics"),
    *("--disable-cuda-graph", "--context-length", "512", "--max-total-tokens", "2048", "--max-running-requests", "4"),
    *("--served-model-name", "served", "--random-seed", "1", "--watchdog-timeout", "900", "--host", "127.0.0.1"),
    *("--chunked-prefill-size", "32", "--enable-custom-logit-processor"),
)
_FEATURES = frozenset({"grammar", "tools", "reasoning", "chunks", "administration", "processors"})
_MOST = 8
_WHOLE = frozenset({"json_schema", "tools_required"})
"""Requests whose answer says something only when it is whole."""
# The document is the level *imports*' own check, which knows what is listed as removed.
_LEFT_OUT = frozenset({"openapi"})
_LOADED = re.compile(r"Load weight end.*?type=(\w+)")
_NUMBERS = frozenset({"model_info", "generate_0", "generate_1", "generate_repeated", "generate_stream", "chat"})
"""Requests of a scenario that asks whether the numbers are the same: ids and logprobs, more than once, streamed."""
_RECORDED = frozenset({"experts_start", "experts_asked", "experts_stop", "experts_dump"})


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checkpoint, how it is served, and what is asked."""

    name: str
    shape: tuple[tuple[str, str | int], ...] = (("dense", 1), ("family", "v3"), ("moe", 1), ("mtp", 0))
    options: tuple[str, ...] = ()
    """Beside those of all."""
    asked: frozenset[str] = frozenset()
    """Names of the requests; empty: the whole script, and what the OpenAI client asks."""
    devices: int = 1
    tokens: int = 4
    """How many most requests generate."""
    features: frozenset[str] = _FEATURES
    """What the server is started with, for requests that need it."""
    needed: bool = True
    """Whether upstream's server has to start. Where one that need not does not, and the generated tree's ends alike, nothing is shown."""


SCENARIOS = (
    Scenario("whole script"),
    Scenario(
        "MTP",
        # The kernel that joins the draft layer's two inputs takes no less than 512.
        shape=(("dense", 1), ("family", "v3"), ("hidden", 512), ("moe", 1), ("mtp", 1)),
        options=(
            *("--speculative-algorithm", "EAGLE", "--speculative-num-steps", "1"),
            *("--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "2"),
        ),
        asked=_NUMBERS,
    ),
    Scenario("two ranks", options=("--tp-size", "2"), asked=_NUMBERS, devices=2),
    Scenario("pipeline", options=("--pp-size", "2"), asked=_NUMBERS, devices=2, needed=False),
    Scenario("hierarchical cache", options=("--enable-hierarchical-cache",), asked=_NUMBERS, needed=False),
    Scenario(
        "n-grams",
        options=("--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "4"),
        asked=_NUMBERS,
        needed=False,
    ),
    Scenario("priorities", options=("--enable-priority-scheduling",), asked=_NUMBERS, needed=False),
    Scenario(
        "recorder of experts",
        options=("--expert-distribution-recorder-mode", "stat"),
        asked=_NUMBERS | _RECORDED,
        features=_FEATURES | {"experts"},
        needed=False,
    ),
    Scenario("memory saver", options=("--enable-memory-saver",), asked=_NUMBERS, needed=False),
    Scenario(
        "prefill apart",
        options=("--disaggregation-mode", "prefill", "--disaggregation-transfer-backend", "fake"),
        asked=_NUMBERS,
        needed=False,
    ),
)
"""What is served."""


def run(upstream: Path, generated: Path, setting: Setting, *, scenarios: Sequence[Scenario] = SCENARIOS) -> LevelResult:
    """Serve both trees and compare their answers.

    Args:
        upstream, generated: folders that hold the package `sglang`.
        setting: with what to run.
        scenarios: what is served.
    """
    start = time.monotonic()
    ledger = Ledger("server")
    if not has_triton(setting.simulation):
        ledger.limit("Triton has no wheel for this system: no server was started. Run this level on Linux.")
        return ledger.result(time.monotonic() - start, ())
    for scenario in scenarios:
        if refused := setting.expected.refuses(scenario.options):
            ledger.limit(f"{scenario.name}: the profile refuses {refused}.")
            continue
        trees = dict(zip(SIDES, (upstream, generated), strict=True))
        # Before two processes would make it at once.
        checkpoint(setting, **dict(scenario.shape))
        shown = show_both(
            setting, f"server, {scenario.name}", partial(_observed, scenario, trees), processes=scenario.devices
        )
        seen = {side: shown[side][0] for side in SIDES}
        tried = {side: shown[side][1] for side in SIDES}
        reasons = {side: [f.message.replace(f"{side}: ", "") for f in tried[side].findings] for side in SIDES}
        alike = not any(seen.values()) and reasons[UPSTREAM] == reasons[GENERATED]
        if alike and setting.where_upstream_runs:
            ledger.inherit("server", "", f"upstream's own server does not start here: {' '.join(reasons[UPSTREAM])}")
            continue
        if alike and not scenario.needed:
            ledger.count("scenarios not shown")
            ledger.limit(f"{scenario.name}: neither server starts in a simulation: {' '.join(reasons[UPSTREAM])}")
            continue
        for side in SIDES:
            ledger.findings += tried[side].findings
            ledger.figures += tried[side].figures
        if all(seen.values()):
            ledger.count("scenarios")
            _compare(scenario, seen, ledger)  # type: ignore[arg-type]
        elif seen[GENERATED] is None and seen[UPSTREAM] is None:
            ledger.limit(f"{scenario.name}: upstream's own server does not start here, so that nothing was compared.")
    return ledger.result(time.monotonic() - start, _REQUIRED)


def _observed(
    scenario: Scenario, trees: Mapping[str, Path], side: str, setting: Setting
) -> tuple[_Seen | None, Ledger]:
    ledger = Ledger("server")
    return observe(scenario, side, trees[side], setting, ledger), ledger


def observe(scenario: Scenario, side: str, tree: Path, setting: Setting, ledger: Ledger) -> _Seen | None:
    """Serve one tree and ask it; None, and a finding, when it does not start."""
    model = checkpoint(setting, **dict(scenario.shape))
    show = partial(_serve, scenario, side, tree, model, setting, ledger)
    return setting.once(side, followed(scenario, setting), show, _called)


def followed(scenario: Scenario, setting: Setting) -> str:
    """A scenario in words that say all it depends on beside the tree."""
    asked = [request.name for request in _script(scenario, setting)]
    return f"server {scenario} {_OPTIONS} {asked}"


def _script(scenario: Scenario, setting: Setting, model: str = "") -> list[Request]:
    """The requests of a scenario; none for what the profile removes or refuses, which is asked apart."""
    removed = removed_endpoints(setting.expected.endpoints)
    scale = Scale(
        tokens=scenario.tokens,
        prompt=80,
        features=scenario.features,
        leave_out=_LEFT_OUT,
        checkpoint=model or "the served one",
    )
    return [
        _shorter(request)
        for request in script(scale)
        if f"{request.method} {request.path}" not in removed
        and (not scenario.asked or request.name in scenario.asked)
        and not setting.expected.refuses(_parser(request))
    ]


def _called(seen: _Seen | None) -> Mapping[str, frozenset[str]]:
    return seen.called if seen is not None else {}


class _Seen:
    """What one server showed."""

    def __init__(self, record: Record, client: Mapping[str, Any], log: str, folder: Path) -> None:
        self.record = record
        self.client = client
        self.classes = sorted(set(_LOADED.findall(log)))
        self.called = calls.read(folder)


def _parser(request: Request) -> list[str]:
    """The parser that a request names, as the option of the server."""
    parser = (request.body or {}).get("tool_call_parser")
    return ["--tool-call-parser", parser] if parser else []


def _serve(scenario: Scenario, side: str, tree: Path, model: Path, setting: Setting, ledger: Ledger) -> _Seen | None:
    folder = setting.work / side / f"server-{slug(scenario.name)}"
    log = folder / "calls"
    log.mkdir(parents=True, exist_ok=True)
    for old in log.glob("*.calls"):
        old.unlink()
    port = free_port()
    python = str(setting.simulation.python)
    made = setting.simulation.with_log(log).with_devices(scenario.devices)
    made, written = setting.followed(side, tree, made, follow := followed(scenario, setting))
    launch = Launch(
        side,
        [
            python,
            "-m",
            "sglang.launch_server",
            "--model-path",
            str(model),
            "--port",
            str(port),
            *_OPTIONS,
            *scenario.options,
        ],
        {**dict.fromkeys(os.environ), **made.variables(tree)},
        folder / "log.txt",
        folder,
        ready_seconds=300 * setting.patience,
    )
    place = f"server, {scenario.name}: {side}"
    setting.progress(f"{place} starts")
    with Server(launch) as server:
        try:
            seconds = server.wait_ready()
        except NotReady as error:
            ledger.find("server", "", f"{scenario.name}: {error}: {_reason(error.tail)}")
            return None
        address = f"http://127.0.0.1:{port}"
        record = perform(
            address,
            _script(scenario, setting, str(model)),
            seconds=600 * setting.patience,
            each=180 * setting.patience,
            progress=lambda name: setting.progress(f"{place}: {name}"),
        )
        record.save(folder / "answers.json")
        client: Mapping[str, Any] = {}
        if not scenario.asked:
            setting.progress(f"{place}: OpenAI client")
            client = _client(address, side, folder, setting)
        if written is not None and setting.following is not None:
            setting.following.keep_living(follow, written, setting.patience)
        ledger.figure(
            f"{scenario.name}, {side} ready", f"{seconds:.0f} s, at most {server.peak_memory() / 2**20:.0f} MiB"
        )
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


def _client(address: str, side: str, folder: Path, setting: Setting) -> Mapping[str, Any]:
    given, result = folder / "client.given.json", folder / "client.json"
    result.unlink(missing_ok=True)
    # Upstream would do what they are for.
    removed = [*removed_endpoints(setting.expected.endpoints).values()] if side == GENERATED else []
    given.write_text(json.dumps({"address": address, "removed": removed}), "utf-8")
    command: list[str | Path] = [setting.simulation.python, "-I", PROGRAMS / "client.py", given, result]
    finished = run_command(command, variables=os.environ, output=folder / "client.txt", limit=400 * setting.patience)
    if result.is_file():
        found: Mapping[str, Any] = json.loads(result.read_text("utf-8"))
        return found
    return {"client": f"ended with {finished.code}: {finished.tail()}"}


def _compare(scenario: Scenario, seen: Mapping[str, _Seen], ledger: Ledger) -> None:
    before, after = seen[UPSTREAM], seen[GENERATED]
    where = scenario.name
    compare_answers(before.record, after.record, ledger, where)
    for name in sorted({*before.client, *after.client} - {"removed"}):
        ledger.count("client")
        if before.client.get(name) != after.client.get(name):
            left, right = (json.dumps(side.client.get(name), sort_keys=True)[:300] for side in (before, after))
            ledger.find("client", "", f"{name}: {right}, in upstream {left}")
    if "client" in after.client:
        ledger.find("client", "", str(after.client["client"]))
    compare_removed(after.client.get("removed") or {}, ledger)
    ledger.count("model class", len(after.classes))
    if before.classes != after.classes:
        ledger.find("model class", "", f"{where}: {after.classes} was loaded, in upstream {before.classes}")
    compare_calls(before.called, after.called, ledger, where)


def compare_removed(answers: Mapping[str, Any], ledger: Ledger) -> None:
    """Each endpoint that was removed answers with its rule.

    Args:
        answers: status and body by method and path, or how asking failed (`raised` and `text`).
    """
    if "raised" in answers:
        ledger.find("removed endpoints", "", f"they cannot be asked for: {answers['raised']}: {answers['text']}")
        return
    for endpoint, (status, body) in answers.items():
        ledger.count("removed endpoints")
        if status != 404 or "rule" not in body:
            ledger.find("removed endpoints", "", f"{endpoint} answers {status}: {body[:200]}")


def compare_answers(before: Record, after: Record, ledger: Ledger, where: str) -> None:
    """Every request of the script was answered, and the same by both servers."""
    unsent: set[str] = set()
    for side, record in zip(SIDES, (before, after), strict=True):
        if late := record.unsent():
            unsent.update(late)
            ledger.find(
                "requests",
                "",
                f"{where}: {side}: no time was left for {len(late)} request(s), from {late[0]} on: give more with "
                "--patience, or let the machine do nothing else",
            )
    for verdict in judge(before, None, after):
        if verdict.request in unsent:
            continue
        ledger.count("requests")
        if verdict.result == "unanswered":
            ledger.find("requests", "", f"{where}: {verdict.request}: no answer from either server")
        for difference in verdict.differences[:3]:
            message = (
                f"{where}: {verdict.request}: {difference.path} is {difference.right}, in upstream {difference.left}"
            )
            ledger.find("requests", "", message)


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


__all__ = ["SIDES", "compare_answers", "compare_calls", "run"]
