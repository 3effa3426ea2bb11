"""The figures of the README are those of the committed report."""

from __future__ import annotations

import json

from benchmarks.readme import README, SUMMARY, updated


def test_figures_are_those_of_the_report() -> None:
    text = README.read_text("utf-8")
    assert updated(text, json.loads(SUMMARY.read_text("utf-8"))) == text


def test_a_commit_that_no_release_equals_is_named_by_its_hash() -> None:
    summary = json.loads(SUMMARY.read_text("utf-8"))
    summary["upstream"] |= {"version": None, "commit": "0123456789abcdef"}
    assert "For SGLang 0123456789ab, profile" in updated(README.read_text("utf-8"), summary)
