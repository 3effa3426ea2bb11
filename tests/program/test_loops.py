"""What loops over spelled out rows import, from sources to what is kept and what is uncertain."""

from __future__ import annotations

from pathlib import Path

from shrinker.facts.build import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.program.build import build_graph
from shrinker.ruleset import Root, Ruleset
from shrinker.values.graph import Graph
from tests.program.kept import WHY, doubts, names
from tests.program.small_tree import write_tree


def folded_graph(folder: Path, sources: dict[str, str]) -> Graph:
    tree = write_tree(folder, sources)
    rules = Ruleset(roots=(Root(id="entry", why=WHY, modules=("sglang.main",)),))
    with FoldEngine(tree, build_environment(tree, rules, jobs=1), jobs=1) as engine:
        return build_graph(tree, rules, engine.fold)[0]


GROUPS = """from importlib import import_module
_GROUPS = ("one", "two")
for _group in _GROUPS:
    import_module(f"{__name__}.{_group}")
"""


def test_a_loop_imports_these_and_no_other(tmp_path: Path) -> None:
    sources = {
        "main.py": "import sglang.ops\n",
        "ops/__init__.py": GROUPS,
        "ops/one.py": "",
        "ops/two/__init__.py": "",
        "ops/three.py": "",
    }
    graph = folded_graph(tmp_path, sources)
    assert names(graph) == {"main.py", "ops/__init__.py", "ops/one.py", "ops/two/__init__.py"}
    assert doubts(graph) == {}


def test_a_loop_over_what_is_not_known_keeps_what_the_strings_beside_it_name(tmp_path: Path) -> None:
    sources = {
        "main.py": "import sglang.ops\n",
        "ops/__init__.py": GROUPS.replace('("one", "two")', '[*print(), "one"]'),
        "ops/one.py": "",
        "ops/two.py": "",
    }
    graph = folded_graph(tmp_path, sources)
    assert names(graph) == {"main.py", "ops/__init__.py", "ops/one.py"}
    assert "ops/one.py" in doubts(graph)
