"""The page of a run in a real browser: it draws, search finds, a find zooms, nothing is logged as an error."""

import json
from pathlib import Path

import pytest

from tests.browser import ask
from tests.integration.shrunk import Shrunk

pytestmark = pytest.mark.network

ASKS = """
function ask(word) {
  search.value = word;
  search.dispatchEvent(new Event("input"));
  const first = found.querySelector("button");
  first.click();
  return [first.textContent, told.textContent.replace(/\\s+/g, " ")];
}
const search = document.getElementById("search"), found = document.getElementById("found"), told = document.getElementById("told");
for (const word of WORDS) seen[word] = ask(word);
const root = () => chart.getModel().getSeriesByIndex(0).getViewRoot().getId();
seen.root = root();
search.value = "no such name";
search.dispatchEvent(new Event("input"));
seen.none = found.textContent;
document.querySelectorAll("details").forEach((one) => { one.open = true; one.dispatchEvent(new Event("toggle")); });
seen.rows = document.querySelectorAll("tbody tr").length;
for (const by of ["reason", "language", "share"]) {
  document.getElementById("colour").value = by;
  document.getElementById("colour").dispatchEvent(new Event("change"));
}
"""


@pytest.mark.parametrize("width", [1400, 500])
def test_search_finds_and_a_find_zooms(newest: Shrunk, tmp_path: Path, width: int) -> None:
    page = (newest.reports / "index.html").read_text("utf-8")
    assert len(page.encode()) < 5_000_000
    words = ["Scheduler.is_fully_idle", "AscendAttnBackend", "remove-npu", "attention/triton_backend.py"]
    seen = ask(page, tmp_path / "page", width, ASKS.replace("WORDS", json.dumps(words)))
    assert seen["wrong"] == []
    assert seen["Scheduler.is_fully_idle"][0] == "sglang.srt.managers.scheduler.Scheduler.is_fully_idle"
    assert (
        "kept" in seen["Scheduler.is_fully_idle"][1]
        and "sglang.srt.managers.scheduler.Scheduler" in seen["Scheduler.is_fully_idle"][1]
    )
    assert "removed" in seen["AscendAttnBackend"][1] and "remove-npu" in seen["AscendAttnBackend"][1]
    assert "[[remove]]" in seen["remove-npu"][1] and "files with" in seen["remove-npu"][1]
    assert seen["attention/triton_backend.py"][0] == "python/sglang/srt/layers/attention/triton_backend.py"
    assert "lines stay" in seen["attention/triton_backend.py"][1]
    assert seen["root"] == "python/sglang/srt/layers/attention"
    assert seen["none"] == "0 found" and seen["rows"] > 500
    assert seen["wide"] <= 0, "the page is wider than its window"
