"""Roots, removals, walks, keeps and assets."""

from __future__ import annotations

from pathlib import Path

from shrinker.program.build import build_graph, missing_roots
from shrinker.ruleset import Asset, Keep, Remove, Root, Ruleset, Walk
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


def test_removed_is_never_kept(tmp_path: Path) -> None:
    sources = {
        "main.py": 'import sglang.npu.a\nX = "sglang.npu.b"\nY = "t.json"\nimport sglang.npu.stays',
        "npu/a.py": "",
        "npu/b.py": "",
        "npu/t.json": "",
        "npu/stays.py": "",
    }
    rule = Remove(id="npu", why=WHY, feature="NPU", modules=("sglang.npu",), unless=("sglang.npu.stays",))
    graph = graph_of(tmp_path, sources, removes=(rule,))
    assert names(graph) == {"main.py", "npu/stays.py"}
    assert {path.rpartition("/")[2] for path, r in graph.removed.items() if r.rule == "npu"} == {
        "a.py",
        "b.py",
        "t.json",
    }
    assert doubts(graph) == {"main.py": "imports removed module sglang.npu.a (import; rule npu)"}


def test_pattern_of_files_below_a_package_spares_its_data(tmp_path: Path) -> None:
    sources = {"main.py": 'X = "table.json"', "models/a.py": "", "models/table.json": ""}
    rule = Remove(id="models", why=WHY, feature="models", modules=("sglang.models.*",))
    assert names(graph_of(tmp_path, sources, removes=(rule,))) == {"main.py", "models/table.json"}


def test_first_rule_takes_the_file(tmp_path: Path) -> None:
    one = Remove(id="one", why=WHY, feature="one", paths=("docs/**",))
    two = Remove(id="two", why=WHY, feature="two", paths=("docs",))
    graph = graph_of(tmp_path, {"main.py": "", "/docs/x/a.md": "", "/other/b.md": ""}, removes=(one, two))
    assert graph.removed["docs/x/a.md"].rule == "one"
    assert graph.removed["other/b.md"].reason.startswith("out of scope")


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


def test_paths_outside_the_package(tmp_path: Path) -> None:
    sources = {"main.py": "", "/sgl-kernel/a/b.cu": "", "/sgl-kernel/hip/c.cu": "", "/docs/x.md": "", "/LICENSE": ""}
    root = Root(id="kernels", why=WHY, paths=("sgl-kernel",))
    keep = Keep(id="licence", why=WHY, paths=("LICENSE",))
    remove = Remove(id="hip", why=WHY, feature="HIP", paths=("sgl-kernel/hip",))
    graph = graph_of(tmp_path, sources, more_roots=(root,), keeps=(keep,), removes=(remove,))
    assert names(graph) == {"main.py", "sgl-kernel/a/b.cu", "LICENSE"}
    assert graph.kept["LICENSE"] == "keep from root:licence"


def test_keep_patterns(tmp_path: Path) -> None:
    keep = Keep(id="calls", why=WHY, modules=("sglang.calls.**",))
    sources = {"main.py": "", "calls/a.py": "", "calls/deep/b.py": "", "callsite.py": ""}
    assert names(graph_of(tmp_path, sources, keeps=(keep,))) == {"main.py", "calls/a.py", "calls/deep/b.py"}


def test_asset_goes_with_its_module(tmp_path: Path) -> None:
    asset = Asset(id="tables", why=WHY, paths=("python/sglang/t",), needed_by=("sglang.user",))
    sources = {"main.py": "", "user.py": "", "t/a.bin": "", "t/plugin.py": "import sglang.more", "more.py": ""}
    assert names(graph_of(tmp_path / "1", sources, assets=(asset,))) == {"main.py"}
    assert names(graph_of(tmp_path / "2", {**sources, "main.py": "import sglang.user"}, assets=(asset,))) == set(
        sources
    )


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
