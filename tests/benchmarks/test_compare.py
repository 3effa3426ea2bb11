"""The list of predicates, the counter, the judge and the page of the comparison."""

import ast
import json
from pathlib import Path

import pytest

from benchmarks.compare.__main__ import Report, markdown, write_report
from benchmarks.compare.contenders import CONTENDERS, Contender, Folder
from benchmarks.compare.judge import Judge, Occurrences, Outcome, count
from benchmarks.compare.measuring import Comparison, DecisionCost, Row, compare
from benchmarks.compare.predicates import (
    Flags,
    Predicates,
    flags_of_tree,
    predicates_of_rules,
    truth,
)
from benchmarks.figures import Spread
from benchmarks.subjects.base import NotInstalledError
from shrinker.ruleset import Fact, Remove, Ruleset
from shrinker.source import open_upstream
from tests.benchmarks.measured import session
from tests.small import python, read_cases, write

WHY = "Because the test says so."
PREDICATES = Predicates(
    {"is_hip": False, "is_cuda": True, "torch.xpu.is_available": False}, {"torch.version.hip": None}
)


def fact(name: str, value: bool | str | None, **what: object) -> Fact:
    return Fact(id=name, why=WHY, value=value, **what)  # type: ignore[arg-type]


def test_the_list_is_read_from_facts_on_calls_and_names():
    rules = Ruleset(
        facts=(
            fact(
                "hip",
                False,
                calls=("sglang.**.is_hip", ".is_rocm", "torch.xpu.is_available"),
                environment=("X",),
            ),
            fact("cuda", True, calls=("sglang.**.is_cuda",), exact=False),
            fact("version", None, names=("torch.version.hip",)),
            fact("text", "linux", names=("sys.platform",)),
            fact("hooks", None, calls=("sglang.a.maybe_*",)),
            fact("truth", True, names=("torch.version.cuda",), exact=False),
            fact("one", True, calls=("sglang.a.either",)),
            fact("two", False, calls=("sglang.b.either",)),
        )
    )
    found = predicates_of_rules(rules)
    assert found.calls == {
        "is_hip": False,
        "is_rocm": False,
        "torch.xpu.is_available": False,
        "is_cuda": True,
    }
    assert found.dotted == {"torch.version.hip": None}
    assert found.left_out == ("either", "sglang.a.maybe_*", "sys.platform", "torch.version.cuda")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("is_hip()", False),
        ("utils.is_hip()", False),
        ("is_hip", None),
        ("torch.xpu.is_available()", False),
        ("torch.cuda.is_available()", None),
        ("torch.version.hip", False),
        ("not is_hip() and is_cuda()", True),
        ("x and is_hip()", False),
        ("x or is_hip()", None),
        ("bool(_flag)", True),
    ],
)
def test_truth(text, value):
    assert truth(ast.parse(text, mode="eval").body, PREDICATES, Flags({"_flag": True})) is value


def test_flags_are_followed_through_imports_and_dropped_where_bound_otherwise():
    modules = {
        "p.a": (
            "_is_hip = is_hip()\n_use = asked() and _is_hip\nDEBUG = False\n"
            "twice = is_hip()\ntwice = work()\nsame = not None\n"
        ),
        "p.b": (
            "from p.a import _is_hip, _use as use, DEBUG\ntry:\n    pass\n"
            "except E as is_cuda: pass\n"
        ),
        "p.c": "from q import _is_hip\ndef f(_use): pass\n",
        "p.d": "from p.a import _is_hip\ndef f():\n    _is_hip = 3\n",
        "p.e": "_is_hip = False\nif x:\n    _is_hip = is_hip()\n",
    }
    found = flags_of_tree(PREDICATES, {name: ast.parse(text) for name, text in modules.items()})
    assert found["p.a"] == Flags({"_is_hip": False}, {"_use": False})
    assert found["p.b"] == Flags({"_is_hip": False}, {"use": False})
    assert found["p.c"] == Flags() and found["p.d"] == Flags()
    assert found["p.e"] == Flags({"_is_hip": False}, {})


def occurrences(text: str) -> Occurrences:
    return count(ast.parse(text), PREDICATES, Flags({"_flag": True}, {"_far": False}))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = is_hip()\n_flag = is_cuda()\nf(_flag)\n", Occurrences()),
        ("if is_hip(): pass\nelif y and not p.is_cuda(): pass\n", Occurrences(calls=2)),
        (
            "x = y if _flag else z\nassert _far\nwhile f(_flag): pass\n",
            Occurrences(flags=2, derived=1),
        ),
        ("x = [y for y in z if torch.version.hip]\n", Occurrences(calls=1)),
        ("match x:\n    case 1 if is_hip(): pass\n", Occurrences(calls=1)),
        ("x = y or is_hip()\n", Occurrences(calls=1)),
        ("if not (is_hip() or is_hip()): pass\n", Occurrences(calls=2)),
        (
            "if True: pass\nelif x and False: pass\nwhile True: pass\nx = 1 if not None else 2\n",
            Occurrences(0, 0, 0, 3),
        ),
        ("while False: pass\n", Occurrences(0, 0, 0, 1)),
        ("if x or False: pass\n", Occurrences()),
    ],
)
def test_counter(text, found):
    assert occurrences(text) == found


UPSTREAM, TREE = read_cases(Path(__file__).with_name("compare.txtar"), "/").values()


def judged(tmp_path: Path, **after: str) -> Outcome:
    for name, files in (
        ("before", UPSTREAM),
        ("after", {**UPSTREAM, **{f"{n}.py": t for n, t in after.items()}}),
    ):
        write(tmp_path / name, files)
    judge = Judge(tmp_path / "before", PREDICATES, dict.fromkeys(UPSTREAM, Flags()))
    assert judge.upstream == Occurrences(calls=4, constant_tests=1)
    return judge.judge(tmp_path / "after")


