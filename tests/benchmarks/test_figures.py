"""Figures: spread, ratios run by run, budgets, the costs of imports, and what is written and shown
of them.
"""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.budgets import judge, load_budgets
from benchmarks.figures import Spread, figures_of, parses_of, ratio
from benchmarks.imports import Cost, page, read
from benchmarks.pages import show
from benchmarks.results import markdown, results_table, verdict_lines, write_results
from tests.benchmarks.measured import BUDGETS, MIB, THREE_RUNS, record, results

OURS = [r for r in THREE_RUNS if r.subject == "ours"]
OTHER = [r for r in THREE_RUNS if r.subject == "other"]


def test_spread():
    assert Spread.of([3.0, 1.0, 2.0, 10.0]) == Spread(1.0, 2.5, 10.0)
    with pytest.raises(ValueError, match="no measurements"):
        Spread.of([])


def test_show_three_figures_or_one():
    assert show(Spread(1.0, 2.0, 3.0), 1, 1) == "1.0 / 2.0 / 3.0"
    assert show(Spread(1.0, 1.001, 1.002), 1, 1) == "1.0"
    assert show(Spread(MIB, MIB, 2 * MIB), MIB, 0) == "1 / 1 / 2"
    assert show(None, 1, 1) == "-"


def test_figures_leave_out_runs_with_a_problem():
    figures = figures_of([*OURS, record("ours", 4, 900.0, problem="exit code 1")])
    assert figures and figures.runs == 3
    assert figures.wall_seconds == Spread(20.0, 22.0, 24.0)
    assert figures.phases == {"load": Spread(7.0, 8.0, 9.0)}
    assert figures.memory_bytes.maximum == 101 * MIB
    assert figures.sampler_share == pytest.approx(0.01)
    assert figures_of([record("ours", 1, 1.0, problem="x")]) is None


def test_ratio_pairs_the_same_run():
    paired = ratio(OURS, OTHER)
    assert paired and paired.runs == 3
    # Run 2: 24 / 40. The ratio of the medians would be 2.0 too, that of the extremes would not.
    assert paired.wall == Spread(0.6, 2.0, 2.0)
    assert paired.subject == "other"


def test_ratio_needs_a_pair():
    assert ratio(OURS, [record("slow", 1, 200.0)]).wall == Spread.of([0.1])  # type: ignore[union-attr]
    assert (
        ratio(OURS, [record("slow", 1, 600.0, problem="stopped at its time limit of 600 s")])
        is None
    )
    assert ratio(OURS[1:], [record("slow", 1, 200.0)]) is None
    assert ratio([], []) is None


def test_the_worst_run_is_judged():
    figures = figures_of([record("ours", 1, 20.0), record("ours", 2, 25.1)])
    wall, memory, *_ = judge(BUDGETS, figures, upstream="release:1.0", cores=2)
    assert (wall.met, memory.met) == (False, True)
    assert wall.measured == 25.1
    at_limit = figures_of([record("ours", 1, 25.0, mib=2 * 1024 - 1)])
    wall, memory, *_ = judge(BUDGETS, at_limit, upstream="release:1.0", cores=2)
    assert (wall.met, memory.met) == (True, False), "at most 25 s, but under 2 GiB"


def test_a_warm_run_and_deciding_have_budgets_of_their_own():
    budgets = replace(
        BUDGETS,
        warm_subject="warm",
        warm_seconds=3.0,
        deciding_subject="deciding",
        deciding_parses=3.0,
    )
    deciding = [
        replace(record("deciding", n, 9.0), phases={"deciding": seconds, "ast.parse": 2.0})
        for n, seconds in enumerate([5.0, 6.2, 20.0])
    ]
    parses = parses_of([*deciding, record("deciding", 4, 1.0, problem="exit code 1")])
    assert parses == Spread(2.5, 3.1, 10.0)
    warm = figures_of([record("warm", 1, 2.0), record("warm", 2, 3.0)])
    found = judge(
        budgets, figures_of(OURS), upstream="release:1.0", cores=2, warm=warm, deciding=parses
    )
    assert [v.met for v in found] == [True, True, True, False]
    assert [v.met for v in judge(budgets, figures_of(OURS), upstream="release:1.0", cores=2)] == [
        True,
        True,
        None,
        None,
    ]
    assert parses_of([]) is None


def test_the_commit_of_the_budgets_is_judged_wherever_it_is_fetched_from():
    budgets = replace(BUDGETS, commit="abc")
    for upstream, met in (
        ("git:a/b@abc", True),
        ("git:a/b@abcd", None),
        ("release:1.0", True),
        ("release:abc", None),
    ):
        assert judge(budgets, figures_of(OURS), upstream=upstream, cores=2)[0].met is met


