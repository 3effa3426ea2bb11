"""What the commands print and with which exit code they end, when all goes well and when evidence
fails.
"""

import json

import pytest

from shrinker.values.manifest import Manifest
from tests.cli.small import World
from tests.small import rule


def test_shrink_writes_tree_reports_and_lock(world: World) -> None:
    done = world.shrink()
    assert (done.code, world.hidden()) == (0, [])
    assert "evidence: references" in done.out and "generated in" in done.out
    # Plain lines where standard error is no terminal.
    assert "] fold and graph" in done.err and "\x1b" not in done.err
    left = world.left()
    assert {
        "tree/python/sglang/srt/cuda.py",
        "tree.reports/keep.txt",
        "tree.reports/graph.json",
    } <= left.keys()
    assert "tree/python/sglang/srt/npu.py" not in left
    assert left["tree/SHRINK.json"] == left["tree.reports/shrink.lock.json"]


def test_shrink_json_is_one_document(world: World) -> None:
    done = world.shrink("--json")
    document = done.document
    assert done.code == 0
    assert document["summary"]["profile"] == "small"
    assert set(document["seconds"]) >= {"source", "facts", "fold and graph", "emit", "report"}
    assert document["peak_memory_bytes"] > 10_000_000
    assert "] emit" in done.err


def test_a_second_run_changes_nothing(generated: World) -> None:
    before = generated.left()
    assert generated.shrink("--frozen").code == 0
    after = generated.left()
    assert {name for name in before if before[name] != after[name]} <= {"tree.reports/run.json"}
    assert before.keys() == after.keys()


def test_the_number_of_jobs_changes_nothing(generated: World) -> None:
    before = generated.left()
    assert generated.run(generated.arguments(jobs=3)).code == 0
    assert {n: d for n, d in generated.left().items() if n.startswith("tree/")} == {
        n: d for n, d in before.items() if n.startswith("tree/")
    }


def test_frozen_refuses_another_lock(generated: World) -> None:
    before = generated.left()
    (generated.upstream / "python/sglang/srt/cuda.py").write_text("def start():\n    return 2\n")
    done = generated.shrink("--frozen", "--json")
    assert done.code == 1
    assert "python/sglang/srt/cuda.py" in done.document["error"] and done.document["exit"] == 1
    assert (generated.left(), generated.hidden()) == (before, [])


def test_failed_evidence_keeps_the_previous_output(generated: World) -> None:
    before = generated.left()
    (generated.upstream / "python/sglang/srt/cuda.py").write_text(
        "def start():\n    return undefined_name\n"
    )
    (generated.upstream / "python/sglang/srt/table.json").write_text("{}")
    generated.add("upstream/python/sglang/srt/server.py", 'print(__file__ + "table.json")\n')
    generated.add(
        "rules/world.toml",
        rule("remove", "too-much", feature="x", paths=["python/sglang/srt/table.json"]),
    )
    done = generated.shrink()
    assert done.code == 1
    assert "python/sglang/srt/server.py:" in done.err and "table.json" in done.err
    # Upstream has the undefined name too: that is not the tree's fault.
    assert "undefined_name" not in done.err
    assert "next: nothing was replaced" in done.err
    assert (generated.left(), generated.hidden()) == (before, [])
    rejected = generated.out.with_name(f"{generated.out.name}.rejected")
    assert f"--out {rejected}" in done.err
    asked = generated.run(["explain", "python/sglang/srt/table.json", "--out", str(rejected)])
    assert asked.code == 0 and "too-much" in asked.out, "what was rejected can be asked"
    sides = [str(generated.out), f"path:{generated.upstream}"]
    looked = generated.run(["diff", *sides, "--profile", "small", "--rules", str(generated.rules)])
    assert looked.code == 1 and "table.json" in looked.out, "what is compared is not judged"
    (rejected / "mine.txt").write_text("of the owner")
    done = generated.shrink()
    assert done.code == 1 and "nothing is left to look at" in done.err and "mine.txt" in done.err
    assert (rejected / "mine.txt").read_text() == "of the owner"


def test_strict_names_a_rule_without_a_match(generated: World) -> None:
    before = generated.left()
    generated.add("rules/world.toml", rule("absent", "nobody", modules=["nobody_has_this"]))
    assert generated.shrink("--strict").code == 1
    done = generated.shrink("--strict", "--json")
    assert done.code == 1 and "nobody" in done.document["error"]
    assert (generated.left(), generated.hidden()) == (before, [])


def test_verify(generated: World) -> None:
    done = generated.verify()
    assert done.code == 0
    assert (
        "lock: passed" in done.out
        and "form: passed" in done.out
        and "references: passed" in done.out
    )
    done = generated.verify("--level", "references", "--json")
    assert [item["level"] for item in done.document] == ["references"]
    (generated.out / "python/sglang/srt/cuda.py").write_text("def stop():\n    return 'cuda'\n")
    done = generated.verify("--json")
    assert done.code == 1
    failed = {item["level"]: item["findings"] for item in done.document if not item["passed"]}
    assert failed.keys() == {"form", "references"}
    assert failed["form"][0]["path"] == "python/sglang/srt/cuda.py"
    assert generated.verify().code == 1


def test_verify_finds_a_lock_of_another_run(generated: World) -> None:
    lock = generated.reports / "shrink.lock.json"
    lock.write_text(lock.read_text().replace('"rules_hash": "', '"rules_hash": "0'))
    done = generated.verify("--json")
    assert done.code == 1
    assert [item["level"] for item in done.document if not item["passed"]] == ["lock"]
    assert generated.verify("--level", "references").code == 0


