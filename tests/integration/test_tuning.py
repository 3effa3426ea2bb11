"""Tuning tables: what a kernel asks for on an NVIDIA card, for any DeepSeek model under any split,
it finds as upstream finds it.

Which shapes are asked comes from the models here, not from the rule that spares tables; the
function that looks them up is each tree's own.
"""

import itertools
import json
import subprocess
from pathlib import Path

import pytest

from equivalence.simulation.environment import simulation
from shrinker.source.cache import default_folder
from tests.integration.shrunk import Shrunk
from tests.simulations import simulation_python

pytestmark = pytest.mark.network

ROUTED_AND_WIDTH = ((64, 1408), (160, 1536), (256, 2048))
"""Of V2-Lite; V2; V3, R1 and V3.2."""
TABLES = "sglang/srt/layers/moe/moe_runner/triton_utils/configs"
PROJECTIONS = "sglang/kernels/ops/gemm/configs"

ASK = """
import functools, hashlib, itertools, json, logging, os, sys, types
import sglang.srt.layers.moe.moe_runner.triton_utils.fused_moe_triton_config as tables
import sglang.kernels.ops.gemm.fp8_kernel as blocks
logging.disable(logging.CRITICAL)
# Nothing changes there meanwhile.
os.listdir, os.path.exists, os.path.realpath = map(functools.cache, (os.listdir, os.path.exists, os.path.realpath))
# No server has published its configuration here.
flags = types.SimpleNamespace(enable_deterministic_inference=False)
assert callable(tables.get_exec)
tables.get_exec = lambda: types.SimpleNamespace(deterministic=flags)
asked, found = json.load(sys.stdin), {}
def note(name, table):
    if table is not None:
        found[name] = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()
for card in asked["cards"]:
    tables.get_device_name = blocks.get_device_name = lambda: card
    tables.get_moe_configs.cache_clear()
    blocks.get_w8a8_block_fp8_configs.cache_clear()
    blocks.get_w8a8_channelwise_fp8_configs.cache_clear()
    for (experts, width), kind, block, channel, down in itertools.product(asked["shapes"], *asked["others"]):
        note(f"{card} E={experts} N={width} {kind} {block} {channel} {down}", tables.get_moe_configs(experts, width, kind, block, block, channel, down))
    for width, depth in asked["projections"]:
        note(f"{card} N={width} K={depth}", blocks.get_w8a8_block_fp8_configs(width, depth, 128, 128))
        by_channel = blocks.get_w8a8_channelwise_fp8_configs(width, depth)
        note(f"{card} N={width} K={depth} by channel", by_channel)
print(json.dumps(found))
"""


def _written(folder: Path) -> set[tuple[str, ...]]:
    """Experts, width and card of upstream's tables, as their names say them: what no table names
    neither tree finds.
    """
    names = (path.name.removesuffix(".json").split(",")[:3] for path in folder.rglob("E=*.json"))
    return {tuple(part.partition("=")[2] for part in parts) for parts in names}


def _shapes(routed: int, width: int) -> set[tuple[int, int]]:
    """Experts of one rank and their width, with redundant and shared ones, for any number
    of ranks.
    """
    experts = {
        -(-(routed + redundant) // ranks) + shared
        for redundant in range(129)
        for ranks in (1, 2, 4, 8, 16, 32, 64, 72, 96, 128, 144, 160, 256, 320)
        for shared in range(9)
    }
    return set(itertools.product(experts, (width // ranks for ranks in (1, 2, 4, 8, 16, 32, 64))))


def _questions(upstream: Path) -> dict[str, object]:
    folder = upstream / TABLES
    shapes = {shape for routed, width in ROUTED_AND_WIDTH for shape in _shapes(routed, width)}
    cards = {
        card
        for _, _, card in _written(folder)
        if card.startswith("NVIDIA") and not card.endswith("_down")
    }
    written = {(int(experts), int(width)) for experts, width, _ in _written(folder)}
    linear = [path.name.split(",") for path in (upstream / PROJECTIONS).glob("N=*.json")]
    projections = {tuple(int(part.partition("=")[2]) for part in parts[:2]) for parts in linear}
    cards |= {parts[2].partition("=")[2] for parts in linear if "=NVIDIA" in parts[2]}
    lists = {
        "cards": sorted(cards),
        "shapes": sorted(shapes & written),
        "projections": sorted(projections),
    }
    return lists | {
        "others": [
            [None, "fp8_w8a8", "int8_w8a8", "int8_w8a16"],
            [0, 128],
            [False, True],
            [False, True],
        ]
    }


def _found(python: Path, variables: dict[str, str], questions: dict[str, object]) -> dict[str, str]:
    asked, command = json.dumps(questions), [str(python), "-c", ASK]
    done = subprocess.run(
        command,
        env=variables,
        input=asked,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_every_table_that_a_deepseek_model_asks_for_is_found(newest: Shrunk) -> None:
    simulation_python()
    made = simulation(newest.upstream.declared.dependencies, compiled=default_folder() / "compiled")
    questions = _questions(newest.trees[0])
    upstream, generated = (
        _found(made.python, dict(made.variables(tree)), questions) for tree in newest.trees
    )
    assert generated == upstream
    # Of all kinds some are found, on a card that has only the second, too; of each model those of
    # its own experts.
    assert {"NVIDIA_H200", "NVIDIA_B200"} <= {name.partition(" ")[0] for name in upstream}
    linear = {name.partition(" ")[0] for name in upstream if " K=" in name}
    assert {"NVIDIA_H200", "NVIDIA_L40"} <= linear
    assert any(name.endswith(" by channel") for name in upstream)
    assert all(any(f" E={routed} " in name for name in upstream) for routed, _ in ROUTED_AND_WIDTH)