@pytest.mark.parametrize(
    ("upstream", "cores", "says"),
    [
        ("release:1.0.post1", 2, "release:1.0.post1"),
        ("release:1.0", 12, "12 core"),
        ("release:1.0", 1, "1 core"),
    ],
)
def test_other_conditions_are_not_judged(upstream, cores, says):
    for verdict in judge(BUDGETS, figures_of(OURS), upstream=upstream, cores=cores):
        assert verdict.met is None and says in verdict.reason
        assert verdict.measured is not None


def test_nothing_measured_is_not_judged():
    assert {v.met for v in judge(BUDGETS, None, upstream="release:1.0", cores=2)} == {None}


def test_the_budget_file_is_sound():
    budgets = load_budgets()
    assert budgets.subject == "shrinker" and budgets.cores >= 1


PRINTED = Path(__file__).with_name("imports.txt").read_text()


def test_time_is_told_by_package_and_by_who_brings_it() -> None:
    packages, pulled = read(PRINTED)
    assert packages == {"numpy": 10, "torch": 5, "openai": 11, "sglang": 4}
    assert pulled == {
        ("torch", "sglang.srt.utils"): 15,
        ("openai", "sglang.srt.utils"): 7,
        ("openai", "sglang"): 4,
    }


def test_the_page_has_ratios_and_what_is_gone() -> None:
    text = page(
        Cost(
            4.0,
            2_000_000,
            ["sglang", "orjson", "sys", "re"],
            {"sglang": 0.5, "orjson": 0.5},
            {("orjson", "sglang"): 0.5},
        ),
        Cost(2.0, 1_000_000, ["sglang", "sys"], {"sglang": 1.0}, {}),
        Cost(1.0, 1_000_000, ["sys"], {}, {}),
    )
    assert (
        "| 4.0 | 2.0 | 0.50 | 1.0 | 0.25 |" in text
        and "| 4 | 2 | 0.50 | 1 | 0.25 |" in text
        and "does not: orjson." in text
    )


def test_markdown_states_figures_ratios_budgets_and_conditions():
    page = markdown(results(THREE_RUNS))
    for line in (
        "| ours | ours 1 | 3 | 20.00 / 22.00 / 24.00 | 40.00 / 44.00 / 48.00 | 101 |",
        "| slow | slow 1 | 1 | 200.00 | 400.00 | 101 |",
        "| other | 3 | 0.60 / 2.00 / 2.00 | 0.60 / 2.00 / 2.00 | 1.00 |",
        "| slow | 1 | 0.10 | 0.10 | 1.00 |",
        "| wall time, at most | 25.0 s | 24.00 s | yes |",
        "| load | 7.00 / 8.00 / 9.00 |",
        "- slow: what slow does; measured once",
        "- Machine: A processor (x86_64), 2 of 4 core(s) used, 8.0 GiB",
    ):
        assert line in page.splitlines(), page
    assert "release:1.0" in page and "3,456 lines" in page and "2020-01-01" in page
    assert "\n\n\n" not in page and not page.startswith("\n")


def test_markdown_says_what_went_wrong():
    failed = record("slow", 1, 600.0, problem="stopped at its time limit of 600 s")
    page = markdown(results([record("ours", 1, 30.0), failed], {"other": "other is not installed"}))
    assert "| slow | slow 1 | 0 | - | - | - |" in page
    assert "  - run 1: stopped at its time limit of 600 s" in page
    assert "  - other is not installed" in page
    assert "| wall time, at most | 25.0 s | 30.00 s | no |" in page


def test_missed_only_when_judged():
    slow = [record("ours", 1, 30.0)]
    assert results(slow).missed
    assert not results(slow, upstream="release:2.0").missed
    assert not results(THREE_RUNS).missed
    assert not results([]).missed


def test_files(tmp_path):
    data, page = write_results(results(THREE_RUNS), tmp_path)
    document = json.loads(data.read_text("utf-8"))
    assert document["format"] == 1
    assert len(document["records"]) == len(THREE_RUNS)
    assert document["rows"][0]["figures"]["wall_seconds"]["median"] == 22.0
    assert page.read_text("utf-8").startswith("# Benchmarks")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["RESULTS.md", "results.json"]


def test_table():
    console = Console(width=120, record=True, file=io.StringIO())
    for records in ([], THREE_RUNS[:1], THREE_RUNS):
        console.print(results_table(results(records), "run 1 of 3: ours"))
    text = console.export_text()
    assert "20.00 / 22.00 / 24.00" in text and "run 1 of 3: ours" in text
    assert verdict_lines(results(THREE_RUNS))[0] == (
        "budget: wall time, at most 25 s; measured 24.00 s; kept: yes"
    )
