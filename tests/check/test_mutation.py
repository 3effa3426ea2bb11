"""Faults that are put into copies of a tree, and who notices them."""

import ast
import os
from pathlib import Path

import pytest

from shrinker.check.levels import EVIDENCE_LEVELS
from tests.check.trees import Build, Case
from tests.small import read_archive
from tools.mutation.faults import KINDS, Fault, choose
from tools.mutation.judge import Judged, Stand, judge_all, table
from tools.mutation.kinds import ON_NATIVE, ON_PYTHON, Source
from tools.mutation.page import mutation_data, mutation_page

FILES = read_archive(Path(__file__).with_name("mutation.txtar"))
BEFORE, KERNEL = FILES["models/pool.py"], FILES["kernels/add.cu"]
AFTER = BEFORE.replace(
    """    if is_other:
        return partial(run, 1)
    else:
        return cache(run)
""",
    "    return cache(run)\n",
)
GENERATED = {**dict.fromkeys(FILES, "="), "models/pool.py": AFTER}


@pytest.fixture
def trees(case: Build) -> Case:
    return case(FILES, GENERATED)


def changes(kind: str) -> list[tuple[str, list[str]]]:
    """Subjects, and the lines that are another after the fault."""
    source = Source(AFTER, BEFORE)
    found = []
    for change in ON_PYTHON[kind](source):
        ast.parse(change.text)
        before, after = AFTER.split("\n"), change.text.split("\n")
        found.append((change.subject, [line.strip() for line in before if line not in after]))
    return found


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("function deleted", ["run"]),
        ("method deleted", ["Pool.take"]),
        ("class attribute deleted", ["Pool.size"]),
        (
            "registration deleted",
            [
                "row 'one' of TABLE",
                "row 'two' of TABLE",
                "@register('run') of run",
                "register('pool')(Pool)",
            ],
        ),
        ("import deleted", ["os", "cache", "partial", "register"]),
        ("other branch taken", ["`is_other`"]),
        (
            "constant changed",
            ["4 becomes 5", "False becomes True", "True becomes False", "1 becomes 2"],
        ),
        ("model class not registered", ["Pool", "dict"]),
    ],
)
def test_each_kind_of_fault(kind: str, expected: list[str]) -> None:
    found = changes(kind)
    assert sorted(subject for subject, _ in found) == sorted(expected)
    assert all(lines for _, lines in found)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "native registration deleted",
            ['m.def("add(Tensor a) -> Tensor");', 'm.impl("add", torch::kCUDA, &add);'],
        ),
        ("native definition deleted", ["add"]),
        ("native include deleted", ["#include <torch/all.h>"]),
    ],
)
def test_each_kind_of_native_fault(kind: str, expected: list[str]) -> None:
    found = [*ON_NATIVE[kind](Source(KERNEL))]
    assert [change.subject for change in found] == expected
    assert all(
        len(KERNEL.splitlines()) - 3 <= change.text.count("\n") <= len(KERNEL.splitlines())
        for change in found
    )
    assert all(change.text.startswith("// Modified by shrinker") for change in found), (
        "as a run would have said it"
    )


def test_a_block_that_a_fault_empties_gets_pass() -> None:
    text = "class A:\n    x = 1\n\n\ndef f():\n    import os\n"
    source = Source(text)
    for kind in ("class attribute deleted", "import deleted"):
        (change,) = ON_PYTHON[kind](source)
        assert "    pass\n" in change.text


def test_the_same_seed_draws_the_same_faults(trees: Case) -> None:
    drawn = [
        choose(trees.tree, trees.out, trees.manifest, count=len(KINDS), seed=1) for _ in range(2)
    ]
    assert drawn[0] == drawn[1] and len(drawn[0]) == len(KINDS)
    assert {fault.kind for fault in drawn[0]} == set(KINDS), (
        "each kind comes before one comes twice"
    )
    other = choose(trees.tree, trees.out, trees.manifest, count=1000, seed=2)
    assert {(f.path, f.text) for f in drawn[0]} <= {(f.path, f.text) for f in other}


