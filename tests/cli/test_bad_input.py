"""Bad usage and bad input: exit code 2, a message that names the place, and the next step; nothing
is replaced.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.small import Done, World
from tests.small import python, write

REPOSITORY = Path(__file__).resolve().parents[2]


def refused(world: World, done: Done, *words: str) -> None:
    """Exit code 2, the words in the message, a next step, no traceback, no temporary folder."""
    assert done.code == 2, done.err
    last = done.err.strip().splitlines()
    assert last[-1].startswith("next: ") and len(last[-1]) > len("next: ")
    error = done.err[done.err.index("error: ") :]
    for word in words:
        assert word in error
    assert "Traceback" not in done.err
    assert not world.out.parent.exists() or world.hidden() == []


def test_an_error_is_a_json_document_too(world: World) -> None:
    done = world.shrink("--json", upstream="release:not-a-version")
    assert done.code == 2
    assert done.document.keys() == {"error", "exit", "next"} and done.document["exit"] == 2
    assert "not a version" in done.document["error"] and "not a version" in done.err


@pytest.mark.parametrize(
    "words", [["mutate"], ["mutate", "--rules"], ["cross-check"], ["ablate", "a-rule"]]
)
def test_an_installed_wheel_has_no_tools(words: list[str]) -> None:
    code = "import sys; sys.modules['tools'] = None; from shrinker.cli import main; main()"
    done = python(REPOSITORY, "-c", code, *words, "--json")
    document = json.loads(done.stdout)
    assert done.returncode == document["exit"] == 2 and "Traceback" not in done.stderr
    assert "tools/" in document["error"] and "checkout" in document["next"]


@pytest.mark.parametrize(
    "arguments", [["shrink", "--nope"], ["nope"], ["shrink", "--jobs", "0"], ["why"]]
)
def test_bad_usage(world: World, arguments: list[str]) -> None:
    done = world.run([*arguments, "--json"])
    assert done.code == 2 and done.document["exit"] == 2
    assert (
        done.document["error"] in done.err.replace("\n", " ")
        or done.document["error"].split(":")[0] in done.err
    )
    assert world.run(arguments).code == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("wheel:0.5.7", ["none of the forms", "git:PATH_OR_URL@COMMIT"]),
        ("path:rules", ["is not SGLang", "python/sglang/__init__.py"]),
        ("release:0.5.7", ["http://127.0.0.1:9/simple/sglang/", "cannot be reached", "path:DIR"]),
    ],
)
def test_specs(world: World, spec: str, words: list[str]) -> None:
    refused(world, world.shrink(upstream=spec), *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"def broken(:\n", ["python/sglang/srt/cuda.py:4", "does not parse"]),
        (b"NAME = '\xe9'\n", ["python/sglang/srt/cuda.py:"]),
        (b"# \xff\xfe\nX = 1\n", ["python/sglang/srt/cuda.py:"]),
        (b"x = 1\0\n", ["python/sglang/srt/cuda.py:"]),
    ],
)
def test_a_needed_file_that_cannot_be_read(
    generated: World, content: bytes, words: list[str]
) -> None:
    before = generated.left()
    (generated.upstream / "python/sglang/srt/cuda.py").write_bytes(
        b"def start():\n    return 'cuda'\n\n" + content
    )
    refused(generated, generated.shrink(), *words)
    assert generated.left() == before


def test_a_file_that_is_not_needed_may_be_broken(world: World) -> None:
    (world.upstream / "python/sglang/srt/orphan.py").write_text("def broken(:\n")
    (world.upstream / "python/sglang/srt/npu.py").write_bytes(b"\xff\xfe broken")
    assert world.shrink().code == 0


def test_a_rule_file_with_a_typo(world: World) -> None:
    rules = world.rules / "world.toml"
    rules.write_text(rules.read_text().replace("calls = ", "call = "))
    refused(world, world.shrink(), "world.toml:9", "'call'", "did you mean 'calls'")


def test_a_root_that_is_not_there(world: World) -> None:
    rules = world.rules / "world.toml"
    rules.write_text(
        rules.read_text().replace('modules = ["sglang"]', 'modules = ["sglang.srt.sever"]')
    )
    done = world.shrink("--strict")
    assert done.code in (1, 2)
    assert "sglang.srt.sever" in done.err and "root" in done.err
    assert not world.out.exists() and world.hidden() == []


def test_an_output_that_cannot_be_written(world: World) -> None:
    world.out.parent.write_text("a file where a folder should be")
    done = world.shrink()
    assert done.code == 2 and str(world.out.parent) in done.err and "OUT" in done.err
    # Said in the first moment, not after the work.
    assert "] facts" not in done.err


def test_reports_that_cannot_be_written(generated: World) -> None:
    before = generated.left()
    (generated.folder / "file").write_text("")
    done = generated.shrink("--reports", str(generated.folder / "file/reports"))
    refused(generated, done, "file", "reports")
    assert generated.left() == before


def test_an_output_that_is_not_a_generated_tree(world: World) -> None:
    write(world.out, {"thesis.tex": "precious"})
    refused(world, world.shrink(), "not a generated tree", str(world.out))
    assert world.left() == {"tree/thesis.tex": b"precious"}
    done = world.ask("verify")
    refused(world, done, "SHRINK.json", "make shrink")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 99}', "\xff"])
def test_a_manifest_that_is_none(generated: World, text: str) -> None:
    (generated.out / "SHRINK.json").write_bytes(text.encode("latin-1"))
    for command in (["verify"], ["why", "cuda.py"]):
        refused(generated, generated.ask(*command), "SHRINK.json")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("verify --level reference", ["'reference'", "form, references"]),
        ("verify --tests here --level form", ["--tests is for the level tests alone"]),
        ("verify", ["--upstream git:PATH_OR_URL@COMMIT"]),
        ("why sglang.srt.servr", ["'sglang.srt.servr'", "did you mean", "sglang.srt.server"]),
        ("why npu.py", ["not in the generated tree", "why-not"]),
        ("why-not sglang.srt.nqu", ["'sglang.srt.nqu'"]),
        ("why-not cuda.py", ["is kept", "shrinker why"]),
    ],
)
def test_what_cannot_be_answered(generated: World, command: str, words: list[str]) -> None:
    refused(generated, generated.ask(*command.split()), *words)


def test_a_graph_of_another_run(generated: World) -> None:
    lock = generated.reports / "shrink.lock.json"
    lock.write_text(lock.read_text().replace('"lines_after": ', '"lines_after": 1'))
    done = generated.ask("why", "cuda.py")
    refused(generated, done, "belongs to another tree", "make shrink")
    shutil.rmtree(generated.reports)
    refused(generated, generated.ask("why", "cuda.py"), "graph.json", "make shrink")


def test_verify_of_running_trees_needs_its_environment(
    generated: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHRINKER_SIMULATION_PYTHON", str(tmp_path / "python"))
    done = generated.run(
        [
            "verify",
            "--out",
            str(generated.out),
            "--upstream",
            f"path:{generated.upstream}",
            "--level",
            "imports",
        ]
    )
    refused(generated, done, "make simulation")
