"""What a profile refuses is not run: options by the interface's rows."""

from __future__ import annotations

import pytest

from equivalence.levels import Expected
from equivalence.levels.scenarios import RUNS

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
