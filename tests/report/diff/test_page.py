"""The page of a comparison in a real browser, where filters filter and links lead to upstream, and
the comment that is cut.
"""

from pathlib import Path

import pytest

from shrinker.report.diff.pages import markdown, page
from shrinker.report.diff.values import Identified, Reason, Review, Row, TextChange
from tests.browser import ask

ONE, TWO, OWN = "python/sglang/srt/one.py", "python/sglang/lang/two.py", "NOTICE"
ROWS = "".join(f"-old_{n}\n+new_{n}\n" for n in range(200))
REASON = Reason("reach", "sglang.srt.one now reaches it", ("root:a --import--> module:b  x.py:3",))
UPSTREAM = Reason("upstream", "upstream changed the file (#12)")
SIDE = Identified("a", "release:1", "", "deepseek", "0" * 64, "0.1.0", 1, 1, "v1")
REPOSITORY = "https://example.org/sglang"

ASKS = Path(__file__).with_name("page.js").read_text("utf-8")


@pytest.mark.parametrize("width", [1400, 500])
def test_what_a_reviewer_does(tmp_path: Path, width: int) -> None:
    tables = {
        "kept": (Row(TWO, "added", "", "1", TWO, reason=REASON),),
        "symbols_kept": (
            Row("sglang.srt.one.new_9", "added", "function", "", ONE, 10, 7, REASON, ("#12",)),
        ),
        "changed": (
            Row(
                ONE, "changed", "", "+200 -200", ONE, reason=UPSTREAM, commits=("#12", "0123456789")
            ),
            Row(
                OWN,
                "changed",
                "",
                "+1 -1",
                OWN,
                reason=Reason("shrinker", "shrinker writes this file itself"),
            ),
        ),
        "decisions": (
            Row("is_npu()", "added", "", "false by npu", ONE, upstream=3, reason=UPSTREAM),
        ),
        "commits": (Row("#12", "commit", "A subject", "1"),),
        "risks": (
            Row(
                "eval(x)",
                "evaluates a text",
                "",
                "f",
                TWO,
                1,
                reason=Reason("reach", "the file is new"),
            ),
        ),
    }
    found = Review(
        SIDE,
        SIDE,
        tables=tables,
        text=(
            TextChange(OWN, f"--- a/{OWN}\n+++ b/{OWN}\n@@ -1 +1 @@\n-a\n+b\n"),
            TextChange(TWO, f"--- /dev/null\n+++ b/{TWO}\n@@ -0,0 +1 @@\n+eval(x)\n"),
            TextChange(ONE, f"--- a/{ONE}\n+++ b/{ONE}\n@@ -1,200 +1,200 @@\n{ROWS}"),
        ),
    )
    seen = ask(page(found, REPOSITORY), tmp_path / "page", width, ASKS)
    assert seen["wrong"] == []
    assert "Changed files2" in seen["contents"] and seen["contents"][-1] == "Unified diff by file3"
    assert seen["folded"] == 0
    assert seen["first"] == [
        "Files newly kept",
        "Symbols newly kept, in files that stay",
        "New risks",
    ]
    assert seen["all"] == [7, [OWN, TWO, ONE]]
    assert seen["folder"][1] == [TWO] and seen["folder"][2] == "Files newly kept1"
    assert seen["fate"][1] == [TWO] and seen["cause"][1] == [TWO, ONE] and seen["risk"][1] == [TWO]
    assert seen["word"] == [0, [ONE], "Files newly kept0 of 1"]
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
        tables={
            "kept": tuple(Row(f"python/kept{n}.py", "added", reason=reason) for n in range(rows)),
            "changed": tuple(
                Row(f"python/file{n}.py", "changed", reason=UPSTREAM) for n in range(rows + 1)
            ),
        },
        text=tuple(
            TextChange(f"python/file{n}.py", f"--- a\n+++ b\n+{n} " + "y" * 300 + "\n")
            for n in range(400)
        ),
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
        tables={
            "kept": (Row(name, "added", path=name, reason=reason),),
            "risks": (Row(name, name, name, name, name, reason=Reason("reach", name)),),
        },
        text=(TextChange(name, f"+{name}\n```\n"),),
    )
    assert "alert" not in page(found)
    text = markdown(found)
    outside = [line for line in text.split("\n") if not line.startswith("+")]
    assert not any("<script>" in line.replace("`` </td><script>", "") for line in outside)
    assert "````diff\n" in text
