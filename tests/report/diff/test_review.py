"""Two generated trees compared: every move with its reason, what may be compared, and what is no
comparison.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shrinker.report.diff.values import Row
from tests.cli.small import FILES, RULES, Done, World, small_world
from tests.small import committed, git, read_archive, write

SERVER = "python/sglang/srt/server.py"
CUDA = "python/sglang/srt/cuda.py"


def second(
    world: World, files: dict[str, str], rules: dict[str, str] | None = None
) -> tuple[Path, Path]:
    """The tree of the world as it is, kept aside, and the one that it gives after the changes; both
    with their upstream.
    """
    world.shrink().expect(0)
    old = world.folder / "old"
    shutil.copytree(world.out, old / "tree")
    shutil.copytree(world.reports, old / "tree.reports")
    shutil.copytree(world.upstream, world.folder / "before")
    write(world.upstream, files)
    write(world.rules, rules or {})
    world.shrink().expect(0)
    return old / "tree", world.out


def diff(world: World, *words: str, jobs: int = 1) -> Done:
    """The command, by the rules of the world."""
    return world.run(
        [
            "diff",
            *words,
            "--rules",
            str(world.rules),
            "--profile",
            world.profile,
            "--jobs",
            str(jobs),
        ]
    )


def told(world: World, *words: str) -> dict[str, Any]:
    """What the command writes for programs, its tables with the rest."""
    done = diff(world, *words, "--json")
    assert done.code == 1, done.err
    document: dict[str, Any] = done.document
    return {**document, **document["tables"]}


def compared(world: World, trees: tuple[Path, Path]) -> dict[str, Any]:
    """What is told of two trees whose upstreams are there."""
    upstreams = [
        "--old-upstream",
        f"path:{world.folder / 'before'}",
        "--new-upstream",
        f"path:{world.upstream}",
    ]
    return told(world, *map(str, trees), *upstreams)


def changed(world: World, before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    """What is told when upstream's files change."""
    write(world.upstream, before)
    return compared(world, second(world, after))


UTILS = "python/sglang/srt/utils.py"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return small_world(tmp_path)


def _cells(rows: list[dict[str, Any]]) -> dict[str, tuple[str, str, str]]:
    return {row["subject"]: (row["kind"], row["before"], row["after"]) for row in rows}


def _one(rows: list[dict[str, Any]], key: str, value: str) -> dict[str, Any]:
    (row,) = [row for row in rows if row[key] == value]
    return row


def test_what_upstream_now_imports_is_kept_because_of_upstream(world: World) -> None:
    text = (
        FILES[SERVER]
        + "\n\nfrom sglang.srt import orphan, fresh\n\nprint(orphan.LOST + fresh.MORE)\n"
    )
    found = changed(world, {}, {SERVER: text, "python/sglang/srt/fresh.py": "MORE = 2\n"})
    assert [row["path"] for row in found["kept"]] == [
        "python/sglang/srt/fresh.py",
        "python/sglang/srt/orphan.py",
    ]
    orphan = _one(found["kept"], "path", "python/sglang/srt/orphan.py")["reason"]
    assert orphan["cause"] == "upstream"
    assert (
        f"sglang.srt.server now reaches sglang.srt.orphan (import): upstream changed {SERVER}:"
        in orphan["text"]
    )
    assert orphan["chain"][0].startswith("root:root ")
    fresh = _one(found["kept"], "path", "python/sglang/srt/fresh.py")["reason"]
    assert fresh["text"].startswith("upstream added it")
    assert not found["removed"] and not found["rules"]
    server = _one(found["changed"], "path", SERVER)
    assert (server["reason"]["cause"], server["after"]) == ("upstream", "+5 -0")


def test_what_upstream_drops_is_removed_because_of_upstream(world: World) -> None:
    first = FILES[SERVER] + "\n\nfrom sglang.srt import orphan\n\nprint(orphan.LOST)\n"
    found = changed(world, {SERVER: first}, {SERVER: FILES[SERVER]})
    (gone,) = found["removed"]
    assert gone["path"] == "python/sglang/srt/orphan.py" and gone["reason"]["cause"] == "upstream"
    assert "sglang.srt.server reached sglang.srt.orphan" in gone["reason"]["text"]


