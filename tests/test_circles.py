"""No file imports one that leads back to it, imports for type checkers counted."""

from __future__ import annotations

import graphlib

import grimp
import pytest


@pytest.mark.parametrize("package", ["shrinker", "equivalence", "tools"])
def test_files_import_each_other_in_one_direction(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(imports).prepare()
