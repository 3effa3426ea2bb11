"""Data files, native sources and their includes; what must not be an edge comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.kept import edge_kinds, graph_of, names

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
