"""What is written and shown."""

from __future__ import annotations

import io
import json

from rich.console import Console

from benchmarks.results import markdown, results_table, verdict_lines, write_results
from tests.benchmarks.measured import THREE_RUNS, record, results


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
    assert verdict_lines(results(THREE_RUNS))[0] == ("budget: wall time, at most 25 s; measured 24.00 s; kept: yes")