def test_why(generated: World) -> None:
    done = generated.ask("why", "cuda.py")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "module:sglang.srt.cuda",
        "  root:root --root--> module:sglang",
        "  module:sglang --import--> module:sglang.srt.server  python/sglang/__init__.py:1",
        (
            "  module:sglang.srt.server --import--> module:sglang.srt.cuda  "
            "python/sglang/srt/server.py:6"
        ),
    ]
    [chain] = generated.ask("why", "sglang.srt.cuda", "--json").document
    assert [step["line"] for step in chain["steps"]] == [0, 1, 6]


def test_why_not(generated: World) -> None:
    done = generated.ask("why-not", "sglang.srt.npu")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "python/sglang/srt/npu.py: remove-npu: removed feature: Ascend NPU",
        "  python/sglang/srt/server.py:4: folded away by npu: `is_npu()` is false (line 3)",
    ]
    [answer] = generated.ask("why-not", "orphan", "--json").document
    assert answer["rule"] == "unreachable"


@pytest.mark.parametrize(
    ("name", "verdict", "says"),
    [
        ("cuda.py", "kept", "server.py:6"),
        ("sglang.srt.npu", "removed", "remove-npu: removed feature: Ascend NPU"),
        ("remove-npu", "rule", "1 removed file"),
        ("srt", "partly kept", "1 removed: remove-npu"),
    ],
)
def test_explain(generated: World, name: str, verdict: str, says: str) -> None:
    done = generated.ask("explain", name)
    assert (done.code, done.err) == (0, "")
    assert (
        done.out.startswith(f"{verdict}: ") and says in done.out and "\n  to change  " in done.out
    )
    [answer] = generated.ask("explain", name, "--json").document
    assert answer["verdict"] == verdict


@pytest.mark.parametrize(
    ("name", "near"), [("sglang.srt.cudo", "sglang.srt.cuda"), ("--no-such-flag", "")]
)
def test_explain_says_what_may_have_been_meant(generated: World, name: str, near: str) -> None:
    done = generated.ask("explain", name, "--json")
    assert done.code == 2 and name in done.document["error"] and near in done.document["error"]


@pytest.mark.parametrize(("command", "key"), [("why", "target"), ("why-not", "symbol")])
def test_symbols_drawn_at_random(generated: World, command: str, key: str) -> None:
    every = generated.ask(command, "--sample", "1000", "--json").document
    names = {answer[key].removeprefix("symbol:") for answer in every}
    removed = {"sglang.srt.server.PORT"}
    assert removed <= names if command == "why-not" else removed.isdisjoint(names)
    for name in names:
        assert generated.ask(command, name).code == 0
    asked = [command, "--sample", "1", "--json", "--seed"]
    one = [generated.ask(*asked, str(seed)).document for seed in (1, 1, 2, 3, 4)]
    assert one[0] == one[1] and all(answer in every for (answer,) in one)
    for wrong in ([], ["orphan", "--sample", "1"]):
        assert generated.ask(command, *wrong).code == 2


def test_reports_elsewhere(world: World) -> None:
    place = world.folder / "elsewhere/reports"
    assert world.shrink("--reports", str(place)).code == 0
    assert not world.reports.exists()
    done = world.ask("why", "cuda.py")
    assert done.code == 2 and "--reports" in done.err
    assert world.ask("why", "cuda.py", "--reports", str(place)).code == 0


def test_version_and_help(world: World) -> None:
    assert world.run(["--version"]).out.startswith("shrinker ")
    text = world.run(["--help"]).out
    assert "130" in text and "--json" in text


def test_the_manifest_reads_back(generated: World) -> None:
    text = (generated.out / "SHRINK.json").read_text()
    manifest = Manifest.from_json(text, "here")
    assert manifest.to_json() == text
    assert json.loads(text)["upstream"]["spec"] == "path"
    # No path of the machine in what is compared or committed.
    assert str(generated.folder) not in text


def test_symbols_that_nothing_names_go(generated: World) -> None:
    cuda = generated.upstream / "python/sglang/srt/cuda.py"
    cuda.write_text(
        "def start():\n    return inner()\n\n\ndef inner():\n    return 'cuda'\n\n\ndef "
        "lost():\n    return 1\n"
    )
    kept = generated.out / "python/sglang/srt/cuda.py"
    assert generated.shrink().code == 0
    assert "lost" not in kept.read_text()
    done = generated.ask("why-not", "--why-live", "cuda.lost")
    assert done.code == 0
    assert (
        "sglang.srt.cuda.lost (python/sglang/srt/cuda.py:9): unreachable: nothing kept names it"
        in done.out
    )
    assert "no code that was removed names it" in done.out
    done = generated.ask("why", "--all", "cuda.inner")
    assert done.code == 0
    assert (
        "symbol:sglang.srt.cuda.start --name--> symbol:sglang.srt.cuda.inner  "
        "python/sglang/srt/cuda.py:2"
    ) in done.out
    assert (
        generated.ask("why", "cuda.inner", "--json").document[0]["target"]
        == "symbol:sglang.srt.cuda.inner"
    )


def test_the_level_gpu_takes_its_own_options(generated: World) -> None:
    done = generated.verify(
        "--level", "gpu", "--", "--checkpoints", "none", "--cell", "tp2", "--report-only"
    )
    assert (done.code, done.out.split()) == (1, ["tp2", "not", "run"]), (
        "what did not run shows nothing"
    )
    assert "tree.gpu/gpu.json" in generated.left()
    refused = generated.verify("--", "--cell", "tp2")
    assert refused.code == 2 and "level gpu" in refused.err
