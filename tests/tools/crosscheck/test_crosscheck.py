"""New findings of other tools on small trees: each has its reason, or is told."""

from pathlib import Path
from typing import Any

import pytest

from shrinker.values.errors import InputError
from tests.check.trees import Files, what_is_left
from tests.small import read_archive, write
from tools.crosscheck.compare import CrossCheck, Written, _new, explain_all, names_of
from tools.crosscheck.tools import Finding, pydeps, pyrefly, ruff, vulture

BEFORE = read_archive(Path(__file__).with_name("crosscheck.txtar"))["main.py"]
GRAPH: dict[str, Any] = {
    "kept": ["python/sglang/__init__.py", "python/sglang/main.py"],
    "removed": {"python/sglang/npu.py": ["remove-npu", "another platform"]},
    "decisions": {
        "python/sglang/main.py": [
            [10, "platform-npu", "if", "args.npu", "false", 2],
            [17, "platform-npu", "if", "npu", "false", 2],
        ]
    },
}


def _write(root: Path, files: Files) -> Path:
    write(root / "python/sglang", files)
    return root


@pytest.fixture()
def trees(tmp_path: Path) -> tuple[Path, Path]:
    caller = "from sglang.main import size, used_by_removed\n\nsize(used_by_removed())\n"
    kept = {"__init__.py": "", "main.py": BEFORE}
    return _write(tmp_path / "up", {**kept, "npu.py": caller}), _write(
        tmp_path / "out", what_is_left(kept)
    )


def _reasons(
    trees: tuple[Path, Path], findings: list[Finding], graph: dict[str, Any] = GRAPH
) -> dict[str, str]:
    before, after = trees
    paths = ["python/sglang/__init__.py", "python/sglang/main.py"]
    written = Written(before, after, graph, [*paths, "python/sglang/npu.py"], names_of(findings))
    explained = explain_all(findings, after, written, graph["kept"])
    return {f"{item.tool} {item.subject}": item.reason for item in explained}


def test_a_finding_that_upstream_has_too_is_not_new() -> None:
    one = Finding("ruff", "a.py", 3, "F841", "`x`", "x")
    moved = Finding("ruff", "a.py", 9, "F841", "`x`", "x")
    assert _new([one], [moved]) == []
    assert _new([one], [moved, moved]) == [moved]
    assert _new([], [one]) == [one]


def test_what_the_tools_see_only_in_the_generated_tree_has_its_reason(
    trees: tuple[Path, Path],
) -> None:
    before, after = trees
    new = [item for tool in (ruff, vulture, pyrefly) for item in _new(tool(before), tool(after))]
    reasons = _reasons(trees, new)
    assert reasons["ruff width"].startswith(
        "last used at python/sglang/main.py:11 of upstream, gone by platform-npu"
    )
    assert (
        "a file that is removed (remove-npu: another platform)"
        in reasons["vulture used_by_removed"]
    )
    setting = (
        "set only at python/sglang/main.py:18 of upstream, gone by platform-npu (if `npu`: false)"
    )
    assert reasons["pyrefly pages"] == f"{setting}: the read is not reached"


def test_what_no_decision_took_away_has_no_reason(trees: tuple[Path, Path]) -> None:
    before, after = trees
    graph = {**GRAPH, "decisions": {}, "removed": {}}
    new = [item for tool in (ruff, vulture, pyrefly) for item in _new(tool(before), tool(after))]
    reasons = _reasons(trees, new, graph)
    assert (
        reasons["ruff width"]
        == reasons["vulture used_by_removed"]
        == reasons["pyrefly pages"]
        == ""
    )


def test_an_unused_import_is_known_by_the_name_that_it_binds(tmp_path: Path) -> None:
    text = (
        "from os import sep as _sep, name\nfrom os import (\n    path as _path,\n)\nimport json\n"
    )
    found = ruff(_write(tmp_path, {"main.py": text}))
    assert [item.subject for item in found] == ["_sep", "name", "_path", "json"]


def test_what_a_plain_dict_was_first_given_is_no_type_of_its_keys(tmp_path: Path) -> None:
    text = (
        "def ask():\n    load = {'a': 1}\n    load['b'] = 0.0\n    size: int = ''\n    return "
        "load, size\n"
    )
    assert [item.line for item in pyrefly(_write(tmp_path, {"main.py": text}))] == [4]


@pytest.mark.parametrize(
    ("asked", "reason"), [("None", "`(found := None)` is false"), ("ask()", "")]
)
def test_a_name_that_only_one_arm_binds(tmp_path: Path, asked: str, reason: str) -> None:
    text = (
        f"def f(ask):\n    if found := {asked}:\n        pass\n    else:\n        width = 1\n    "
        "return width, found\n"
    )
    out = _write(tmp_path / "out", {"main.py": text})
    path = "python/sglang/main.py"
    found = [item for item in pyrefly(out) if item.kind == "unbound-name"]
    written = Written(
        out, out, {"kept": [path], "removed": {}, "decisions": {}}, [path], names_of(found)
    )
    [item] = explain_all(found, out, written, [path])
    assert (
        item.subject == "width"
        and item.reason.startswith(reason)
        and bool(item.reason) is bool(reason)
    )


def test_a_name_that_upstream_never_wrote_has_no_reason(trees: tuple[Path, Path]) -> None:
    item = Finding(
        "ruff", "python/sglang/main.py", 1, "F821", "Undefined name `nowhere`", "nowhere"
    )
    assert _reasons(trees, [item]) == {"ruff nowhere": ""}


def test_pydeps_counts_modules_imports_and_cycles(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "a.py": "import sglang.b\n",
        "b.py": "import sglang.a\n",
        "c.py": "from sglang import a\n",
    }
    found = pydeps(_write(tmp_path, files))
    assert found == {"modules": 4, "imports": found["imports"], "cycles": 1, "largest cycle": 2}
    check = CrossCheck({"ruff": (3, 2)}, (), (found, found))
    assert any("modules in the largest" in line for line in check.lines(False))
    assert check.as_json()["imports"]["upstream"]["largest cycle"] == 2


def test_a_tool_that_fails_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pyrefly"):
        pyrefly(tmp_path)
