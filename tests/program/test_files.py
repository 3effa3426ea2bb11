"""Data files, native sources and their includes; what must not be an edge comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.kept import doubts, edge_kinds, graph_of, names

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
    graph = graph_of(tmp_path, {"k/main.py": source, "k/csrc/moe/gate.cuh": ""}, ("sglang.k.main",))
    assert names(graph) == {"k/main.py"}


@pytest.mark.parametrize("source", NAMED.values(), ids=NAMED)
def test_named(tmp_path: Path, source: str) -> None:
    graph = graph_of(tmp_path, {"k/main.py": source, "k/csrc/moe/gate.cuh": ""}, ("sglang.k.main",))
    assert names(graph) == {"k/main.py", "k/csrc/moe/gate.cuh"}
    assert edge_kinds(graph, f"native:{CUDA}") <= {"data", "include"}


def test_nearest_package_is_preferred(tmp_path: Path) -> None:
    sources = {"a/main.py": 'x = "t.json"', "a/t.json": "", "b/t.json": ""}
    assert names(graph_of(tmp_path, sources, ("sglang.a.main",))) == {"a/main.py", "a/t.json"}


def test_file_of_another_package_is_uncertain(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path, {"a/main.py": 'x = "config.json"', "b/config.json": "", "b/README.md": ""}, ("sglang.a.main",)
    )
    assert "another package" in doubts(graph)["b/config.json"]


def test_document_named_by_chance_goes(tmp_path: Path) -> None:
    assert names(graph_of(tmp_path, {"a/main.py": 'x = "README.md"', "b/README.md": ""}, ("sglang.a.main",))) == {
        "a/main.py"
    }


def test_tuning_tables(tmp_path: Path) -> None:
    main = 'def f(): return f"E={E},N={N},device_name={d}{x}{y}.json"\nx = "configs"'
    sources = {
        "moe/main.py": main,
        "moe/configs/triton_3/E=8,N=1,device_name=H100,block_shape=[1, 2].json": "",
        "moe/configs/other.json": "",
    }
    graph = graph_of(tmp_path, sources, ("sglang.moe.main",))
    # The folder is named too, but the pattern says more finely what is read from it.
    assert names(graph) == set(sources) - {"moe/configs/other.json"}
    assert not doubts(graph)


def test_folder_without_finer_names(tmp_path: Path) -> None:
    sources = {
        "k/main.py": 'x = "templates"',
        "k/templates/a.jinja": "",
        "k/templates/README.md": "",
        "k/more/b.jinja": "",
    }
    graph = graph_of(tmp_path, sources, ("sglang.k.main",))
    assert names(graph) == {"k/main.py", "k/templates/a.jinja"}
    assert "only its folder" in doubts(graph)["k/templates/a.jinja"]


def test_globbed_folder(tmp_path: Path) -> None:
    main = 'x = "templates"\ny = "*.jinja"\nz = "templates/a.jinja"'
    sources = {"k/main.py": main, "k/templates/a.jinja": "", "k/templates/b.jinja": "", "k/templates/c.txt": ""}
    assert names(graph_of(tmp_path, sources, ("sglang.k.main",))) == set(sources) - {"k/templates/c.txt"}


def test_includes_are_followed(tmp_path: Path) -> None:
    sources = {
        "k/main.py": 'x = "a.cu"',
        "k/csrc/a.cu": '#include "b.h"\n#include <own/c.cuh>\n  #  include <vector>\n// include "e.h"\n',
        "k/csrc/b.h": '#include "../include/own/d.cuh"',
        "k/include/own/c.cuh": "",
        "k/include/own/d.cuh": "",
        "k/csrc/e.h": "",
        "k/other/b.h": "",
    }
    graph = graph_of(tmp_path, sources, ("sglang.k.main",))
    assert names(graph) == set(sources) - {"k/csrc/e.h", "k/other/b.h"}
    assert graph.kept["python/sglang/k/include/own/c.cuh"].endswith("at python/sglang/k/csrc/a.cu:2")


def test_stub_goes_with_its_module(tmp_path: Path) -> None:
    assert names(graph_of(tmp_path, {"main.py": "", "main.pyi": "", "other.pyi": ""})) == {"main.py", "main.pyi"}


def test_bare_word_names_no_folder_of_the_whole_package(tmp_path: Path) -> None:
    sources = {"main.py": 'x = "split"', "split/a.txt": ""}
    assert names(graph_of(tmp_path / "1", sources)) == {"main.py"}
    assert names(graph_of(tmp_path / "2", {**sources, "main.py": 'x = f"{here}/split"'})) == set(sources)
