"""What is bound to a model's shapes, from lines of logs and names of kernels."""

from typing import Any

import pytest

from equivalence.gpu.checkpoint import CHECKPOINTS
from equivalence.gpu.shapes import compare_tables, find_tables, group_kernels, widths
from equivalence.gpu.verdict import judge_cell

FOLDER = "/a tree/configs/sglang/srt/layers/quantization/configs"


@pytest.mark.parametrize(
    ("line", "loaded", "missing"),
    [
        ("Using MoE kernel config from /x/configs/triton_3_6_0/E=1,N=2,block_shape=[128, 128].json.",
         ["triton_3_6_0/E=1,N=2,block_shape=[128, 128].json"], []),
        ("Using configuration from /x/configs/N=1536,K=7168.json for W8A8 Block FP8 kernel.",
         ["N=1536,K=7168.json"], []),
        ("Using default W8A8 Block FP8 kernel config. Performance might be sub-optimal! "
         "Config file not found at /x/configs/N=2112,K=7168.json", [], ["N=2112,K=7168.json"]),
        ("Config file not found at /x/configs/triton_3_6_0/E=1.json. Fallback to triton version 3.4.0 "
         "and use MoE kernel config from /x/configs/triton_3_4_0/E=1.json. Performance might be",
         ["triton_3_4_0/E=1.json"], ["triton_3_6_0/E=1.json"]),
        ("Using triton as attention backend", [], []),
    ],
)  # fmt: skip
def test_tables_that_a_log_names(line: str, loaded: list[str], missing: list[str]) -> None:
    log = f"[2026-01-01 00:00:00 TP0] {line}\n[2026-01-01 00:00:01 TP0] {line}\n"
    assert find_tables(log) == {"loaded": loaded, "missing": missing}


def seen(*tables: str) -> dict[str, Any]:
    return {"tables": {"loaded": list(tables), "missing": []}}


def test_a_table_that_one_server_did_not_ask_for_is_no_difference() -> None:
    found = compare_tables([seen("a", "b"), seen("a")], [seen("a")])
    assert found == {"both": ["loaded a"], "only_upstream": [], "only_generated": []}
    assert compare_tables([seen("a")], [seen("b")])["only_upstream"] == ["loaded a"]
    assert compare_tables([seen("a")], [{}]) == {}, "seen before tables were written down"


def test_kernels_are_bound_by_their_family_or_by_a_width_in_their_name() -> None:
    sizes = widths(CHECKPOINTS["r1-wide"])
    assert {7168, 2 * 18432, 24576} <= sizes and not {128, 256, 512} & sizes
    kernels = ["x<7168, 1>", "x<71680>", "x<512u>", "fused_moe_kernel", "y<(int)24576ul>", "x7168"]
    assert group_kernels(kernels, sizes) == {
        "experts": ["fused_moe_kernel"],
        "names a width of the model": ["x<7168, 1>", "y<(int)24576ul>"],
    }


def test_a_batch_that_is_cut_otherwise_leaves_the_cell_open_at_most() -> None:
    def server(*batch: str) -> dict[str, Any]:
        answer = {"status": 200, "content_type": "", "body": {}, "error": "", "seconds": 0.0}
        return {
            "passes": [{"ask": answer}],
            "classes": [],
            "settings": {},
            "choices": [],
            "kernels": {"k": 1},
            "batch_kernels": dict.fromkeys(batch, 1),
        }

    assert judge_cell([server("a"), server("b")], [server("b")])["result"] == "same"
    row = judge_cell([server("a", "b")], [server("b")])
    assert (row["result"], row["batch_kernels_only_upstream"]) == ("open", ["a"])