def test_judge_of_nothing_done(tmp_path):
    assert judged(tmp_path) == Outcome(3, 0, 0, Occurrences(), Occurrences(calls=4), 0, 0)


def test_judge_of_good_and_bad_work(tmp_path):
    outcome = judged(
        tmp_path,
        a='x = """one\n  two"""\nprint(x, missing, gone)\n',
        b="y = 2\n    z = False\n",
        c="if False:\n    pass\nif True:\n    pass\n",
    )
    assert (outcome.changed, outcome.broken, outcome.undefined, outcome.texts) == (3, 1, 1, 1)
    assert outcome.decided == Occurrences(calls=2)
    assert outcome.left == Occurrences(calls=2, constant_tests=1), (
        "a broken file's predicates are left"
    )


RULES = Ruleset(
    facts=(
        fact("hip", False, calls=("sglang.**.is_hip",)),
        fact("version", None, names=("torch.version.hip",)),
    ),
    removes=(Remove(id="gone", why=WHY, feature="what is gone", modules=("sglang.gone",)),),
    profile="deepseek",
)


def small_comparison(tmp_path: Path) -> Comparison:
    write(tmp_path / "upstream/python/sglang", TREE)
    repository = Path(__file__).resolve().parents[2]
    tree = open_upstream(
        f"path:{tmp_path / 'upstream'}", cache=tmp_path / "cache", repository=repository
    )
    absent = Contender("absent", "no-such-distribution", "run_piranha", (), "nothing")
    wanted = [c for c in CONTENDERS if not c.distribution or _installed(c)]
    return compare(tree, RULES, runs=1, jobs=1, cores=(), contenders=[*wanted, absent])


def _installed(contender: Contender) -> bool:
    try:
        return bool(contender.version())
    except NotInstalledError:
        return False


def test_the_tools_that_are_there_fold_a_small_tree(tmp_path):
    found = small_comparison(tmp_path)
    assert (found.files, found.flags, found.present) == (3, 1, Occurrences(flags=1))
    rows = {row.name: row for row in found.rows}
    for row in rows.values():
        if row.version and "no flags" not in row.name:
            assert not row.problem and row.outcome is not None, row
            assert row.outcome.decided == Occurrences(flags=1) and row.outcome.broken == 0, row
    assert rows["absent"].outcome is None and "not installed" in rows["absent"].problem
    assert found.decision is not None and found.decision.ratio.minimum > 0


def test_shrinker_is_told_the_list_alone(tmp_path):
    from benchmarks.workloads.fold_tree import listed

    rules = Ruleset(
        facts=(
            fact("both", False, calls=("sglang.**.is_hip",), environment=("SGLANG_X",)),
            fact("switch", False, environment=("SGLANG_Y",)),
        ),
        removes=RULES.removes,
    )
    told = listed(rules)
    assert [(f.id, f.environment) for f in told.facts] == [("both", ())] and not told.removes


def test_every_contender_has_its_workload(tmp_path):
    folder = Folder(tmp_path / "tree", tmp_path / "list.json", tmp_path / "cache", 1, "deepseek")
    assert len({c.name for c in CONTENDERS}) == len(CONTENDERS)
    for contender in CONTENDERS:
        if contender.workload == "fold_tree" or _installed(contender):
            assert Path(contender.command(folder)[1]).is_file()


def row(name: str, outcome: Outcome | None, problem: str = "") -> Row:
    spread = Spread(1.0, 2.0, 3.0) if outcome else None
    return Row(
        name,
        f"{name} 1",
        f"what {name} did",
        outcome,
        spread,
        spread,
        spread and Spread.of([2**20]),
        4,
        2,
        problem,
    )


def report() -> Report:
    outcome = Outcome(9, 5, 1, Occurrences(10, 20, 3), Occurrences(1, 2, 4, 6), 7, 8)
    decision = DecisionCost(
        Spread.of([6.0]), Spread.of([2.0]), Spread.of([3.0]), Spread.of([2.5]), Spread.of([2**21])
    )
    comparison = Comparison(
        "release:1.0", 9, 1234, PREDICATES, 5, Occurrences(11, 22, 7, 1), (row("good", outcome), row("bad", None, "died")),
        decision,
    )  # fmt: skip
    return Report("2020-01-01T00:00+00:00", "deepseek", 3, session().machine, (comparison,))


def test_page():
    page = markdown(report())
    for line in (
        "| good | 33 (10 + 20 + 3) | 7 (1 + 2 + 4) | 1 | 6 | 7 | 8 | 5 |",
        "| good | good 1 | 4 | 1.00 / 2.00 / 3.00 | 1.00 / 2.00 / 3.00 | 1 |",
        "| bad | - | - | - | - | - | - | - |",
        "  - died",
        "## release:1.0",
    ):
        assert line in page.splitlines(), page
    assert "3.00 times as long" in page and "2.50 times" in page and "\n\n\n" not in page


def test_page_and_data_are_written(tmp_path):
    data, page = write_report(report(), tmp_path)
    document = json.loads(data.read_text("utf-8"))
    assert document["comparisons"][0]["rows"][0]["outcome"]["undefined"] == 7
    assert page.read_text("utf-8").startswith("# Comparison")


def test_command_line_refuses_an_unknown_upstream(tmp_path):
    repository = Path(__file__).resolve().parents[2]
    done = python(
        repository, "-m", "benchmarks.compare", "--upstream", f"path:{tmp_path}", "--into", tmp_path
    )
    assert done.returncode == 2 and "next:" in done.stderr and not list(tmp_path.iterdir())
