"""What holds for the repository as a whole: imports lead in one direction, pages say what they are made of."""

import graphlib
import json

import grimp
import pytest

from benchmarks.readme import README, SUMMARY, updated
from tools.rules_page import PAGE, page


@pytest.mark.parametrize("package", ["shrinker", "equivalence", "tools"])
def test_files_import_each_other_in_one_direction(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(imports).prepare()


def test_figures_are_those_of_the_report() -> None:
    text = README.read_text("utf-8")
    assert updated(text, json.loads(SUMMARY.read_text("utf-8"))) == text


def test_a_commit_that_no_release_equals_is_named_by_its_hash() -> None:
    summary = json.loads(SUMMARY.read_text("utf-8"))
    summary["upstream"] |= {"version": None, "commit": "0123456789abcdef"}
    assert "For SGLang 0123456789ab, profile" in updated(README.read_text("utf-8"), summary)


def test_the_committed_page_is_that_of_the_models() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tools.rules_page`"


def test_every_key_of_a_kind_is_told() -> None:
    assert "| `only_when_asked` |" in page() and "## `[[reject]]`" in page()
    assert " |  |\n" not in page(), "a key without a docstring"
