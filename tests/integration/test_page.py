"""The page of a run in a real browser: it draws, search finds, a find zooms, nothing is logged as
an error.
"""

import json
from pathlib import Path

import pytest

from tests.browser import ask
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

ASKS = Path(__file__).with_name("page.js").read_text("utf-8")


@pytest.mark.parametrize("width", [1400, 500])
def test_search_finds_and_a_find_zooms(newest: Shrunk, tmp_path: Path, width: int) -> None:
    page = (newest.reports / "index.html").read_text("utf-8")
    assert len(page.encode()) < 5_000_000
    words = [
        "Scheduler.is_fully_idle",
        "AscendAttnBackend",
        "remove-npu",
        "attention/triton_backend.py",
    ]
    seen = ask(page, tmp_path / "page", width, ASKS.replace("WORDS", json.dumps(words)))
    assert seen["wrong"] == []
    assert (
        seen["Scheduler.is_fully_idle"][0]
        == "sglang.srt.managers.scheduler.Scheduler.is_fully_idle"
    )
    assert (
        "kept" in seen["Scheduler.is_fully_idle"][1]
        and "sglang.srt.managers.scheduler.Scheduler" in seen["Scheduler.is_fully_idle"][1]
    )
    assert (
        "removed" in seen["AscendAttnBackend"][1] and "remove-npu" in seen["AscendAttnBackend"][1]
    )
    assert "[[remove]]" in seen["remove-npu"][1] and "files with" in seen["remove-npu"][1]
    assert (
        seen["attention/triton_backend.py"][0]
        == "python/sglang/srt/layers/attention/triton_backend.py"
    )
    assert "lines stay" in seen["attention/triton_backend.py"][1]
    assert seen["root"] == "python/sglang/srt/layers/attention"
    assert seen["none"] == "0 found" and seen["rows"] > 500
    assert seen["wide"] <= 0, "the page is wider than its window"