def test_a_file_that_moved_is_told_with_both_names(world: World) -> None:
    body = "TABLE = {\n" + "".join(f"    {n}: 'row {n}',\n" for n in range(20)) + "}\n"
    users = {CUDA: "from sglang.srt.table import TABLE\n\n\ndef start():\n    return TABLE\n"}
    write(world.upstream, {"python/sglang/srt/table.py": body, **users})
    trees = second(
        world,
        {"python/sglang/srt/rows.py": body, CUDA: users[CUDA].replace("srt.table", "srt.rows")},
    )
    (world.upstream / "python/sglang/srt/table.py").unlink()
    assert world.shrink().code == 0
    found = compared(world, trees)
    assert "moved it here from python/sglang/srt/table.py" in found["kept"][0]["reason"]["text"]
    assert "upstream moved it to python/sglang/srt/rows.py" in found["removed"][0]["reason"]["text"]


def test_a_rule_that_changed_is_the_reason(world: World) -> None:
    text = RULES["world.toml"].partition("[[remove]]")[0].replace("value = false", "value = true")
    found = compared(world, second(world, {}, {"world.toml": text}))
    assert {(row["subject"], row["kind"]) for row in found["rules"]} == {
        ("npu", "changed"),
        ("remove-npu", "removed"),
    }
    npu = _one(found["kept"], "path", "python/sglang/srt/npu.py")["reason"]
    assert npu["cause"] == "rule" and "remove-npu" in npu["text"]
    assert [row["path"] for row in found["removed"]] == [CUDA]
    assert found["removed"][0]["reason"]["cause"] == "rule"


def test_symbols_that_come_and_go(world: World) -> None:
    first = (
        "def start():\n    return 'cuda'\n\n\ndef spare():\n    return 1\n\n\ndef old():\n    "
        "return 2\n\n\nKEPT = old()\n"
    )
    write(world.upstream, {CUDA: first})
    second = (
        first.replace(
            "def old():\n    return 2\n\n\nKEPT = old()",
            "def new():\n    return 3\n\n\nKEPT = new()",
        )
        + "MORE = spare()\nprint(KEPT, MORE)\n"
    )
    found = changed(world, {CUDA: first + "print(KEPT)\n"}, {CUDA: second})
    kept = {row["subject"]: row["reason"]["text"] for row in found["symbols_kept"]}
    assert kept["sglang.srt.cuda.new"] == "upstream added it"
    assert kept["sglang.srt.cuda.spare"].startswith("was there and removed; ")
    (gone,) = found["symbols_removed"]
    assert (gone["subject"], gone["reason"]["text"]) == (
        "sglang.srt.cuda.old",
        "upstream removed it",
    )


def test_a_symbol_in_a_file_that_upstream_left_alone(world: World) -> None:
    """The one that upstream changed names it: that is where the reason points."""
    text = FILES[SERVER] + "from sglang.srt.cuda import spare\n\nprint(spare())\n"
    found = changed(
        world,
        {CUDA: "def start():\n    return 'cuda'\n\n\ndef spare():\n    return 1\n"},
        {SERVER: text},
    )
    row = _one(found["symbols_kept"], "subject", "sglang.srt.cuda.spare")
    assert (
        row["reason"]["cause"] == "upstream"
        and f"upstream changed {SERVER}:" in row["reason"]["text"]
    )
    other = _one(found["changed"], "path", CUDA)
    assert other["reason"]["cause"] == "reach" and other["reason"]["text"]


INTERFACE = read_archive(Path(__file__).with_name("interface.txtar"))["server.py"]


def test_flags_endpoints_and_fields(world: World) -> None:
    def server(**values: object) -> dict[str, str]:
        return {SERVER: FILES[SERVER] + INTERFACE.format(**values)}

    found = changed(
        world,
        server(field="n: int = 1", path="/health", port=1, flag="old"),
        server(field="n: int = 2", path="/healthz", port=2, flag="new"),
    )
    assert _cells(found["flags"]) == {
        "--new": ("added", "", ""),
        "--old": ("removed", "", ""),
        "--port": ("default changed", "1", "2"),
    }
    assert _cells(found["endpoints"]) == {
        "GET /health": ("removed", "", ""),
        "GET /healthz": ("added", "", ""),
        "Request.n": ("changed", "int = 1", "int = 2"),
    }


