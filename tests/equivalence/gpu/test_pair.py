"""Cells at true widths: both trees in one start, with servers that need no GPU."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from equivalence.gpu import pair, throughput
from equivalence.gpu.cells import CELLS, Cell, Environment, Plan, Setting, Tree
from equivalence.gpu.checkpoint import WIDE
from equivalence.gpu.schedule import run
from equivalence.gpu.turns import Broken, blocks
from equivalence.gpu.verdict import document, lines, page, passed
from tests.equivalence.gpu.fake_tree import write_tree
from tests.small import write

CELL = Cell(
    "wide",
    "r1-rank8",
    kind="paired",
    features=frozenset(),
    tokens=2,
    servers=2,
    rounds=3,
)
KERNELS = ("void deep_gemm::sm90_gemm<7168u, 2048u>(int)", "nvjet_64x8", "void own<2304>")
TABLE = "Using MoE kernel config from /x/sglang/configs/triton_3_6_0/E=257,N=256.json."


@pytest.fixture(autouse=True)
def few_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "PART", 0.02)


def plan(folder: Path, *cells: Cell, **generated: Any) -> Plan:
    common: dict[str, Any] = {"kernels": KERNELS, "says": (TABLE,)}
    write_tree(folder / "up", **common)
    write_tree(folder / "gen", **{**common, **generated})
    write(folder / "checkpoints/r1-rank8", {"config.json": "{}"})
    trees = (Tree("upstream", folder / "up"), Tree("generated", folder / "gen"))
    places = folder / "checkpoints", folder / "out"
    return Plan(
        trees,
        Environment(),
        *places,
        cells or (CELL,),
        seconds=1200,
        progress=lambda _: None,
    )


def test_answers_and_times_come_from_one_start_of_each_server(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    (row,) = run(asked)
    assert row["result"] == "same" and passed([row])
    assert (row["servers"], row["runs"], row["blocks"]) == ([2, 2], [4, 4], [2, 2])
    assert len(list((tmp_path / "out/logs").glob("wide.[12].*ed.log"))) == 2, "a start a block"
    rate = row["measured"]["tokens_per_second@64"]["generated"]
    assert (rate["pairs"], rate["blocks"]) == (6, 2), "three rounds of each, without the first"
    assert rate["low"] is None and rate["own_low"] is not None, "one block in each place"
    assert row["measured"]["ready_seconds"]["generated"]["pairs"] == 1, "the first one compiles"
    for client in ("upstream", "generated"):
        found = row["measured"][f"{client}'s bench_serving, output_throughput@16"]["generated"]
        assert (found["pairs"], found["ratio"]) == (3, 1.0)
    assert row["how"] == "one GPU for both, one after the other"
    assert "tokens_per_second@1 " in lines([row])[0]
    assert run(replace(asked, recorded=True)) == [row]
    assert run(asked) == [row], "what is there is not run again"


def test_the_page_names_kernels_and_tables_that_both_trees_loaded(tmp_path: Path) -> None:
    (row,) = run(replace(plan(tmp_path, replace(CELL, rounds=1)), counts={"wide": 1}))
    assert row["kernels"] == row["batch_kernels"] == "same"
    families = {"DeepGEMM": [KERNELS[0]], "names a width of the model": [KERNELS[2]]}
    assert row["bound_kernels"] == families, "the third is no kernel of a shape"
    text = page(document([row], {}), "t")
    assert "- table loaded: `triton_3_6_0/E=257,N=256.json`" in text
    assert "- DeepGEMM:\n  - `void deep_gemm::sm90_gemm<7168u, 2048u>(int)`\n" in text
    assert "- wide: one GPU for both, one after the other; 1 of 1 pairs of servers\n" in text
    assert "\n| wide | tokens_per_second@16 |" in text


@pytest.mark.parametrize(
    ("generated", "told"),
    [
        ({"says": ()}, "- table only upstream: `loaded triton_3_6_0/E=257,N=256.json`"),
        ({"kernels": KERNELS[1:]}, "- kernels only upstream: `void deep_gemm::sm90_gemm<7168u"),
    ],
)
def test_a_table_or_kernel_of_one_tree_alone_is_a_difference(
    tmp_path: Path, generated: dict[str, Any], told: str
) -> None:
    (row,) = run(replace(plan(tmp_path, replace(CELL, rounds=1), **generated), counts={"wide": 1}))
    assert row["result"] == "differs" and not passed([row])
    assert told in page(document([row], {}), "t")


def test_a_tree_that_does_not_start_is_told_and_the_other_one_is_asked(tmp_path: Path) -> None:
    (row,) = run(replace(plan(tmp_path, fails=True), counts={"wide": 1}))
    assert row["result"] == "fails in generated" and row["measured"] == {}
    assert row["generated_error"]["errors"] == ["ImportError: cannot import name 'gone'"]


def test_a_client_that_fails_is_told_and_says_nothing_of_either_tree(tmp_path: Path) -> None:
    asked = replace(plan(tmp_path, replace(CELL, rounds=1)), counts={"wide": 1})
    (tmp_path / "up/sglang/bench_serving.py").write_text("import no_such_module")
    (row,) = run(asked)
    assert row["result"] == "same" and row["clients"][0]["of"] == "upstream"
    text = page(document([row], {}), "t")
    assert "upstream's `bench_serving` fails: `ModuleNotFoundError" in text


def test_a_server_that_does_not_bear_its_load_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: Setting, tree: Tree, *__: Any) -> dict[str, float]:
        if tree.name == "generated":
            raise Broken("generated", "error: 64: status 500")
        return {"tokens_per_second": 1.0}

    monkeypatch.setattr(throughput, "_load", refuse)
    (row,) = run(replace(plan(tmp_path), counts={"wide": 1}))
    assert row["result"] == "fails in generated"
    assert "generated: under load: `error: 64: status 500`" in page(document([row], {}), "t")


def test_servers_with_gpus_of_their_own_change_places_and_are_loaded_at_once(
    tmp_path: Path,
) -> None:
    (row,) = run(replace(plan(tmp_path, replace(CELL, rounds=1)), gpus=(3, 5)))
    assert row["how"] == "a GPU each"
    assert {each["place"] for each in row["pairs"]} == {"True/3", "False/3"}


def test_each_trees_client_has_both_places_in_four_blocks(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    turn = blocks(Setting(CELL, asked, (0,), 0.0), asked.trees[0], [asked.trees[1]])
    found = [(each.place, pair.choose_client(each).name) for each in islice(turn, 4)]
    assert len(set(found)) == 4


def test_without_its_checkpoint_a_cell_is_not_run(tmp_path: Path) -> None:
    asked = plan(tmp_path)
    (tmp_path / "checkpoints/r1-rank8/config.json").unlink()
    (row,) = run(asked)
    assert (row["result"], row["lacks"]) == ("not run", "takes the checkpoint r1-rank8")


def test_cells_at_true_widths_fix_servers_and_rounds_beforehand() -> None:
    cells = [cell for cell in CELLS.values() if cell.kind == "paired"]
    assert {cell.checkpoint for cell in cells} == set(WIDE)
    assert all(cell.servers >= 2 and cell.rounds >= 8 for cell in cells)
    assert all(cell.kind == "paired" for cell in CELLS.values() if cell.checkpoint in WIDE)
    assert CELLS["r1-wide"].server_arguments().count("--tool-call-parser") == 1