def test_a_fault_is_judged_by_what_was_decided_and_not_by_hashes(trees: Case) -> None:
    every = choose(trees.tree, trees.out, trees.manifest, count=1000, seed=0)
    judged = {
        (j.fault.kind, j.fault.subject): j for j in judge_all(trees.trees(), every, EVIDENCE_LEVELS)
    }
    caught = {key: j.caught_by for key, j in judged.items()}
    assert caught["function deleted", "run"] == "references"
    assert caught["method deleted", "Pool.take"] == "references"
    assert caught["class attribute deleted", "Pool.size"] == "references"
    assert caught["registration deleted", "@register('run') of run"] == "references"
    assert caught["import deleted", "os"] == "references"
    assert caught["constant changed", "4 becomes 5"] == "form"
    assert caught["constant changed", "True becomes False"] == "form"
    assert caught["other branch taken", "`is_other`"] == "", (
        "what was decided can only be told by running it"
    )
    assert all(j.finding for j in judged.values() if j.caught_by)
    rows = table([*judged.values()], EVIDENCE_LEVELS)
    assert rows[-1][:2] == ["all", str(len(every))]
    assert [sum(int(row[n]) for row in rows[:-1]) for n in range(1, len(rows[-1]))] == [
        int(n) for n in rows[-1][1:]
    ]


@pytest.mark.parametrize(
    ("kind", "argument"),
    [
        ("function deleted", "still finds what it names"),
        ("import deleted", "nothing in its file reads the name"),
        ("other branch taken", "followed through the code"),
        ("constant changed", ""),
    ],
)
def test_the_page_argues_survivors_by_their_kinds(trees: Case, kind: str, argument: str) -> None:
    judged = [Judged(Fault(kind, "a.py", 1, "x", ""), "", "")]
    page = mutation_page(
        mutation_data(judged, ["form", "references"], trees.manifest, {0: [judged[0].fault]}, 1)
    )
    head, _, said = page.partition(f"- {kind}: `a.py:1` x\n")
    assert head and (argument in said if argument else not said)
    unasked = mutation_page(
        mutation_data(judged, ["form"], trees.manifest, {0: [judged[0].fault]}, 1)
    )
    assert unasked.endswith(f"- {kind}: `a.py:1` x\n")


def test_a_fault_that_two_seeds_draw_counts_for_both(trees: Case) -> None:
    one, other = (
        Judged(Fault("import deleted", "a.py", n, "x", ""), "form" if n else "", "")
        for n in range(2)
    )
    data = mutation_data(
        [one, other], ["form"], trees.manifest, {0: [one.fault, other.fault], 1: [other.fault]}, 2
    )
    assert data["table"][-1] == ["all", "2", "1", "1"]
    page = mutation_page(data)
    assert "2 faults, drawn with seed 0, 1" in page and "Noticed: 1 of 2 (50.0 %)." in page
    assert "- seed 0: 1 of 2 (50.0 %)\n- seed 1: 1 of 1 (100.0 %)\n" in page


def test_the_tree_itself_is_never_touched(trees: Case, tmp_path: Path) -> None:
    before = {
        p: (p.read_bytes(), p.stat().st_mtime_ns)
        for p in sorted(trees.out.rglob("*"))
        if p.is_file()
    }
    gone = "python/sglang/user.py"
    fault = Fault(
        "constant changed", "python/sglang/registry.py", 1, "x", "x = 1\n", ((gone, None),)
    )
    copy = Stand(trees.out, trees.manifest, tmp_path / "stand" / "copy")
    beside = sorted(os.listdir(trees.out.parent))
    whole = {p: p.read_bytes() for p in sorted(copy.folder.rglob("*")) if p.is_file()}
    with pytest.raises(KeyboardInterrupt), copy.changed(fault.changes) as manifest:
        assert (copy.folder / fault.path).read_text() == "x = 1\n"
        assert not (copy.folder / gone).exists()
        assert next(f for f in manifest.files if f.path == fault.path).changed
        assert gone not in [f.path for f in manifest.files]
        raise KeyboardInterrupt
    assert {p: p.read_bytes() for p in sorted(copy.folder.rglob("*")) if p.is_file()} == whole
    assert [judged.caught_by for judged in judge_all(trees.trees(), [fault], ["form"])] == ["form"]
    assert before == {
        p: (p.read_bytes(), p.stat().st_mtime_ns)
        for p in sorted(trees.out.rglob("*"))
        if p.is_file()
    }
    assert sorted(os.listdir(trees.out.parent)) == beside
