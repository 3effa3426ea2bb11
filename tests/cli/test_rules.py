"""`profiles` and `rules`, shell completion, and what `--help` says: in each command, whole, with
examples that parse.
"""

import os
import re
import shlex
import tomllib
from typing import Any

import pytest
import typer.main

from equivalence.levels import LEVELS_BY_NAME, SIMULATED_LEVELS
from shrinker.check.embedders import LEVEL as EMBEDDERS
from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.cli import EXAMPLES, app
from shrinker.cli.options import LEVELS
from shrinker.cli.verify import NATIVE_LEVEL
from tests.cli.small import RULES, World
from tests.small import python, rule

GROUP: Any = typer.main.get_command(app)
COMMANDS = sorted(GROUP.commands)


@pytest.fixture
def ruled(world: World) -> World:
    """With a rule that has nothing to do, one that only judges, and comments between them."""
    fact = rule("fact", "mps", calls=["**.is_mps"], value=False)
    world.add(
        "rules/world.toml",
        f"\n# Of the next one.\n{fact}\n{rule('platform', 'npus', words=['npu'])}",
    )
    return world


def _at(world: World, *more: str) -> list[str]:
    places = (
        ["--out", str(world.out), "--reports", str(world.reports)] if more[:1] == ("rules",) else []
    )
    return [
        *more,
        "--rules",
        str(world.rules),
        *(["--profile", "small", *places] if places else []),
    ]


def test_profiles(world: World) -> None:
    done = world.run(_at(world, "profiles"))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "small: The small world.",
        "  rules/profiles/small.toml",
        "  files: world.toml",
    ]
    [row] = world.run([*_at(world, "profiles"), "--json"]).document
    assert (row["name"], row["include"], row["description"]) == (
        "small",
        ["world"],
        "The small world.",
    )
    (world.rules / "profiles/small.toml").write_text('descripton = ""\n')
    done = world.run(_at(world, "profiles"))
    assert (
        done.code == 2 and "small.toml:1" in done.err and "did you mean 'description'" in done.err
    )


def test_rules_before_there_is_a_tree(ruled: World) -> None:
    done = ruled.run(_at(ruled, "rules"))
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()[:5]] == [
        ["root", "root", "rules/world.toml:1"],
        ["npu", "fact", "rules/world.toml:6"],
        ["remove-npu", "remove", "rules/world.toml:12"],
        ["mps", "fact", "rules/world.toml:19"],
        ["npus", "platform", "rules/world.toml:25"],
    ]
    assert done.out.splitlines()[-1].startswith("effects: ") and "SHRINK.json" in done.out
    unused = ruled.run([*_at(ruled, "rules"), "--unused"])
    assert unused.code == 2 and "make shrink" in unused.err


def test_rules_say_what_they_did(ruled: World) -> None:
    assert ruled.shrink().code == 0
    document = ruled.run([*_at(ruled, "rules"), "--json"]).document
    effects = {row["id"]: row["effect"] for row in document["rules"]}
    assert effects["root"] == {"kept": 1}
    assert effects["remove-npu"] == {"files": 1, "lines": 2}
    assert effects["npu"]["decisions"] >= 1 and effects["npu"]["folded_lines"] >= 2
    assert effects["mps"] == {} and effects["npus"] is None, "what only judges did not do nothing"
    unused = ruled.run([*_at(ruled, "rules"), "--unused"])
    assert [line.split()[0] for line in unused.out.splitlines()[:-1]] == ["mps"]
    listed = ruled.run(_at(ruled, "rules")).out
    assert "1 removed file, 2 lines" in listed and "effects:" not in listed
    ruled.add("rules/world.toml", "# changed\n")
    assert "have changed" in ruled.run(_at(ruled, "rules")).out
    (ruled.reports / "rules.json").write_text('{"format": 1, "rules": {}}')
    assert "older shrinker" in ruled.run(_at(ruled, "rules")).out


def test_a_rule_is_shown_whole_and_alone(ruled: World) -> None:
    done = ruled.run([*_at(ruled, "rules"), "remove-npu"])
    said, place, _, *text = done.out.splitlines()
    assert said == "remove-npu: The backend of another platform." and place == "rules/world.toml:12"
    shown = tomllib.loads("\n".join(text[: text.index("")]))
    assert [shown] == [{"remove": [row]} for row in tomllib.loads(RULES["world.toml"])["remove"]]
    assert "mps" not in done.out and "Of the next one" not in done.out
    wrong = ruled.run([*_at(ruled, "rules"), "remove-npo"])
    assert wrong.code == 2 and "did you mean 'remove-npu'?" in wrong.err


