"""Kernels that must be reached from a definition, and what rules that remove left."""

import json
from pathlib import Path

import pytest

from shrinker.pipeline import Run, analyse
from shrinker.program.reached import Reached, reached, taken
from shrinker.program.saved import graph_data
from shrinker.program.symbols.why import Symbols, load_symbols
from shrinker.ruleset.models import Reach, Remove
from shrinker.values.errors import InputError
from tests.fold.programs import make_tree
from tests.program.symbols.support import small_rules
from tests.small import Silent, read_archive

WHY = "A rule of a test."
Made = tuple[Path, Symbols, dict[str, object]]
FILES = read_archive(Path(__file__).with_name("reached.txtar"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The generated tree (upstream's own files will do: only names are read of it), its search and
    its graph.
    """
    folder = tmp_path_factory.mktemp("reached")
    tree = make_tree(folder / "upstream", FILES)
    decided = analyse(Run(tree, small_rules(folder), 1, Silent()))
    (folder / "symbols.json").write_text(json.dumps(decided.symbols))
    (folder / "symbol_edges.json").write_text(json.dumps(decided.symbol_edges))
    found = load_symbols(folder / "symbols.json")
    assert found is not None
    return folder / "upstream", found, graph_data(decided.graph, decided.folded)


def _ask(made: Made, *names: str) -> list[Reached]:
    rule = Reach(id="reach", why=WHY, start="sglang.model.Model", names=names)
    return reached(made[0], made[1], [rule])


def test_an_imported_name_and_an_attribute_of_a_library_are_reached(made: Made) -> None:
    imported, read = _ask(made, "norm", "decode")
    assert [step.dst.rpartition("model.")[2] for step in imported.steps] == [
        "Base",
        "Base.forward",
        "norm",
    ]
    assert [step.dst.rpartition("model.")[2] for step in read.steps] == ["Base", "Base.run"]
    assert [step.kind for step in read.steps] == ["name", "member"]


def test_what_only_others_reach_is_not(made: Made) -> None:
    # One is live and reached from elsewhere; the others are not live, or not there.
    moved, gone, none = _ask(made, "moved", "gone_kernel", "no_such_kernel")
    assert (moved.places, moved.steps) == (1, ())
    assert [(row.places, row.steps) for row in (gone, none)] == [(0, ())] * 2


def test_a_start_that_is_not_there(made: Made) -> None:
    with pytest.raises(InputError, match="is not in the generated tree"):
        reached(
            made[0],
            made[1],
            [Reach(id="reach", why=WHY, start="sglang.model.Gone", names=("norm",))],
        )


def test_a_module_that_a_rule_removes_and_that_stays_is_told(made: Made) -> None:
    rule = Remove(id="remove", why=WHY, feature="what is apart", modules=("sglang.apart",))
    [row] = taken(made[2], [rule])
    assert (row.removed, row.rescued, row.left) == (0, (), ("python/sglang/apart.py",))
    rescued = {
        **made[2],
        "uncertain": [
            ["python/sglang/apart.py", 0, "rule remove would remove it, but `x` is used at y:1"]
        ],
    }
    [row] = taken(rescued, [rule])
    assert (row.rescued, row.left) == (("python/sglang/apart.py",), ())
    [row] = taken(made[2], [rule.model_copy(update={"unless": ("sglang.apart",)})])
    assert row.left == ()
