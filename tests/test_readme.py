"""The figures of the README are those of the committed report."""

from __future__ import annotations

import json

from benchmarks.readme import README, SUMMARY, updated


def test_figures_are_those_of_the_report() -> None:
    text = README.read_text("utf-8")
    assert updated(text, json.loads(SUMMARY.read_text("utf-8"))) == text