@pytest.mark.parametrize(
    "command",
    [["profiles"], ["rules"], ["ablate", "npu"], ["shrink"], ["check-upstream", "path:upstream"]],
)
def test_a_folder_of_rules_that_is_none(world: World, command: list[str]) -> None:
    for folder in ("/nonexistent", str(world.upstream)):
        done = world.run([*command, "--rules", folder])
        assert done.code == 2 and f"error: {folder} is no folder of rules" in done.err
        assert "next: " in done.err and "profiles/" in done.err and "Traceback" not in done.err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_two_names_and_is_not_cut(world: World, command: str) -> None:
    words = [command] if command else []
    short, long = (world.run([*words, flag], COLUMNS="80") for flag in ("-h", "--help"))
    assert short == long and (short.code, short.err) == (0, "")
    assert not re.search(r"(?m)(\w\.\.\.|…)$", short.out)
    assert max(map(len, short.out.splitlines())) <= 80
    if command:
        assert f"Examples:\n\n    shrinker {command}" in short.out


def test_every_command_is_listed_with_its_whole_first_sentence(world: World) -> None:
    listed = " ".join(world.run(["--help"], COLUMNS="80").out.partition("Commands:")[2].split())
    for name in COMMANDS:
        text = " ".join(GROUP.commands[name].help.split())
        assert f"{name} {text.partition('. ')[0].removesuffix('.')}." in listed


def test_examples_parse() -> None:
    assert sorted(EXAMPLES) == COMMANDS
    for name, lines in EXAMPLES.items():
        for line in lines:
            program, command, *words = shlex.split(line)
            assert (program, command) == ("shrinker", name)
            # Raises what a wrong option would end with; nothing is run.
            GROUP.commands[name].make_context(name, words)
    with pytest.raises(Exception, match="No such option"):
        GROUP.commands["why"].make_context("why", ["--nope"])


def test_it_is_a_module_too(world: World) -> None:
    done = python(world.folder, "-m", "shrinker", "--version", env=world.environment())
    assert (done.returncode, done.stdout) == (0, world.run(["--version"]).out)


def test_what_a_shell_shows_of_a_command_is_one_line(world: World) -> None:
    """A second line would be another answer; nothing in brackets is taken for a style."""
    asked = {"_SHRINKER_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = python(
        world.folder,
        "-m",
        "shrinker",
        env=world.environment(**asked, _TYPER_COMPLETE_ARGS="shrinker "),
    )
    rows = [row.split("\t") for row in done.stdout.strip().splitlines()]
    assert [name for name, *_ in rows] == list(GROUP.commands)
    assert all(len(row) == 2 and "[]" not in row[1] for row in rows)


def _completed(world: World, line: str) -> list[str]:
    """What a shell is offered for the last word of a line."""
    words = line.split(" ")
    asked = {
        "_SHRINKER_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = python(world.folder, "-m", "shrinker", env=world.environment(**asked))
    assert done.stderr == ""
    return done.stdout.split()


def test_completion(world: World) -> None:
    assert _completed(world, "shrinker why") == ["why", "why-not"]
    # The rules of the project, which this folder is; without it those of the package.
    assert _completed(world, "shrinker shrink --profile sm") == ["small"]
    world.rules.rename(world.folder / "elsewhere")
    assert _completed(world, "shrinker shrink --profile deepseek-r1-m") == ["deepseek-r1-minimal"]
    (world.folder / "elsewhere").rename(world.rules)
    assert _completed(world, "shrinker shrink --rules rules --profile ") == ["small"]
    assert _completed(world, "shrinker verify --level ") == list(LEVELS)
    assert _completed(world, "shrinker mutate --level ") == list(EVIDENCE_LEVELS)
    assert _completed(world, "shrinker rules --rules rules --profile small re") == ["remove-npu"]
    assert _completed(world, "shrinker ablate --rules nowhere re") == []


def test_levels_offered_are_those_that_there_are() -> None:
    assert (
        *EVIDENCE_LEVELS,
        EMBEDDERS,
        *SIMULATED_LEVELS,
        *LEVELS_BY_NAME,
        NATIVE_LEVEL,
        "gpu",
    ) == LEVELS


def test_completion_is_installed_in_the_home_folder_only(world: World) -> None:
    (world.folder / "home").mkdir()
    done = world.run(
        ["--install-completion", "bash"], _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )
    left = {
        path.name for path in world.folder.rglob("*") if path.is_file() and "home" in path.parts
    }
    assert (done.code, left) == (0, {".bashrc", "shrinker.sh"}), done
    assert os.environ["HOME"] != str(world.folder / "home")
