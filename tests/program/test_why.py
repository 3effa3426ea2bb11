"""`why` and `why-not` answer from the saved graph."""

import json
from pathlib import Path

import pytest

from shrinker.program.answers import SavedRun, why, why_not
from shrinker.program.saved import FORMAT, graph_data, load_report
from shrinker.program.written import written_imports
from shrinker.report.dependencies import removed_importers
from shrinker.ruleset import Remove
from shrinker.values.errors import InputError
from shrinker.values.graph import Site
from tests.program.small_tree import WHY, build, rules_of, write_tree

SOURCES = {
    "__init__.py": "",
    "main.py": "import sglang.b\nimport sglang.long",
    "long.py": "import sglang.deep.c, sglang.x.same, sglang.y.same",
    "x/same.py": "",
    "y/same.py": "",
    "b.py": "import torch\nfrom sgl_kernel import rmsnorm\nimport sglang.deep.c\nX = 'table.json'",
    "deep/c.py": "def fused_thing(): ...",
    "deep/__init__.py": "",
    "table.json": "{}",
    "npu/a.py": "from . import b",
    "npu/b.py": "",
    "lost.py": "",
    "loser.py": "def f():\n    from sglang import (\n        lost,\n    )",
}


@pytest.fixture
def run(tmp_path: Path) -> SavedRun:
    tree = write_tree(tmp_path, SOURCES)
    npu = Remove(id="npu", why=WHY, feature="NPU", modules=("sglang.npu",))
    graph, folded = build(tree, rules_of(removes=(npu,)))
    saved = tmp_path / "graph.json"
    saved.write_text(
        json.dumps(
            graph_data(
                graph, folded, importers=removed_importers(graph, folded, written_imports(tree))
            )
        )
    )
    return SavedRun(saved)


def steps(run: SavedRun, query: str) -> list[str]:
    chains = why(run, query)
    assert len(chains) == 1
    return [
        f"{step.kind} {step.dst} {step.path.removeprefix('python/sglang/')}:{step.line}"
        for step in chains[0].steps
    ]


C = [
    "root module:sglang.main :0",
    "import module:sglang.b main.py:1",
    "import module:sglang.deep.c b.py:3",
]


@pytest.mark.parametrize(
    "query",
    [
        "sglang.deep.c",
        "python/sglang/deep/c.py",
        "sglang/deep/c.py",
        "deep/c.py",
        "c.py",
        "c",
        "fused_thing",
        "module:sglang.deep.c",
    ],
)
def test_forms_of_a_query(run: SavedRun, query: str) -> None:
    assert steps(run, query) == C


@pytest.mark.parametrize("query", ["rmsnorm", "sgl_kernel.rmsnorm", "kernel:sgl_kernel.rmsnorm"])
def test_kernel(run: SavedRun, query: str) -> None:
    assert steps(run, query)[-1] == "kernel kernel:sgl_kernel.rmsnorm b.py:2"


def test_external_and_file(run: SavedRun) -> None:
    assert steps(run, "torch")[-1] == "external external:torch b.py:1"
    assert steps(run, "table.json")[-1] == "data data:python/sglang/table.json b.py:4"


def test_several_files_of_one_name(run: SavedRun) -> None:
    with pytest.raises(InputError, match="2 kept files are named 'same"):
        why(run, "same.py")


def test_unknown_name_gets_the_nearest(run: SavedRun) -> None:
    with pytest.raises(InputError, match=r"did you mean sglang\.deep"):
        why(run, "sglang.deap.c")
    with pytest.raises(InputError, match="neither the tree nor upstream has"):
        why_not(run, "zzz")


def test_each_question_points_to_the_other(run: SavedRun) -> None:
    with pytest.raises(InputError) as kept:
        why_not(run, "sglang.deep.c")
    assert kept.value.next_step == "ask `shrinker why sglang.deep.c`"
    with pytest.raises(InputError) as gone:
        why(run, "sglang.npu.a")
    assert gone.value.next_step == "ask `shrinker why-not sglang.npu.a`"


def test_removed_by_a_rule(run: SavedRun) -> None:
    found = why_not(run, "npu")
    assert [(item.path, item.rule) for item in found] == [
        ("python/sglang/npu/a.py", "npu"),
        ("python/sglang/npu/b.py", "npu"),
    ]
    assert found[1].named_by == (Site("python/sglang/npu/a.py", 1, "itself removed (npu)"),)


def test_unreachable_names_its_importers(run: SavedRun) -> None:
    (found,) = why_not(run, "sglang.lost")
    assert (found.rule, found.reason) == ("unreachable", "no kept module imports or names it")
    assert found.named_by == (Site("python/sglang/loser.py", 2, "itself removed (unreachable)"),)


def test_not_a_graph(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text("[]")
    for name in ("graph.json", "absent.json"):
        with pytest.raises(InputError):
            load_report(tmp_path / name, FORMAT)
