"""Roots, removals, walks and keeps; tables that no kept model looks up."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shrinker.program.edges.modules import missing_roots
from shrinker.program.removals import removed_by_rule
from shrinker.ruleset import Walk, load_profile
from tests.program.small_tree import WHY, doubts, graph_of, names, rules_of, write_tree

REGISTRY = {
    "main.py": 'from sglang.registry import load\nload("sglang.models")',
    "registry.py": (
        "import importlib, pkgutil\ndef load(p):\n"
        "    for m in pkgutil.iter_modules(importlib.import_module(p)): ..."
    ),
    "models/__init__.py": "",
    "models/deepseek.py": "",
    "models/llama.py": "",
    "models/sub/x.py": "",
}


def test_a_walk_with_a_rule_finds_what_it_says(tmp_path: Path) -> None:
    rule = Walk(id="w", why=WHY, package="sglang.models", keep=("deepseek*", "absent"))
    graph = graph_of(tmp_path, REGISTRY, walks=(rule,))
    assert names(graph) == {"main.py", "registry.py", "models/__init__.py", "models/deepseek.py"}
    assert (
        graph.kept["python/sglang/models/deepseek.py"]
        == "walk from module:sglang.main at python/sglang/main.py:2"
    )
    assert "models/deepseek.py" not in doubts(graph)


def test_a_walk_with_an_empty_rule_finds_nothing(tmp_path: Path) -> None:
    rule = Walk(id="w", why=WHY, package="sglang.models")
    assert "models/deepseek.py" not in names(graph_of(tmp_path, REGISTRY, walks=(rule,)))


def test_a_walk_without_a_rule_keeps_one_level_and_says_so(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, REGISTRY)
    assert names(graph) == set(REGISTRY) - {"models/sub/x.py"}
    assert "no [[walk]] rule" in doubts(graph)["models/llama.py"]


def test_walk_packages_goes_down(tmp_path: Path) -> None:
    sources = {
        **REGISTRY,
        "registry.py": REGISTRY["registry.py"].replace("iter_modules", "walk_packages"),
    }
    assert names(graph_of(tmp_path, sources)) == set(sources)


def test_missing_roots(tmp_path: Path) -> None:
    rules = rules_of("sglang.main", "sglang.gone", "sglang.gone.*")
    assert missing_roots(write_tree(tmp_path, {"main.py": ""}), rules) == (
        ("entry", "sglang.gone"),
        ("entry", "sglang.gone.*"),
    )


FOLDER = "python/sglang/srt/layers/moe/fused_moe_triton/configs/triton_3_4_0"
MODELS = {"V2-Lite": (64, 1408, 2), "V2": (160, 1536, 2), "V3, R1 and V3.2": (256, 2048, 1)}


def table(
    experts: int, width: int, card: str = "NVIDIA_H200", kind: str = "fp8_w8a8", blocks: str = ""
) -> str:
    """The file that is asked for, as `get_config_file_name` of upstream spells it."""
    selector = f",dtype={kind}" if kind else ""
    return f"{FOLDER}/E={experts},N={width},device_name={card}{selector}{blocks}.json"


def shapes(routed: int, width: int, shared: int) -> Iterator[tuple[int, int]]:
    for split in (1, 2, 4, 8, 16, 32):
        if width % split:
            continue
        for fused in {0, shared}:
            # Tensor parallelism: all experts, a part of each; the shared ones fused as one more, or
            # not.
            yield routed + bool(fused), width // split
            yield routed + fused, width // split
        for ranks in (1, 2, 4, 8, 16, 32, 64, 72):
            for redundant in (0, 8, 16, 32, 64):
                if (routed + redundant) % ranks == 0:
                    yield (routed + redundant) // ranks, width // split
                    yield (routed + redundant) // ranks + 1, width // split


@pytest.mark.parametrize("profile", ["deepseek", "deepseek-r1-nvfp4", "deepseek-r1-minimal"])
@pytest.mark.parametrize("model", MODELS)
def test_tables_of_kept_models_stay(profile: str, model: str) -> None:
    cards = ("NVIDIA_H20", "NVIDIA_H100_80GB_HBM3", "NVIDIA_H200", "NVIDIA_B200", "NVIDIA_L40S")
    paths = [table(*shape, card=card) for shape in {*shapes(*MODELS[model])} for card in cards]
    paths += [
        table(*shape, blocks=",block_shape=[128, 128]_down") for shape in {*shapes(*MODELS[model])}
    ]
    paths += [table(*shape, kind="") for shape in {*shapes(*MODELS[model])}]
    assert removed_by_rule(paths, load_profile(profile).removes) == {}


def test_tables_of_other_models_go() -> None:
    others = [table(8, 14336), table(128, 232), table(16, 6400)]
    taken = removed_by_rule(others, load_profile("deepseek").removes)
    assert {path: rule.id for path, rule in taken.items()} == dict.fromkeys(
        others, "remove-tuning-of-other-models"
    )


def test_by_card_and_type() -> None:
    ampere, integer = (
        table(256, 256, card="NVIDIA_A100-SXM4-80GB"),
        table(256, 256, kind="int8_w8a8"),
    )
    assert removed_by_rule([ampere, integer], load_profile("deepseek").removes) == {}
    assert len(removed_by_rule([ampere, integer], load_profile("deepseek-r1-nvfp4").removes)) == 2


def test_what_names_no_shape_stays() -> None:
    paths = [f"{FOLDER}/README.md", f"{FOLDER}/E=x,N=1,device_name=NVIDIA_H200.json"]
    assert removed_by_rule(paths, load_profile("deepseek").removes) == {}
