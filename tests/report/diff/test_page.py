"""The page of a comparison in a real browser, where filters filter and links lead to upstream, and the comment that is cut."""

from pathlib import Path

import pytest

from shrinker.report.diff.pages import markdown, page
from shrinker.report.diff.values import (
    Change,
    CommitNote,
    FileChange,
    FileMove,
    Identified,
    Reason,
    Review,
    SymbolMove,
    TextChange,
)
from tests.browser import ask

ONE, TWO, OWN = "python/sglang/srt/one.py", "python/sglang/lang/two.py", "NOTICE"
ROWS = "".join(f"-old_{n}\n+new_{n}\n" for n in range(200))
REASON = Reason("reach", "sglang.srt.one now reaches it", ("root:a --import--> module:b  x.py:3",))
SIDE = Identified("a", "release:1", "", "deepseek", "0" * 64, "0.1.0", 1, 1, "v1")
REPOSITORY = "https://example.org/sglang"

ASKS = """
await ready;
const $$ = (query) => [...document.querySelectorAll(query)];
const rows = () => { $$("#sections details").forEach((one) => { one.open = true; one.dispatchEvent(new Event("toggle")); }); return $$("#sections tbody tr").length; };
const choose = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event("input")); };
const files = () => $$("#files > details").map((one) => one.id);
seen.contents = $$("#contents a").map((one) => one.textContent);
seen.folded = $$(".hunks").length;
seen.first = $$("#sections > details[open] h2").map((one) => one.textContent);
seen.all = [rows(), files()];
for (const [id, value] of [["folder", "python/sglang/lang"], ["fate", "added"], ["cause", "reach"], ["risk", "evaluates a text"], ["word", "old_77"]]) {
  choose(id, value);
  seen[id] = [rows(), files(), $$("#contents a")[0].textContent];
  choose(id, "");
}
rows();
seen.links = $$("#sections a").map((one) => one.getAttribute("href"));
location.hash = $$("#sections a").find((one) => one.textContent === "hunk" && one.hash.includes(":+")).hash;
await new Promise((done) => addEventListener("hashchange", () => setTimeout(done)));
const here = document.querySelector(".here");
seen.here = [here.textContent, here.closest("details").id, here.closest("details").open];
seen.narrow = $$("td").filter((one) => one.clientWidth < 40).length;
"""


@pytest.mark.parametrize("width", [1400, 500])
def test_what_a_reviewer_does(tmp_path: Path, width: int) -> None:
    changed = FileChange(ONE, 200, 200, True, commits=("#12", "0123456789"))
    found = Review(
        SIDE,
        SIDE,
        kept=(FileMove(TWO, 1, REASON),),
        symbols_kept=(SymbolMove("sglang.srt.one.new_9", "function", ONE, 7, REASON, 0, 10, ("#12",)),),
        changed=(changed, FileChange(OWN, 1, 1, None, "shrinker writes this file itself")),
        decisions=(Change("is_npu()", "added", "", "false by npu", f"{ONE}:3", "upstream changed the file (#12)"),),
        commits=(CommitNote("0123456789abcdef", "#12", "A subject", 1),),
        risks=(Change("eval(x)", "evaluates a text", "", "f", f"{TWO}:1", "the file is new in the tree"),),
        text=(
            TextChange(OWN, f"--- a/{OWN}\n+++ b/{OWN}\n@@ -1 +1 @@\n-a\n+b\n"),
            TextChange(TWO, f"--- /dev/null\n+++ b/{TWO}\n@@ -0,0 +1 @@\n+eval(x)\n"),
            TextChange(ONE, f"--- a/{ONE}\n+++ b/{ONE}\n@@ -1,200 +1,200 @@\n{ROWS}"),
        ),
    )
    seen = ask(page(found, REPOSITORY), tmp_path / "page", width, ASKS)
    assert seen["wrong"] == []
    assert "Files that shrinker writes1" in seen["contents"] and seen["contents"][-1] == "Unified diff by file3"
    assert seen["folded"] == 0
    assert seen["first"] == ["Kept or removed for another reason than a change of upstream", "New risks"]
    assert seen["all"] == [9, [OWN, TWO, ONE]]
    assert seen["folder"][1] == [TWO] and seen["folder"][2].endswith("1 of 2")
    assert seen["fate"][1] == [TWO] and seen["cause"][1] == [TWO, ONE] and seen["risk"][1] == [TWO]
    assert seen["word"] == [0, [ONE], "Kept or removed for another reason than a change of upstream0 of 2"]
    links = {
        f"{REPOSITORY}/pull/12",
        f"{REPOSITORY}/commit/0123456789",
        f"{REPOSITORY}/blob/v1/{ONE}#L7",
        f"#{ONE}:+10",
    }
    assert links <= set(seen["links"])
    assert seen["here"] == ["+new_9", ONE, True]
    assert seen["wide"] <= 0 and seen["narrow"] == 0


@pytest.mark.parametrize("limit", [4_000, 20_000, 65_536])
@pytest.mark.parametrize("rows", [0, 3, 500])
def test_a_comment_never_passes_the_limit_and_says_what_was_cut(limit: int, rows: int) -> None:
    reason = Reason("reach", "x" * 200, ("root --a--> b",) * 5)
    found = Review(
        SIDE,
        SIDE,
        kept=tuple(FileMove(f"python/kept{n}.py", 3, reason) for n in range(rows)),
        changed=tuple(FileChange(f"python/file{n}.py", 1, 1, True) for n in range(rows + 1)),
        text=tuple(TextChange(f"python/file{n}.py", f"--- a\n+++ b\n+{n} " + "y" * 300 + "\n") for n in range(400)),
    )
    text = markdown(found, limit)
    assert len(text) <= limit
    assert "cut" in text.lower()
    whole = markdown(found, 0)
    assert "cut" not in whole.lower() and whole.count("+++ b") == 400
    assert text.count("\n```") % 2 == 0 or "Cut here" in text


def test_nothing_of_upstream_becomes_markup() -> None:
    name = "</td><script>alert(1)</script>|`x`"
    reason = Reason("upstream", name, (name,))
    found = Review(
        SIDE,
        SIDE,
        kept=(FileMove(name, 1, reason),),
        risks=(Change(name, name, name, name, name, name),),
        text=(TextChange(name, f"+{name}\n```\n"),),
    )
    assert "alert" not in page(found)
    text = markdown(found)
    outside = [line for line in text.split("\n") if not line.startswith("+")]
    assert not any("<script>" in line.replace("`` </td><script>", "") for line in outside)
    assert "````diff\n" in text
