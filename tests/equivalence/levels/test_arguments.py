"""Lists of arguments, settled in both trees: each value once, in children that know nothing of each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from equivalence.levels import Expected
from equivalence.levels.arguments import judge, lists
from equivalence.levels.result import Ledger
from equivalence.levels.setting import PROGRAMS
from tests.simulations import write_package

SERVER_ARGS = """
import os, sys

class Made:
    def __init__(self, words):
        import sglang.srt.late
        self.words, self.made = words, object()
        if "--switch" in words:
            os.environ["SWITCHED"] = "1"
        if "--broken" in words:
            raise ValueError("no: " + words[-1])
        if "--unknown" in words:
            print("usage:\\nerror: unknown", file=sys.stderr)
            sys.exit(2)
        if "--killed" in words:
            os._exit(9)

    def check_server_args(self):
        if "--late" in self.words:
            raise AssertionError("late")

prepare_server_args = Made
"""


def test_every_list_is_settled_by_itself(tmp_path: Path) -> None:
    late = "import os\nos.environ['IMPORTED'] = '1'\n"
    tree = write_package(tmp_path, {"srt/server_args.py": SERVER_ARGS, "srt/late.py": late})
    cases = [["--switch"], ["--plain"], ["--broken", "7"], ["--unknown"], ["--killed"], ["--late"]]
    (tmp_path / "given.json").write_text(json.dumps({"cases": cases, "seconds": 60}))
    words = [sys.executable, *map(str, (PROGRAMS / "arguments.py", tmp_path / "given.json", tmp_path / "result.json"))]
    subprocess.run(words, check=True, env=os.environ | {"PYTHONPATH": str(tree)})
    told = json.loads((tmp_path / "result.json").read_text())
    fields = {"words": "['--plain']", "made": "<object object>"}
    assert told[:2] == [
        # What an import sets is told once: the others find it loaded.
        {"fields": fields | {"words": "['--switch']"}, "environment": {"IMPORTED": "1", "SWITCHED": "1"}},
        {"fields": fields, "environment": {}},
    ]
    errors = ["ValueError: no: 7", "error: unknown", "ended with 9", "AssertionError: late"]
    assert told[2:] == [{"error": error, "environment": {}} for error in errors]


def test_each_value_is_asked_once() -> None:
    flags: list[list[Any]] = [
        ["--kind", ["a", "b", "gone"], "text"],
        ["--switch", None, "switch"],
        ["--size", None, "number"],
        ["--path", None, "text"],
        ["--gone", None, "switch"],
    ]
    expected = Expected(
        flags=({"subject": "--gone", "kind": "removed"},),
        refused=({"subject": "--kind", "values": ["gone"], "only": []},),
    )
    found = lists(flags, expected)
    assert len(found) == 2, "three together"
    words = " ".join(word for some in found for word in some)
    assert sorted(words.replace(" --", "\n--").splitlines()) == ["--kind a", "--kind b", "--size 2", "--switch"]


SAME: dict[str, Any] = {"fields": {"a": "1", "b": "2"}, "environment": {"X": "1"}}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (SAME, SAME, ""),
        (SAME, {**SAME, "fields": {"a": "1"}}, ""),
        ({"error": "ValueError: of ['a', 'b']"}, {"error": "ValueError: of ['a']"}, ""),
        (SAME, {**SAME, "fields": {"a": "2", "b": "2"}}, "a is 2, in upstream 1"),
        (SAME, {**SAME, "fields": {"a": "1", "c": "2"}}, "c is 2, in upstream None"),
        (SAME, {**SAME, "environment": {}}, "X"),
        (SAME, {"error": "ValueError: x"}, "error is ValueError: x"),
        ({"error": "ValueError: x"}, SAME, "in upstream ValueError: x"),
        ({"error": "ValueError: x"}, {"error": "TypeError: x"}, "TypeError: x"),
    ],
)
def test_what_differs_is_found(before: dict[str, Any], after: dict[str, Any], message: str) -> None:
    ledger = Ledger("imports")
    judge("--flag", before, after, ledger)
    assert ledger.checks == {"arguments": 1}
    assert [message in finding.message for finding in ledger.findings] == ([True] if message else [])
