"""Commands and lists of arguments of a tree: which are asked, each in a child of its own that knows
nothing of the others.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from equivalence.levels import Expected, imports
from equivalence.levels.arguments import judge, lists
from equivalence.levels.result import Ledger
from equivalence.levels.setting import PROGRAMS
from shrinker.fold.messages import no_program
from tests.simulations import write_package
from tests.small import read_cases

PROGRAM = 'if __name__ == "__main__":\n    main()'
COMMANDS, SETTLING = read_cases(Path(__file__).with_name("children.txtar"), "/").values()


def test_programs_of_the_profile(tmp_path: Path) -> None:
    refused = (
        f'if __name__ == "__main__":\n    raise RuntimeError("{no_program("sglang.within.other")}")'
    )
    files = {
        "top.py": PROGRAM,
        "library.py": "VALUE = 1",
        "within/tool.py": PROGRAM,
        "within/other.py": refused,
        "within/unasked.py": PROGRAM,
    }
    subjects = {
        "commands": ["*.py", "within/tool.py", "within/other.py", "within/absent.py"],
        "installed": [],
    }
    found = list(imports._commands(write_package(tmp_path, files), subjects))
    assert [command.start for command in found] == [
        ("-m", "sglang.top"),
        ("-m", "sglang.within.tool"),
    ]
    assert [command.path for command in found] == [
        "python/sglang/top.py",
        "python/sglang/within/tool.py",
    ]


def asked(tree: Path, program: str, **given: object) -> Any:
    """What a program of the levels answers of a tree."""
    (tree / "given.json").write_text(json.dumps(given | {"seconds": 60}))
    words = [
        sys.executable,
        *map(str, (PROGRAMS / program, tree / "given.json", tree / "result.json")),
    ]
    subprocess.run(words, check=True, env=os.environ | {"PYTHONPATH": str(tree)})
    return json.loads((tree / "result.json").read_text())


def test_each_command_is_alone_with_its_arguments_and_its_end(tmp_path: Path) -> None:
    tree = write_package(tmp_path, COMMANDS)
    commands = {name: ("-m", f"sglang.{name}") for name in ("helps", "again", "says", "fails")}
    commands["installed"] = (
        "-c",
        "import sys; sys.argv[0] = 'sglang'; print(sys.argv); sys.exit(3)",
    )
    told = asked(tree, "usage.py", commands=commands)
    assert told["helps"][0] == 0 and told["helps"][1].startswith("loaded\nusage: helps.py [-h]")
    assert told["again"] == [0, "loaded\n['--help'] True\n"]
    assert told["says"] == [1, "no\n"] and told["installed"] == [3, "['sglang', '--help']\n"]
    assert told["fails"][0] == 1 and told["fails"][1].endswith(
        "ZeroDivisionError: division by zero\n"
    )


def test_commands_that_installing_makes(tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"cli/main.py": "def main(): ..."})
    (tree / "pyproject.toml").write_text(
        '[project.scripts]\nserve = "sglang.cli.main:main"\nkills = "sglang.cli:kill"\n'
    )
    found = list(imports._commands(tree, {"commands": [], "installed": ["serve", "absent"]}))
    assert [command.name for command in found] == ["serve"]
    assert "sglang.cli.main.main()" in found[0].start[1]


def test_every_list_is_settled_by_itself(tmp_path: Path) -> None:
    tree = write_package(tmp_path, SETTLING)
    cases = [["--switch"], ["--plain"], ["--broken", "7"], ["--unknown"], ["--killed"], ["--late"]]
    told = asked(tree, "arguments.py", cases=cases)
    meant = "({'size': <class 'int'>}, {'size': typing.Annotated[int, 'wide']})"
    fields = {"words": "['--plain']", "made": "<object object>", "meant": meant}
    assert told[:2] == [
        # What an import sets is told once: the others find it loaded.
        {
            "fields": fields | {"words": "['--switch']"},
            "environment": {"IMPORTED": "1", "SWITCHED": "1"},
        },
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
    assert sorted(words.replace(" --", "\n--").splitlines()) == [
        "--kind a",
        "--kind b",
        "--size 2",
        "--switch",
    ]


SAME: dict[str, Any] = {"fields": {"a": "1", "b": "2"}, "environment": {"X": "1"}}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (SAME, SAME, ""),
        (SAME, {**SAME, "fields": {"a": "1"}}, ""),
        ({"error": "ValueError: of ['a', 'b']"}, {"error": "ValueError: of ['a']"}, ""),
        (SAME, {**SAME, "fields": {"a": "2", "b": "2"}}, "a is 2, in upstream 1"),
        (SAME, {**SAME, "fields": {"a": "1", "c": "2"}}, "c is 2, in upstream None"),
        (SAME, {**SAME, "environment": {}}, "X is not there, in upstream 1"),
        (SAME, {"error": "ValueError: x"}, "error is ValueError: x"),
        ({"error": "ValueError: x"}, SAME, "in upstream ValueError: x"),
        ({"error": "ValueError: x"}, {"error": "TypeError: x"}, "TypeError: x"),
    ],
)
def test_what_differs_is_found(before: dict[str, Any], after: dict[str, Any], message: str) -> None:
    ledger = Ledger("imports")
    judge("--flag", before, after, ledger)
    assert ledger.checks == {"arguments": 1}
    assert [message in finding.message for finding in ledger.findings] == (
        [True] if message else []
    )
