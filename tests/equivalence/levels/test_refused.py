"""What a profile refuses is not run; a program that ends badly on both trees is a finding, but
where only what upstream can run is judged.
"""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from equivalence.levels import Expected, Setting, server
from equivalence.levels.result import Ledger, both, show_both
from equivalence.levels.scenarios import ARCHITECTURE, RUNS, SCENARIOS
from equivalence.levels.setting import GENERATED, SIDES, UPSTREAM, Call, Outcome
from equivalence.processes import Finished
from equivalence.serving.server import Launch
from equivalence.simulation.environment import Simulation
from shrinker.values.errors import ShrinkerError
from tests.simulations import simulation_python

EXPECTED = Expected(
    flags=(
        {"subject": "--gone", "kind": "removed"},
        {"subject": "--other", "kind": "default changed"},
    ),
    refused=(
        {"subject": "--attention-backend", "values": ["fa3"], "only": []},
        {"subject": "--reasoning-parser", "values": [], "only": ["deepseek-r1"]},
        {"subject": "--grpc-mode", "values": [], "only": []},
        {"subject": "hf_config.architectures", "values": ["DeepseekV2ForCausalLM"], "only": []},
    ),
)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ((), ""),
        (("--attention-backend", "triton", "--reasoning-parser", "deepseek-r1", "--other"), ""),
        (("--size", "4", "--gone"), "--gone"),
        (("--attention-backend", "fa3"), "--attention-backend fa3"),
        (("--reasoning-parser", "kimi"), "--reasoning-parser kimi"),
        (("--grpc-mode",), "--grpc-mode"),
    ],
)
def test_options(options: tuple[str, ...], refused: str) -> None:
    assert EXPECTED.refuses(options) == refused


def test_runs() -> None:
    refused = {run.name: EXPECTED.refuses(run.asks) for run in RUNS}
    assert {name: why for name, why in refused.items() if why} == {
        "FlashAttention 3": "--attention-backend fa3",
        "V2": "hf_config.architectures DeepseekV2ForCausalLM",
        "V2-Lite": "hf_config.architectures DeepseekV2ForCausalLM",
    }


def test_a_server_is_not_told_what_a_profile_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An option that no server knows ends both trees alike, which looks as if upstream did not run
    here.
    """
    started: list[Launch] = []

    def start(launch: Launch) -> None:
        started.append(launch)
        raise InterruptedError

    made = SimpleNamespace(python="python", variables=lambda tree: {})
    setting = SimpleNamespace(
        prepared=lambda *which, **how: (made, tmp_path, None),
        checkpoint=lambda shape: tmp_path,
        expected=EXPECTED,
        patience=1,
        progress=lambda line: None,
    )
    monkeypatch.setattr(server, "Server", start)
    for scenario in SCENARIOS:
        with pytest.raises(InterruptedError):
            server.observe(scenario, "upstream", tmp_path, cast(Setting, setting))
        arguments = started[-1].command[3:]
        assert not any(ARCHITECTURE in word for word in arguments)


def test_the_client_asks_whatever_the_server_does(tmp_path: Path) -> None:
    setting = Setting(Simulation(simulation_python()), tmp_path)
    told = server._client("http://127.0.0.1:1", UPSTREAM, tmp_path, setting)
    assert {"chat", "stream", "abort", "metrics"} <= told.keys()
    assert told["chat"]["raised"] == "APIConnectionError" and told["removed"] == {}


TREES = {UPSTREAM: Path("upstream"), GENERATED: Path("generated")}
CALL = Call("forward", {side: {} for side in SIDES}, 1, "run-v3-2")


def ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, texts: Mapping[str, str | None]
) -> Setting:
    """A setting in which the program of each side ends with this output; None: it gives
    something.
    """

    def program(self: Setting, side: str, tree: Path, call: Call) -> Outcome:
        text = texts[side]
        data: Any = {} if text is None else None
        output = tmp_path / f"{side}.txt"
        output.write_text(text or "")
        return Outcome(data, Finished(int(data is None), output), {})

    monkeypatch.setattr(Setting, "program", program)
    return Setting(Simulation(Path("python")), tmp_path)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("upstream", "generated", "equal"),
    [
        ("x\n[rank0]: AssertionError\n", "y\n[rank1]: AssertionError\n", True),
        ("x\nAssertionError\n", "x\nNameError: name 'y' is not defined\n", False),
        ("x\nAssertionError\n", None, False),
        (None, "x\nAssertionError\n", False),
    ],
)
def test_only_an_equal_failure_of_both_is_forgiven(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    upstream: str | None,
    generated: str | None,
    equal: bool,
    lenient: bool,
) -> None:
    setting = ended(monkeypatch, tmp_path, {UPSTREAM: upstream, GENERATED: generated})
    ledger = Ledger("model")
    assert both(TREES, replace(setting, where_upstream_runs=lenient), ledger, CALL) is None
    assert bool(ledger.inherited) is (equal and lenient)
    assert bool(ledger.findings) is not (equal and lenient)
    if ledger.inherited:
        assert ledger.inherited[0].message == "upstream itself does not run here: AssertionError"


def test_both_run_at_once_where_there_are_cores_for_both(tmp_path: Path) -> None:
    def show(side: str, setting: Setting) -> tuple[str, int]:
        # Each waits for the other.
        (tmp_path / side).touch()
        limit = time.monotonic() + (60 if setting.jobs > 1 else 0.2)
        while not all((tmp_path / each).exists() for each in SIDES) and time.monotonic() < limit:
            time.sleep(0.01)
        return side, os.getpid()

    said: list[str] = []
    alone = Setting(Simulation(Path("python")), tmp_path, progress=said.append)
    setting = replace(alone, jobs=2)
    found = show_both(setting, "x", show)
    assert [found[side][0] for side in SIDES] == list(SIDES) and len(
        {owner for _, owner in found.values()}
    ) == 2
    # What needs more cores is run here.
    for other, cores in ((alone, 1), (setting, 2)):
        found = show_both(other, "x", show, cores=cores)
        assert {owner for _, owner in found.values()} == {os.getpid()}
    assert said[0] == "x: both trees" and said[1:] == ["x: upstream", "x: generated"] * 2


def test_a_side_that_is_killed_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    def show(side: str, setting: Setting) -> None:
        if side == GENERATED:
            os.kill(os.getpid(), signal.SIGKILL)

    setting = Setting(Simulation(Path("python")), tmp_path, jobs=2)
    with pytest.raises(
        ShrinkerError, match="x: the process that ran the generated tree was killed"
    ) as caught:
        show_both(setting, "x", show)
    assert "--jobs 1" in str(caught.value.next_step)
