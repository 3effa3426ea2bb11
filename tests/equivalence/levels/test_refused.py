"""What a profile refuses is not run: options by the interface's rows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from equivalence.levels import Expected, Setting, server
from equivalence.levels.result import Ledger
from equivalence.levels.scenarios import ARCHITECTURE, RUNS, SCENARIOS
from equivalence.serving import Launch

EXPECTED = Expected(
    flags=({"subject": "--gone", "kind": "removed"}, {"subject": "--other", "kind": "default changed"}),
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


def test_a_server_is_not_told_what_a_profile_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An option that no server knows ends both trees alike, which looks as if upstream did not run here."""
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
            server._serve(scenario, "upstream", tmp_path, cast(Setting, setting), Ledger("server"))
        arguments = started[-1].command[3:]
        assert not any(ARCHITECTURE in word for word in arguments)
