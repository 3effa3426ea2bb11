"""Roots, removals, walks, keeps and assets."""

from __future__ import annotations

from pathlib import Path

from shrinker.program.build import build_graph, missing_roots
from shrinker.ruleset import Remove, Root, Ruleset, Walk
from shrinker.values.folded import LeakedUse
from tests.program.kept import WHY, doubts, graph_of, names
from tests.program.small_tree import plain_fold, write_tree

REGISTRY = {
    "main.py": 'from sglang.registry import load\nload("sglang.models")',
    "registry.py": "import importlib, pkgutil\ndef load(p):\n    for m in pkgutil.iter_modules(importlib.import_module(p)): ...",
    "models/__init__.py": "",
    "models/deepseek.py": "",
    "models/llama.py": "",
    "models/sub/x.py": "",
}


def test_a_walk_with_a_rule_finds_what_it_says(tmp_path: Path) -> None:
    rule = Walk(id="w", why=WHY, package="sglang.models", keep=("deepseek*", "absent"))
    graph = graph_of(tmp_path, REGISTRY, walks=(rule,))
    assert names(graph) == {"main.py", "registry.py", "models/__init__.py", "models/deepseek.py"}
    assert graph.kept["python/sglang/models/deepseek.py"] == "walk from module:sglang.main at python/sglang/main.py:2"
    assert "models/deepseek.py" not in doubts(graph)


def test_a_walk_with_an_empty_rule_finds_nothing(tmp_path: Path) -> None:
    rule = Walk(id="w", why=WHY, package="sglang.models")
    assert "models/deepseek.py" not in names(graph_of(tmp_path, REGISTRY, walks=(rule,)))


def test_a_walk_without_a_rule_keeps_one_level_and_says_so(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, REGISTRY)
    assert names(graph) == set(REGISTRY) - {"models/sub/x.py"}
    assert "no [[walk]] rule" in doubts(graph)["models/llama.py"]


def test_walk_packages_goes_down(tmp_path: Path) -> None:
    sources = {**REGISTRY, "registry.py": REGISTRY["registry.py"].replace("iter_modules", "walk_packages")}
    assert names(graph_of(tmp_path, sources)) == set(sources)


def test_missing_roots(tmp_path: Path) -> None:
    rules = Ruleset(roots=(Root(id="entry", why=WHY, modules=("sglang.main", "sglang.gone", "sglang.gone.*")),))
    assert missing_roots(write_tree(tmp_path, {"main.py": ""}), rules) == (
        ("entry", "sglang.gone"),
        ("entry", "sglang.gone.*"),
    )


def test_rescued_module_stays_with_its_packages(tmp_path: Path) -> None:
    sources = {"main.py": "import sglang.npu.a", "npu/__init__.py": "", "npu/a.py": "", "npu/b.py": ""}
    tree = write_tree(tmp_path, sources)
    rules = Ruleset(
        roots=(Root(id="entry", why=WHY, modules=("sglang.main",)),),
        removes=(Remove(id="npu", why=WHY, feature="NPU", modules=("sglang.npu",)),),
    )
    use = LeakedUse(module="sglang.npu.a", name="sglang.npu.a.f", line=7, rule="npu")
    rescued = {"sglang.npu.a": ("python/sglang/main.py", use)}
    graph, _ = build_graph(tree, rules, plain_fold(tree), rescued=rescued)
    assert names(graph) == {"main.py", "npu/__init__.py", "npu/a.py"}
    assert (
        doubts(graph)["npu/a.py"] == "rule npu would remove it, but `sglang.npu.a.f` is used at python/sglang/main.py:7"
    )