def test_flags_that_only_moved_are_one_row(world: World) -> None:
    flags = (
        "def flags(parser):\n    parser.add_argument('--a')\n    "
        "parser.add_argument('--b')\n\n\nflags('x')\n"
    )

    def at(name: str) -> dict[str, str]:
        return {
            f"python/sglang/srt/{name}.py": flags,
            CUDA: f"{FILES[CUDA]}\n\nimport sglang.srt.{name}\n",
        }

    found = changed(world, at("one"), at("two"))
    (row,) = found["flags"]
    assert (row["kind"], row["subject"], row["reason"]["text"]) == (
        "moved",
        "--a, --b",
        "2 as they were",
    )


def test_new_risks_and_kernels_but_not_those_that_were_there(world: World) -> None:
    def cuda(more: str) -> dict[str, str]:
        body = (
            f"import importlib\nimport triton\n\n\n@triton.jit\ndef kernel(x):\n    {more}\n    "
            "return x\n"
        )
        return {
            CUDA: (
                f"{body}\n\ndef start(name='x'):\n    getattr(kernel, name)\n    {more}\n"
                "    return kernel\n"
            )
        }

    found = changed(world, cuda("pass"), cuda("importlib.import_module(name)"))
    assert {(row["kind"], row["subject"], row["after"]) for row in found["risks"]} == {
        ("imports a computed module", "importlib.import_module(name)", "start"),
        ("imports a computed module", "importlib.import_module(name)", "kernel"),
    }
    assert [(row["kind"], row["subject"]) for row in found["kernels"]] == [
        ("Triton changed", "kernel")
    ]


def test_a_platform_question_that_no_rule_names(world: World) -> None:
    asks = (
        "\n\ndef is_xpu():\n    return False\n\n\ndef is_tpu9():\n    return hasattr(torch, "
        "'tpu9')\n"
    )
    server = (
        FILES[SERVER].replace("import is_npu", "import is_npu, is_tpu9")
        + "\nif is_tpu9():\n    print(2)\n"
    )
    write(
        world.rules,
        {"world.toml": RULES["world.toml"].replace('is_npu"', 'is_npu", "sglang.**.is_xpu"')},
    )
    found = changed(world, {}, {UTILS: FILES[UTILS] + asks, SERVER: server})
    row = _one(found["risks"], "subject", "is_tpu9")
    assert row["kind"] == "unknown predicate" and row["path"] == SERVER and row["line"]


def test_what_becomes_uncertain_is_told(world: World) -> None:
    first = "import importlib\n\n\ndef start(name='x'):\n    return importlib.import_module(name)\n"
    second = {CUDA: first + "\n\nstart(name='y')\n", SERVER: FILES[SERVER] + "\n__import__(KIND)\n"}
    rows = changed(world, {CUDA: "# a line\n" + first}, second)["uncertain"]
    assert [(row["subject"], row["kind"]) for row in rows] == [(SERVER, "added")]


def test_commits_between_two_commits(world: World) -> None:
    git(world.upstream, "init", "-q")
    first = committed(world.upstream, {}, "First (#1)")
    committed(
        world.upstream,
        {CUDA: FILES[CUDA].replace("'cuda'", "'cuda 2'")},
        "Say 2 | and <b>more</b> (#42)",
    )
    committed(world.upstream, {"README.md": "words\n"}, "Words (#43)")
    sides = [f"git:{world.upstream}@{first}", f"git:{world.upstream}@HEAD"]
    found = told(world, *sides)
    assert [(row["subject"], row["before"]) for row in found["commits"]] == [
        ("#42", "Say 2 | and <b>more</b>")
    ]
    assert _one(found["changed"], "path", CUDA)["commits"] == ["#42"]
    text = diff(world, *sides).out
    assert "| `#42` | Say 2 \\| and &lt;b&gt;more&lt;/b&gt; | 1 |" in text


