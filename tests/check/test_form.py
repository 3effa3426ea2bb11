"""Each check of the level `form`, with a tree that passes and trees that do not."""

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.values.manifest import Manifest
from tests.check.trees import Build, Case, emitted
from tests.small import write

UPSTREAM = {
    "a.py": "import os\n\n\ndef f(x):\n    if x:\n        return os\n    return None\n",
    "b.py": "B = 1\n",
    "empty.py": "",
    "c.py": "C = 1\n",
    "table.json": "{}\n",
    "//LICENSE": "Apache\n",
}
GENERATED = {
    "a.py": "# Modified by shrinker.\nimport os\n\n\ndef f(x):\n    return os\n",
    "b.py": "=",
    "empty.py": "=",
    "table.json": "=",
    "//LICENSE": "=",
    "//NOTICE": "generated\n",
    "//python/pyproject.toml": "[project]\n",
}


def replace(case: Case, path: str, **changes: object) -> None:
    files = tuple(
        dataclasses.replace(f, **changes) if f.path.endswith(path) else f  # type: ignore[arg-type]
        for f in case.manifest.files
    )
    case.manifest = dataclasses.replace(case.manifest, files=files)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_good_tree_passes_and_the_checks_say_what_they_saw(case: Build, jobs: int) -> None:
    made = case(UPSTREAM, GENERATED)
    write(
        made.out, {"SHRINK.json": made.manifest.to_json(), "python/sglang/__pycache__/a.pyc": "x"}
    )
    evidence = made.evidence("form", jobs)
    assert evidence.findings == () and evidence.passed
    checks = dict(evidence.checks)
    assert checks["files"] == checks["extra files"] == 7
    assert checks["own files"] == 3
    assert checks["unchanged files"] == 4
    assert checks["compiled"] == 3
    assert checks["decided trees"] == checks["subsequence files"] == 1
    assert checks["subsequence tokens"] == 11
    assert checks["allowed: header comment"] == 1
    assert checks["allowed: pass"] == 0


def test_the_manifest_survives_its_text(case: Build) -> None:
    made = case(UPSTREAM, GENERATED)
    made.manifest = Manifest.from_json(made.manifest.to_json(), "SHRINK.json")
    assert made.evidence("form").passed


@pytest.mark.parametrize(
    ("path", "check", "act"),
    [
        ("b.py", "files", lambda file: file.unlink()),
        ("more.txt", "extra files", lambda file: file.write_text("x")),
        ("more", "files", lambda file: file.symlink_to("b.py")),
    ],
    ids=["missing", "too many", "a link"],
)
def test_a_file_of_another_tree(
    case: Build, path: str, check: str, act: Callable[[Path], object]
) -> None:
    made = case(UPSTREAM, GENERATED)
    act(made.out / "python/sglang" / path)
    assert made.findings("form") == [(check, path)]


@pytest.mark.parametrize("path", ["b.py", "table.json", "a.py"])
def test_a_changed_byte(case: Build, path: str) -> None:
    made = case(UPSTREAM, GENERATED)
    with (made.out / "python/sglang" / path).open("a") as file:
        file.write("\n")
    assert made.findings("form") == [("files", path)]


@pytest.mark.parametrize("path", ["table.json", "LICENSE"])
def test_a_copied_file_must_be_upstreams(case: Build, path: str) -> None:
    made = case(UPSTREAM, {**GENERATED, path.replace("LICENSE", "//LICENSE"): "{ }\n"})
    replace(made, path, changed=False)
    assert made.findings("form") == [("unchanged files", path)]


@pytest.mark.parametrize(
    ("path", "text", "check"),
    [
        ("table.json", "{ }\n", "own files"),
        ("helper.py", "H = 1\n", "own files"),
        ("a.py", "def f(x):\nreturn os\n", "compiled"),
        ("a.py", "return os\n", "compiled"),
    ],
    ids=[
        "changed and not Python",
        "nobody declared it",
        "no Python",
        "a return outside a function",
    ],
)
def test_a_changed_file_is_declared_python(case: Build, path: str, text: str, check: str) -> None:
    made = case(UPSTREAM, {**GENERATED, path: text})
    assert made.findings("form") == [(check, path)]


def test_an_unchanged_file_that_upstream_cannot_compile_either_is_inherited(case: Build) -> None:
    made = case({"a.py": "print 1\n"}, {"a.py": "="})
    evidence = made.evidence("form")
    assert evidence.passed
    assert [f.check for f in evidence.inherited] == ["compiled"]


@pytest.mark.parametrize("decided", [hashlib.sha256(b"").hexdigest(), None])
def test_a_tree_that_was_not_decided(case: Build, decided: str | None) -> None:
    made = case(UPSTREAM, GENERATED)
    replace(made, "a.py", digest=decided)
    assert made.findings("form") == [("decided trees", "a.py")]


def test_an_inserted_token(case: Build) -> None:
    made = case(UPSTREAM, {**GENERATED, "a.py": "import os\n\n\ndef f(x):\n    return os.path\n"})
    evidence = made.evidence("form")
    (finding,) = evidence.findings
    assert (finding.check, finding.line) == ("subsequence", 5)
    assert "return os . path" in finding.message


def test_a_changed_comment(case: Build) -> None:
    made = case({"a.py": "x = 1  # one\ny = 2\n"}, {"a.py": "x = 1  # 1\n"})
    assert made.findings("form") == [("subsequence", "a.py")]


@pytest.mark.parametrize("changed", [True, False])
def test_an_own_file_may_have_upstreams_name(case: Build, changed: bool) -> None:
    made = case({"_version.py": "v = 1\n"}, {"_version.py": "__version__ = '2'\n"})
    replace(made, "_version.py", lines_before=0, changed=changed)
    assert made.evidence("form").passed


def test_a_path_out_of_the_tree(case: Build) -> None:
    made = case(UPSTREAM, GENERATED)
    (made.out.parent / "outside.py").write_text("x\n")
    entry = emitted(made.tree, made.out, "../outside.py")
    made.manifest = dataclasses.replace(made.manifest, files=(entry, *made.manifest.files))
    assert ("files", "../outside.py") in made.findings("form")
