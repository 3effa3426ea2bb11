"""Imports, packages, data files, native sources and strings that name them; what must not be an
edge comes first.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from shrinker.facts.environment import build_environment
from shrinker.fold.engine import FoldEngine
from shrinker.program.reach import FileGraph
from shrinker.values.folded import FoldedModule
from tests.program.small_tree import (
    build,
    edge_kinds,
    graph_of,
    names,
    outcome,
    read_programs,
    rules_of,
    write_tree,
)

PROGRAMS = read_programs()

NOT_EDGES = {
    "a bare word": 'x = "other"',
    "a logger of the package": 'x = "sglang"',
    "a metric": 'x = "sglang:num_other"',
    "an external module of the same name": "import other",
    "a deeper name than a class and its method": 'x = "sglang.other.a.b.c"',
    "prose": 'x = "see sglang.other for more"',
    "a pattern that says nothing": 'x = f"sglang.{y}"',
    "a docstring": '"""sglang.other"""',
    "a script of another folder": 'x = "a/tool.py"',
    "an absent module": "import sglang.absent",
}

EDGES = {
    "import": ("import sglang.other", "import"),
    "from package": ("from sglang import other", "import"),
    "relative": ("from . import other", "import"),
    "a name of it": ("from sglang.other import thing", "import"),
    "star": ("from sglang.other import *", "import"),
    "local": ("def f():\n    import sglang.other", "import-local"),
    "for types": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sglang.other",
        "import-type",
    ),
    "its dotted name": ('x = "sglang.other"', "string"),
    "a definition in it": ('x = "sglang.other.Thing"', "string"),
    "a method in it": ('x = "sglang.other.Thing.method"', "string"),
    "an entry point": ('x = "sglang.other:thing"', "string"),
    "import_module": ('import importlib\nimportlib.import_module("sglang.other")', "string"),
    "import_module, relative": (
        'import importlib\nimportlib.import_module(".other", __package__)',
        "string",
    ),
    "import_module, pattern": (
        'import importlib\nimportlib.import_module(f"sglang.oth{x}")',
        "string",
    ),
    "import_module, end": ('import importlib\nimportlib.import_module(f"{p}.other")', "string"),
    "a computed import beside its name": (
        'import importlib\nN = ["other"]\nimportlib.import_module(N[0])',
        "string",
    ),
    "a command line": ('x = "run python3 -m sglang.other --help"', "string"),
    "a script": ('x = f"{here}/other.py"', "string"),
}


@pytest.mark.parametrize("source", NOT_EDGES.values(), ids=NOT_EDGES)
def test_not_an_edge(tmp_path: Path, source: str) -> None:
    graph = graph_of(
        tmp_path, {"__init__.py": "", "main.py": source, "other.py": "", "deep/tool.py": ""}
    )
    assert names(graph) == {"__init__.py", "main.py"}
    assert graph.removed["python/sglang/other.py"].rule == "unreachable"


@pytest.mark.parametrize(("source", "kind"), EDGES.values(), ids=EDGES)
def test_edge(tmp_path: Path, source: str, kind: str) -> None:
    graph = graph_of(
        tmp_path, {"__init__.py": "", "main.py": source, "other.py": "class Thing: ..."}
    )
    assert names(graph) == {"__init__.py", "main.py", "other.py"}
    assert kind in edge_kinds(graph, "module:sglang.other")


@pytest.mark.parametrize("title", PROGRAMS)
def test_what_is_kept_of_a_program(tmp_path: Path, title: str) -> None:
    found, wanted = outcome(tmp_path, PROGRAMS[title])
    assert found == wanted


def test_a_package_around_what_is_imported_has_an_edge_of_its_own(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, {"main.py": "import sglang.a.b", "a/__init__.py": "", "a/b.py": ""})
    assert "package" in edge_kinds(graph, "module:sglang.a")


def test_external_and_kernels(tmp_path: Path) -> None:
    main = (
        "import os, torch.nn\nfrom sgl_kernel import rmsnorm\nfrom flashinfer.norm import "
        "*\nimport deep_gemm\nimport distutils"
    )
    graph = graph_of(tmp_path, {"main.py": main})
    assert {edge.dst for edge in graph.edges if edge.kind in ("external", "kernel")} == {
        "external:deep_gemm",
        "external:flashinfer",
        "external:sgl_kernel",
        "external:torch",
        "kernel:deep_gemm",
        "kernel:flashinfer.norm",
        "kernel:sgl_kernel.rmsnorm",
    }


def test_order_of_folding_makes_no_difference(tmp_path: Path) -> None:
    sources = {
        "main.py": "import sglang.b, sglang.a",
        "a.py": "import sglang.c",
        "b.py": "import sglang.c",
        "c.py": "",
    }
    tree = write_tree(tmp_path, sources)
    rules = rules_of()
    waves: list[int] = []

    with FoldEngine(tree, build_environment(tree, rules, jobs=1), jobs=1) as engine:

        def backwards(paths: Sequence[str]) -> Iterable[FoldedModule]:
            waves.append(len(paths))
            return reversed(list(engine.fold(paths)))

        assert build(tree, rules) == FileGraph(tree, rules).build(backwards)
    assert waves == [1, 2, 1]


CUDA = "python/sglang/k/csrc/moe/gate.cuh"

NOT_NAMED = {
    "only the stem": 'x = "gate"',
    "a suffix": 'x = ".cuh"',
    "a pattern without letters": 'x = f"{a}_{b}.cuh"',
    "an address": 'x = "https://example.org/csrc/moe/gate.cuh"',
    "a message": 'x = "cannot find gate.cuh"',
}

NAMED = {
    "base name": 'x = "gate.cuh"',
    "tail": 'x = "moe/gate.cuh"',
    "after a computed folder": 'x = f"{here}/gate.cuh"',
    "pattern": 'x = f"moe/gat{suffix}.cuh"',
    "template": 'x = "moe/gat{}.cuh".format(y)',
    "percent": 'x = "moe/gat%s.cuh" % y',
    "its folder": 'x = "csrc"',
    "inline source": 'x = "#include <moe/gate.cuh>"',
}


@pytest.mark.parametrize("source", NOT_NAMED.values(), ids=NOT_NAMED)
def test_not_named(tmp_path: Path, source: str) -> None:
    graph = graph_of(tmp_path, {"k/main.py": source, "k/csrc/moe/gate.cuh": ""}, "sglang.k.main")
    assert names(graph) == {"k/main.py"}


@pytest.mark.parametrize("source", NAMED.values(), ids=NAMED)
def test_named(tmp_path: Path, source: str) -> None:
    graph = graph_of(tmp_path, {"k/main.py": source, "k/csrc/moe/gate.cuh": ""}, "sglang.k.main")
    assert names(graph) == {"k/main.py", "k/csrc/moe/gate.cuh"}
    assert edge_kinds(graph, f"native:{CUDA}") <= {"data", "include"}
