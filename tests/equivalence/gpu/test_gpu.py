"""The level on GPUs, with trees whose servers need none."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from equivalence.checkpoints.weights import weights
from equivalence.gpu import schedule, throughput
from equivalence.gpu.__main__ import main
from equivalence.gpu.cells import CELLS, Cell, Environment, Plan, Tree
from equivalence.gpu.checkpoint import CHECKPOINTS
from equivalence.gpu.observe import launches
from equivalence.gpu.schedule import run
from equivalence.gpu.verdict import document, lines, page, passed
from equivalence.serving import record
from tests.equivalence.gpu.fake_tree import write_tree
from tests.small import write

CELL = Cell("one", "v3-bf16", "--attention-backend triton", features=frozenset(), tokens=2)


def plan(
    folder: Path,
    *cells: Cell,
    at_once: int = 1,
    seconds: float = 120,
    retry: bool = False,
    **generated,
) -> Plan:
    if not (folder / "up").exists():
        write_tree(folder / "up")
        write_tree(folder / "gen", **generated)
    trees = (Tree("upstream", folder / "up"), Tree("generated", folder / "gen"))
    return Plan(
        trees,
        Environment(),
        folder / "checkpoints",
        folder / "out",
        cells or (CELL,),
        seconds=seconds,
        at_once=at_once,
        stagger=0.1,
        retry=retry,
        progress=lambda _: None,
    )


def test_equal_trees_are_the_same_and_what_was_recorded_is_judged_whichever_trees_stand_there(
    tmp_path,
):
    asked = plan(tmp_path, at_once=2)
    (row,) = run(asked)
    assert row["result"] == "same"
    assert row["class"] == "DeepseekV3ForCausalLM"
    assert (row["kernels"], row["kernel_names"]) == ("same", 2)
    assert row["own_differences"] == 0 and row["requests"]["identical"] > 30 and row["tokens"] > 5
    assert len(row["ready_seconds"]) == len(row["peak_host_bytes"]) == 2
    assert passed([row])
    assert json.loads(json.dumps(row)) == row
    (asked.trees[1].root / "sglang/launch_server.py").write_text("another tree")
    assert run(replace(asked, recorded=True)) == [row]
    (row,) = run(replace(asked, seconds=0.0))
    assert row["result"] == "not run"


def test_another_kernel_is_a_difference(tmp_path):
    (row,) = run(plan(tmp_path, kernels=("mla", "other")))
    assert row["result"] == "differs"
    assert (row["kernels_only_upstream"], row["kernels_only_generated"]) == (["moe"], ["other"])


def test_a_tree_that_does_not_start_is_told_and_run_again_when_asked_or_changed(tmp_path):
    (row,) = run(plan(tmp_path, fails=True))
    assert row["result"] == "fails in generated" and not passed([row])
    assert row["generated_error"]["errors"] == ["ImportError: cannot import name 'gone'"]
    assert "cannot import name 'gone'" in lines([row])[0]
    written = [tmp_path / f"out/logs/one.{name}.log" for name in ("upstream", "generated")]
    for log in written:
        log.write_text("untouched")
    (row,) = run(plan(tmp_path))
    assert [log.read_text() for log in written] == ["untouched"] * 2 and row[
        "result"
    ] == "fails in generated"
    run(plan(tmp_path, retry=True))
    assert "gone" in written[1].read_text()
    write_tree(tmp_path / "fixed")
    (tmp_path / "gen").rename(tmp_path / "old")
    (tmp_path / "fixed").rename(tmp_path / "gen")
    (row,) = run(plan(tmp_path))
    assert written[0].read_text() == "untouched" and row["result"] == "same"


def test_no_time_is_no_result(tmp_path):
    (row,) = run(plan(tmp_path, seconds=1))
    assert row["result"] == "not run"
    assert not passed([row]), "nothing ran: nothing was shown"


@pytest.mark.parametrize(("seconds", "kept"), [(3, False), (120, True)])
def test_a_server_that_the_end_of_all_time_cuts_off_says_nothing(
    tmp_path, monkeypatch, seconds, kept
):
    monkeypatch.setattr(schedule, "_SMALLEST", 0.0)
    monkeypatch.setattr(
        schedule, "observe", lambda *_: {"error": "what was asked last has no answer"}
    )
    run(replace(plan(tmp_path, seconds=seconds), cell_seconds=3))
    assert (tmp_path / "out/seen").exists() is kept, "its own limit says that it hangs"


def test_servers_are_loaded_in_pairs_beside_a_copy_of_upstream(tmp_path, monkeypatch):
    monkeypatch.setattr(throughput, "ROUNDS", 2)
    monkeypatch.setattr(throughput, "BLOCKS", 4)
    monkeypatch.setattr(throughput, "PART", 0.05)
    (row,) = run(plan(tmp_path, Cell("speed", "v3-bf16", kind="serving"), seconds=600, pause=0.003))
    assert row["result"] == "measured", row
    assert [
        next(name for name in pair if name not in ("place", "upstream")) for pair in row["pairs"]
    ] == (["generated"] * 3 + ["control"] * 3) * 2
    assert len({pair["place"] for pair in row["pairs"]}) == 2, "each tree is first once"
    found = row["measured"]["next_token_seconds@sixteen"]
    assert (
        found["generated"]["ratio"] > 1.2 * found["control"]["ratio"]
        and found["generated"]["pairs"] == 4
    )
    assert row["measured"]["ready_seconds"]["generated"]["low"] is None, "too few for an interval"
    assert "speed" in page(document([row], {}), "t")


def test_benchmarks_are_run_by_turns(tmp_path, monkeypatch):
    monkeypatch.setattr(throughput, "BLOCKS", 10)
    (row,) = run(plan(tmp_path, Cell("speed", "v3-bf16", kind="offline"), throughput=9.0))
    found = row["measured"]["last_throughput"]
    assert found["generated"]["ratio"] == 0.9 and found["control"]["ratio"] == 1.0
    assert [found[name]["pairs"] for name in ("generated", "control")] == [5, 5], (
        "behind two runs of each that fill caches"
    )
    assert found["finding"] and not passed([row]), (
        "a tenth slower in every pair, and the copy is not"
    )
    assert "**finding**" in page(document([row], {}), "t")


def test_imports_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(throughput, "BLOCKS", 2)
    (row,) = run(plan(tmp_path, Cell("import", "v3-bf16", kind="import")))
    assert (
        row["result"] == "measured" and row["measured"]["own_modules"]["generated"]["ratio"] == 1.0
    )
    assert row["measured"]["seconds"]["control"]["pairs"] == 2, (
        "four pairs at once, after four that warm up"
    )
    assert row["how"] == "8 at once, no GPU"


def test_a_benchmark_that_measures_several_times_gives_a_pair_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(throughput, "BLOCKS", 2)
    (row,) = run(plan(tmp_path, Cell("batch", "v3-bf16", kind="one_batch")))
    found = row["measured"]["median_decode_throughput@batch8"]
    assert found["generated"]["pairs"] == found["control"]["pairs"] == 4, (
        "one block each; its first row warms up"
    )


def test_a_cell_may_ask_some_requests_often(tmp_path):
    (row,) = run(plan(tmp_path, Cell("long", "v3-bf16", only=("prompt_long",), passes=3)))
    assert row["requests"] == {"identical": 1} and row["runs"] == [6, 6]


def test_nodes_share_the_gpus_and_join_one_address(tmp_path):
    cell = Cell("nodes", "v3-bf16", gpus=2, nodes=2)
    starts = launches(
        cell, Tree("upstream", tmp_path), plan(tmp_path), 21000, tmp_path / "x.log", [4, 5], 60
    )
    assert [start.environment["CUDA_VISIBLE_DEVICES"] for start in starts] == ["4", "5"]
    joined = [start.command[start.command.index("--dist-init-addr") + 1] for start in starts]
    assert joined[0] == joined[1]
    assert [start.command[start.command.index("--node-rank") + 1] for start in starts] == ["0", "1"]


def test_choices_of_two_logs_differ_where_the_choice_does():
    said = (
        "[2026-01-01 00:00:0{} TP0] {} is the attention backend of /x/{}/sglang/a.py, took 1.{}5 s"
    )
    first, second = (record.choices(said.format(i, "triton", i, i)) for i in (1, 2))
    assert first == second and "TP0" in first[0]
    assert record.choices(said.format(1, "flashinfer", 1, 1)) != first
    assert record.errors("x\nTypeError: a\n[now] ValueError: b\nno Error here") == [
        "TypeError: a",
        "ValueError: b",
    ]


def test_what_is_said_behind_a_progress_bar_is_a_choice_too():
    said = "[2026-01-01 00:00:00 TP1] MoE runner: triton"
    bar = "Loading:   0% Completed | 0/1 [00:00<?, ?it/s]"
    assert (
        record.choices(f"{bar}{said}\n")
        == record.choices(f"{said}\n")
        == ["TP1 MoE runner: triton"]
    )
    assert record.choices(f"{bar}\n") == []


def test_another_token_is_a_difference_and_a_doubt_asks_for_one_more_server(tmp_path):
    told: list[str] = []
    asked = replace(plan(tmp_path, at_once=3, token=8), progress=told.append)
    (row,) = run(asked)
    assert row["result"] == "differs" and not passed([row])
    assert row["servers"] == [3, 3], "a third of each, since the second did not settle it"
    first = row["differences"][0]["first"][0]
    assert (first["path"], first["left"], first["right"]) == (
        "body.meta_info.output_token_logprobs[0][1]",
        "7",
        "8",
    )
    text = page(document([row], {"date": "d", "gpus": ["a GPU"], "cores": 1}), "Title")
    assert "body.meta_info.output_token_logprobs[0][1]: `7` / `8`" in text
    lines_ = [line.split("] ")[1] for line in told]
    ready = next(i for i, line in enumerate(lines_) if line.startswith("one.upstream: ready"))
    assert all("one.upstream:" in line for line in lines_[:ready]), (
        "nobody else starts before the caches are warm"
    )
    assert [
        json.loads((tmp_path / f"out/seen/one.{name}.json").read_text())["warms"]
        for name in ("upstream", "generated")
    ] == [True, False]


def test_shapes_are_deepseeks():
    for name, config in CHECKPOINTS.items():
        found = list(weights(config))
        names = {weight.name for weight in found}
        assert len(names) == len(found), name
        assert all(size > 0 for weight in found for size in weight.shape)
    v3 = {weight.name: weight.shape for weight in weights(CHECKPOINTS["v3-bf16"])}
    assert v3["model.layers.3.self_attn.kv_a_proj_with_mqa.weight"] == (576, 1024)
    assert v3["model.layers.4.eh_proj.weight"] == (1024, 2048), (
        "the next-token layer comes after the last"
    )
    assert "model.layers.0.mlp.experts.0.up_proj.weight" not in v3, "the first layer is dense"
    v32 = {weight.name: weight.shape for weight in weights(CHECKPOINTS["v32-bf16"])}
    assert v32["model.layers.0.self_attn.indexer.wq_b.weight"] == (64 * 128, 512)
    lite = {weight.name for weight in weights(CHECKPOINTS["v2-lite"])}
    assert "model.layers.0.self_attn.q_proj.weight" in lite and not any(
        "correction" in name for name in lite
    )


def test_cells_name_checkpoints_that_can_be_made():
    assert {cell.checkpoint for cell in CELLS.values()} <= CHECKPOINTS.keys()
    assert all(cell.gpus % cell.nodes == 0 for cell in CELLS.values())


@pytest.mark.parametrize(("upstream", "generated", "code"), [(0.1, 0.0, 0), (0.0, 0.1, 1)])
def test_the_command_writes_page_and_document_and_fails_where_the_generated_tree_is_slower(
    tmp_path, capsys, upstream, generated, code
):
    write_tree(tmp_path / "up", imports_for=upstream)
    write_tree(tmp_path / "gen", imports_for=generated)
    given = [
        "--upstream",
        tmp_path / "up",
        "--generated",
        tmp_path / "gen",
        "--checkpoints",
        tmp_path,
    ]
    assert main([*map(str, given), "--out", str(tmp_path / "out"), "--cell", "import"]) == code
    assert "measured" in capsys.readouterr().out
    found = json.loads((tmp_path / "out/gpu.json").read_text())
    assert found["results"] == {"measured": 1} and found["hardware"]["versions"]["python"]
    assert (tmp_path / "out/gpu.md").read_text().startswith("# Evidence on GPUs")
    assert main([*map(str, given), "--out", str(tmp_path), "--cell", "nothing"]) == 2


@pytest.mark.parametrize(
    "module",
    ["equivalence.gpu.__main__", "equivalence.gpu.checkpoint", "equivalence.serving.script"],
)
def test_the_level_needs_the_standard_library_only(module):
    code = f"import sys, {module}; print(sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert (
        set(eval(done.stdout)) - {"equivalence", "__main__", "__mp_main__"}
        <= sys.stdlib_module_names
    )


def test_roles_are_servers_apart_with_a_router_before_them(tmp_path):
    cell = Cell(
        "pd", "v3-bf16", gpus=2, roles=("--role a", "--role b"), environment={"KEEP": "{own}/x"}
    )
    starts = launches(
        cell, Tree("upstream", tmp_path), plan(tmp_path), 21000, tmp_path / "x.log", [4, 5], 60
    )
    assert [start.environment.get("CUDA_VISIBLE_DEVICES") for start in starts] == ["4", "5", None]
    assert [start.command[-3] for start in starts[:2]] == ["a", "b"]
    ports = [start.command[start.command.index("--port") + 1] for start in starts]
    assert ports[2] == "21000" and len(set(ports)) == 3
    drawn = [int(start.command[start.command.index("--nccl-port") + 1]) for start in starts[:2]]
    assert drawn == [int(port) + 20 for port in ports[:2]], (
        "no server draws one that another may take"
    )
    assert all(f"http://127.0.0.1:{port}" in starts[2].command for port in ports[:2])
    assert starts[0].environment["KEEP"] == f"{tmp_path / 'x'}/x"


def test_what_a_cell_lacks_is_told(tmp_path):
    (row,) = run(plan(tmp_path, replace(CELL, gpus=4, needs=("no_such_module", "json"))))
    assert (row["result"], row["lacks"]) == ("not run", "takes 4 GPUs, no_such_module")
    assert "one (takes 4 GPUs, no_such_module)" in page(document([row], {"date": "d"}), "Title")


def test_a_server_is_asked_as_often_as_the_plan_says(tmp_path):
    (row,) = run(replace(plan(tmp_path), servers=1, passes=3))
    assert (row["servers"], row["runs"]) == ([1, 1], [3, 3])


def test_a_trees_servers_stand_on_all_gpus_in_turn(tmp_path):
    run(replace(plan(tmp_path), gpus=(0, 1), counts={"one": 2}))
    found = [
        json.loads((tmp_path / f"out/seen/one.{name}.json").read_text())["gpus"]
        for name in ("upstream", "upstream.2", "generated", "generated.2")
    ]
    assert found == [[1], [0], [0], [1]]


def test_an_observation_is_of_one_tree_with_its_kernels(tmp_path: Path) -> None:
    write(tmp_path, {"sglang/a.py": "", "sglang/k.cuh": "int a;\n"})
    tree = Tree("generated", tmp_path)
    named, whole = tree.digest(), tree.digest("*")
    write(tmp_path, {"sglang/__pycache__/a.pyc": "1"})
    assert (tree.digest(), tree.digest("*")) == (named, whole)
    write(tmp_path, {"sglang/k.cuh": "int b;\n"})
    assert tree.digest() == named and tree.digest("*") != whole