def test_the_unified_diff_is_one_that_patch_applies(world: World) -> None:
    rows = [f"value_{n} = {n}\n" for n in range(60)]
    other = [
        *rows[:2],
        "added = 1\n",
        *rows[2:30],
        *rows[33:55],
        "value_55 = 'x'\n",
        *rows[56:-1],
        "last = 1",
    ]
    tail = (
        "\n\ndef start():\n    return ["
        + ", ".join(f"value_{n}" for n in (*range(30), *range(33, 59)))
        + "]\n"
    )
    write(world.upstream, {CUDA: "".join(rows) + tail})
    trees = second(world, {CUDA: "".join(other).replace("last = 1", "") + tail + "print(start())"})
    found = compared(world, trees)
    patch = "".join(row["text"] for row in found["text"] if row["path"].endswith(".py"))
    copy = world.folder / "patched"
    shutil.copytree(trees[0], copy)
    subprocess.run(["git", "apply", "-p1", "-"], input=patch, text=True, cwd=copy, check=True)
    assert patch.count("@@ -") == 2
    assert (copy / CUDA).read_bytes() == (trees[1] / CUDA).read_bytes()


def test_a_tree_and_itself(world: World) -> None:
    assert world.shrink().code == 0
    done = diff(world, str(world.out), str(world.out), "--new-upstream", f"path:{world.upstream}")
    assert done.code == 0, done.err
    assert "The generated files are the same." in done.out


def test_upstreams_are_generated_once_and_taken_again(world: World) -> None:
    shutil.copytree(world.upstream, world.folder / "before")
    write(world.upstream, {CUDA: FILES[CUDA].replace("'cuda'", "'cuda 2'")})
    sides = [f"path:{world.folder / 'before'}", f"path:{world.upstream}"]
    done = diff(world, *sides)
    assert done.code == 1, done.err
    assert "generating" in done.err and "-    return 'cuda'\n+    return 'cuda 2'" in done.out
    again = diff(world, *sides)
    assert again.out == done.out and "generating" not in again.err
    assert diff(world, *sides, jobs=2).out == done.out
    shutil.rmtree(world.folder / "cache/generated")
    together = diff(world, *sides, jobs=2)
    assert together.out == done.out, together.err


def test_locks_alone_tell_the_files(world: World) -> None:
    old, new = second(
        world, {SERVER: FILES[SERVER] + "\nfrom sglang.srt import orphan\n\nprint(orphan.LOST)\n"}
    )
    named = {"a": old, "b": new}
    places = [
        shutil.copy(tree / "SHRINK.json", world.folder / f"{name}.json")
        for name, tree in named.items()
    ]
    found = told(world, *map(str, places))
    assert [row["path"] for row in found["kept"]] == ["python/sglang/srt/orphan.py"]
    assert found["kept"][0]["reason"]["cause"] == "unknown"
    assert (
        sum("only the lock is there" in note for note in found["notes"]) == 2 and not found["text"]
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_unknown_predicates_are_looked_for_in_a_process_of_their_own(
    world: World, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """Where there is one for them; one that is killed is an error with a next step, and nobody
    waits for it.
    """
    process = os.getpid()

    def looked(*_: object) -> tuple[list[Row], list[str]]:
        if os.getpid() != process:
            os.kill(os.getpid(), signal.SIGKILL)
        return [], ["looked here"]

    monkeypatch.setattr("shrinker.upgrade.sides.unknown_predicates", looked)
    trees = second(world, {CUDA: FILES[CUDA] + "\n"})
    done = diff(world, *map(str, trees), jobs=jobs)
    if jobs == 1:
        assert done.code == 1 and "looked here" in done.out
    else:
        assert done.code == 2 and "was killed" in done.err and "--no-predicates" in done.err


def test_bad_input_is_no_difference(world: World) -> None:
    assert world.shrink().code == 0
    for name in ("nowhere", "git:nowhere", "release:x y", str(world.rules)):
        done = diff(world, name, str(world.out))
        assert done.code == 2 and "next: " in done.err, done.err


def test_an_upstream_that_fails_its_evidence_is_no_difference(world: World) -> None:
    write(world.upstream, {CUDA: "def start(:\n"})
    done = diff(world, f"path:{world.upstream}", f"path:{world.upstream}")
    assert done.code == 2, done.err
