"""Level *server*: both trees serve the same tiny checkpoint with CUDA simulated, and answer one
script the same.

Checks:
    requests: the declared script of `equivalence.serving`: native and OpenAI endpoints, grammars,
        tools, reasoning, errors; and each field of each request that the server's own OpenAPI
        document speaks of.
    client: what the OpenAI client sees, an abort, the names of the metrics. removed endpoints: each
        listed one answers 404, and its message names the rule. model class: the class that the log
        says was loaded.
    choices: the lines of the log that name a choice: a backend, a core, a fallback.
    kernels: the set of kernels that were called. compiled modules: those of the package that any
        process loaded, such as a core in Rust. Where upstream does without one, both do.

Scenarios: the whole script on one device; ids and logprobs with a draft layer (MTP), on two ranks,
and with each feature of `scenarios.toml`. A feature that upstream's own server does not have in a
simulation is *not shown*, which is counted and said.

Limits: bf16 on simulated Hopper devices, attention by Triton, no CUDA graphs; no speed, no overlap
of streams.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from equivalence.levels.listed import removed_endpoints
from equivalence.levels.result import Ledger, show_both
from equivalence.levels.scenarios import SCENARIOS, Scenario
from equivalence.levels.setting import GENERATED, ROOT, SIDES, UPSTREAM, Setting, exchange, slug
from equivalence.processes import process_environment
from equivalence.serving.client import perform, send
from equivalence.serving.record import (
    NO_TIME,
    Answers,
    choices,
    differences,
    errors,
    loaded_classes,
    streamed_alike,
)
from equivalence.serving.script import INTERFACE, Request, Scale, described, script
from equivalence.serving.server import Launch, NotReady, Server, free_port
from equivalence.simulation import calls
from shrinker.values.outcome import LevelResult

_REQUIRED = ("requests", "client", "model class", "choices", "kernels")

_FEATURES = frozenset({"grammar", "tools", "reasoning", "chunks", "administration", "processors"})
_TOKENS = 4
_MOST = 8
_WHOLE = frozenset({"json_schema", "tools_required"})
"""Requests whose answer says something only when it is whole."""
_NUMBERS = frozenset(
    {"model_info", "generate_0", "generate_1", "generate_repeated", "generate_stream", "chat"}
)
"""Requests of a scenario that asks whether the numbers are the same: ids and logprobs, more than
once, streamed.
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one server showed."""

    answers: Answers = field(default_factory=dict)
    client: Mapping[str, Any] = field(default_factory=dict)
    """What the OpenAI client saw, by step; empty where it did not ask."""
    log: str = ""
    called: calls.Called = field(default_factory=dict)
    ready: str = ""
    """How long it took to start, and how much memory it had."""
    failure: str = ""
    """Why it did not start: it showed nothing."""


def run(
    upstream: Path, generated: Path, setting: Setting, asked: Sequence[Scenario] = SCENARIOS
) -> LevelResult:
    """Serve both trees, in these scenarios, and compare their answers."""
    trees = {UPSTREAM: upstream, GENERATED: generated}
    ledger = Ledger("server")
    for scenario in ledger.admitted(asked, setting.expected):
        _scenario(scenario, trees, setting, ledger)
    return ledger.result(_REQUIRED)


def _scenario(
    scenario: Scenario, trees: Mapping[str, Path], setting: Setting, ledger: Ledger
) -> None:
    name = scenario.name
    # Before two processes would make it at once.
    setting.checkpoint(scenario.config)

    def show(side: str, own: Setting) -> Seen:
        return observe(scenario, side, trees[side], own)

    seen = show_both(setting, f"server, {name}", show, cores=scenario.devices)
    before, after = (seen[side].failure for side in SIDES)
    if before and before == after:
        if setting.where_upstream_runs:
            return ledger.inherit(
                "server", "", f"{name}: upstream's own server does not start here: {before}"
            )
        if not scenario.needed:
            ledger.checks["scenarios not shown"] += 1
            return ledger.limit(f"{name}: neither server starts in a simulation: {before}")
    for side, one in seen.items():
        if one.failure:
            ledger.find("server", "", f"{name}: {side}: {one.failure}")
        else:
            ledger.figures.append((f"{name}, {side} ready", one.ready))
    if before and after:
        ledger.limit(
            f"{name}: upstream's own server does not start here, so that nothing was compared."
        )
    elif not before and not after:
        ledger.checks["scenarios"] += 1
        _compare(name, seen[UPSTREAM], seen[GENERATED], ledger)


def observe(scenario: Scenario, side: str, tree: Path, setting: Setting) -> Seen:
    """Serve one tree and ask it."""
    follow = followed(scenario, setting)
    made, folder, kept = setting.prepared(
        side, tree, f"server-{slug(scenario.name)}", follow, devices=scenario.devices
    )
    model, port, patience = str(setting.checkpoint(scenario.config)), free_port(), setting.patience
    command = [
        str(made.python),
        "-m",
        "sglang.launch_server",
        "--model-path",
        model,
        "--port",
        str(port),
    ]
    command += scenario.words
    variables, log = {**dict.fromkeys(os.environ), **made.variables(tree)}, folder / "log.txt"
    place = f"server, {scenario.name}: {side}"
    setting.progress(f"{place} starts")
    with Server(
        Launch(side, command, variables, log, folder, ready_seconds=300 * patience, stop_seconds=0)
    ) as server:
        try:
            seconds = server.wait_ready()
        except NotReady as error:
            said = errors(error.tail) or error.tail.strip().splitlines() or [""]
            return Seen(failure=f"{str(error).removeprefix(f'{side}: ')}: {said[-1].strip()[:400]}")
        address = f"http://127.0.0.1:{port}"
        asked = [
            *_script(scenario, setting, model),
            *(_fields(address, setting) if scenario.fields else ()),
        ]
        limits = {"seconds": (1800 if scenario.fields else 600) * patience, "each": 180 * patience}
        answers = perform(
            address, asked, **limits, progress=lambda name: setting.progress(f"{place}: {name}")
        )
        plain = {name: asdict(answer) for name, answer in answers.items()}
        (folder / "answers.json").write_text(json.dumps(plain, indent=1) + "\n", "utf-8")
        client: Mapping[str, Any] = {}
        if scenario.whole:
            setting.progress(f"{place}: OpenAI client")
            client = _client(address, side, folder, setting)
        if kept and setting.following is not None:
            setting.following.keep_living(kept, patience)
        ready = f"{seconds:.0f} s, at most {server.peak / 2**20:.0f} MiB"
    return Seen(answers, client, server.text(), calls.read(folder / "calls"), ready)


def followed(scenario: Scenario, setting: Setting) -> str:
    """Return a scenario in words that say all it depends on beside the tree."""
    asked = [request.name for request in _script(scenario, setting)]
    # The order of a set is another one in each process.
    return (
        f"server {scenario.model_dump_json(exclude={'features'})} {scenario.config} "
        f"{scenario.words} {asked}"
    )


def _script(scenario: Scenario, setting: Setting, model: str = "") -> list[Request]:
    """Return the requests of a scenario; none for what the profile removes or refuses, which is
    asked apart.
    """
    removed = removed_endpoints(setting.expected.endpoints)
    scale = Scale(_TOKENS, 80, _FEATURES | scenario.features, checkpoint=model or "the served one")
    return [
        _shorter(request)
        for request in script(scale)
        if f"{request.method} {request.path}" not in removed
        and request.name not in INTERFACE
        and (scenario.whole or request.name in _NUMBERS or request.needs & scenario.features)
        and not setting.expected.refuses(_parser(request))
    ]


def _fields(address: str, setting: Setting) -> list[Request]:
    """Return what the server's own document speaks of, less endpoints that the profile removes:
    upstream's document has them.
    """
    document = send(
        address, Request("openapi", "/openapi.json", method="GET"), 60 * setting.patience
    ).body
    if not isinstance(document, Mapping):
        # The other side's requests have no answer here then, which is found.
        return []
    removed = removed_endpoints(setting.expected.endpoints)
    return [request for request in described(document) if f"POST {request.path}" not in removed]


def _parser(request: Request) -> list[str]:
    """Return the parser that a request names, as the option of the server."""
    parser = (request.body or {}).get("tool_call_parser")
    return ["--tool-call-parser", parser] if parser else []


def _shorter(request: Request) -> Request:
    """Return the request with fewer tokens where the script asks for many: a simulated one takes
    half a second.
    """
    body = request.body
    if body is None or body.get("max_tokens", 0) <= _MOST or request.name in _WHOLE:
        return request
    return replace(request, body={**body, "max_tokens": _MOST})


def _client(address: str, side: str, folder: Path, setting: Setting) -> Mapping[str, Any]:
    # Upstream would do what they are for.
    removed = [*removed_endpoints(setting.expected.endpoints).values()] if side == GENERATED else []
    given, limit = {"address": address, "removed": removed}, 400 * setting.patience
    variables = process_environment({"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"})
    finished, found = exchange(
        setting.simulation.python, "client", given, folder / "client", variables, limit
    )
    return found or {"client": f"ended with {finished.code}: {finished.tail()}"}


def _compare(where: str, before: Seen, after: Seen, ledger: Ledger) -> None:
    """Both servers showed the same."""
    compare_answers(before.answers, after.answers, ledger, where)
    for name in sorted({*before.client, *after.client} - {"removed"}):
        ledger.same("client", name, before.client.get(name), after.client.get(name), count=1)
    if "client" in after.client:
        ledger.find("client", "", str(after.client["client"]))
    compare_removed(after.client.get("removed") or {}, ledger)
    theirs, ours = (sorted(loaded_classes(seen.log)) for seen in (before, after))
    ledger.same("model class", where, theirs, ours, count=len(ours))
    compare_choices(before.log, after.log, ledger, where)
    ledger.compare_calls(before.called, after.called, where)


def compare_choices(before: str, after: str, ledger: Ledger, where: str) -> None:
    """Compare what both logs say of choices: which backend, which core, and what takes the place of
    one that is missing.
    """
    theirs, ours = choices(before), choices(after)
    ledger.checks["choices"] += len(ours)
    for side, lines in ((UPSTREAM, [*{*theirs} - {*ours}]), (GENERATED, [*{*ours} - {*theirs}])):
        for line in sorted(lines):
            ledger.find("choices", "", f"{where}: only the log of {side} says: {line}")


def compare_removed(answers: Mapping[str, Any], ledger: Ledger) -> None:
    """Each endpoint that was removed answers with its rule: status and body by method and path, or
    how asking failed (`raised`, `text`).
    """
    if "raised" in answers:
        ledger.find(
            "removed endpoints",
            "",
            f"they cannot be asked for: {answers['raised']}: {answers['text']}",
        )
        return
    for endpoint, (status, body) in answers.items():
        ledger.checks["removed endpoints"] += 1
        if status != 404 or "rule" not in body:
            ledger.find("removed endpoints", "", f"{endpoint} answers {status}: {body[:200]}")


def compare_answers(before: Answers, after: Answers, ledger: Ledger, where: str) -> None:
    """Every request of the script was answered, and the same by both servers."""
    unsent: set[str] = set()
    for side, answers in zip(SIDES, (before, after), strict=True):
        if late := [name for name, answer in answers.items() if answer.error == NO_TIME]:
            unsent.update(late)
            said = (
                f"{where}: {side}: no time was left for {len(late)} request(s), from {late[0]} on"
            )
            ledger.find(
                "requests",
                "",
                f"{said}: give more with --timeout-factor, or let the machine do nothing else",
            )
    for name in [name for name in {**before, **after} if name not in unsent]:
        ledger.checks["requests"] += 1
        theirs, ours = before.get(name), after.get(name)
        found = () if streamed_alike(theirs, ours) else differences(name, theirs, ours)
        if not found and theirs is not None and theirs.error:
            ledger.find("requests", "", f"{where}: {name}: no answer from either server")
        for one in found[:3]:
            ledger.find(
                "requests",
                "",
                f"{where}: {name}: {one.path} is {one.right}, in upstream {one.left}",
            )
