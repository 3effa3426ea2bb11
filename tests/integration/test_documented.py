"""README and docs/commands.md name no command that is not run: the quick ones here, all of them by
`make readme`. None leaves the checkout changed but those that are there to write reports.
"""

from pathlib import Path

import pytest

from tests.clones import Clone
from tests.documented import ROWS, Row, documented
from tests.integration.shrunk import Shrunk
from tests.small import read_archive

PAGES = [Path(__file__).resolve().parents[2] / name for name in ("README.md", "docs/commands.md")]
QUICK = [row for row in ROWS if not row.slow]


def test_every_command_of_the_readme_has_its_row() -> None:
    rows = [row.command for row in ROWS]
    named = documented("\n".join(page.read_text("utf-8") for page in PAGES))
    assert len(named) > 40 and len(rows) == len(set(rows))
    assert [command for command in named if command not in rows] == [], (
        "give each a row in tests/documented.toml"
    )
    assert [row for row in rows if row not in named] == [], "the pages name them no more"


def test_what_does_not_run_as_it_is_written_says_why() -> None:
    assert [row.command for row in ROWS if bool(row.instead) != bool(row.why)] == []


def test_commands_are_found_in_blocks_and_in_sentences() -> None:
    page = read_archive(Path(__file__).with_name("documented.txtar"))["page.md"]
    assert documented(page) == [
        "make it",
        "make shrink",
        "shrinker why x --all",
        "make again",
        "python -m there",
    ]


@pytest.fixture(scope="module")
def clone(newest: Shrunk, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """With its own environment and tree, as README begins; what was found for the same tree is
    found again.
    """
    made = Clone(tmp_path_factory.mktemp("readme")).make()
    said, wrong = made.run(ROWS[0])
    assert not wrong, f"{wrong}\n{said}"
    return made


@pytest.mark.network
@pytest.mark.parametrize("row", QUICK, ids=lambda row: row.command)
def test_a_command_of_the_readme(clone: Clone, row: Row) -> None:
    said, wrong = clone.run(row)
    assert not wrong, f"{row.instead or row.command}: {wrong}\n{said[-4000:]}"


@pytest.mark.network
def test_what_a_command_should_not_do_is_seen(clone: Clone) -> None:
    """A judge that finds fault with nothing shows nothing."""

    def wrong(command: str, **more: object) -> list[str]:
        return clone.run(Row(command, **more))[1]  # type: ignore[arg-type]

    assert wrong("true") == []
    assert wrong("exit 1") == ["ends with 1 instead of 0"]
    assert wrong("echo a", says="b") == ["does not say 'b'"]
    assert wrong("echo '' >> shrinker/upstream.toml; touch new.txt") == [
        "leaves shrinker/upstream.toml changed",
        "leaves new.txt changed",
    ]
    assert wrong(
        "echo '' >> reports/deepseek/keep.txt; git rm -q LICENSE", writes=("reports/",)
    ) == ["leaves LICENSE changed"]
    assert wrong("true") == [], "and each time it is put right for the next one"
    assert (clone.root / "dist/sglang_deepseek/SHRINK.json").is_file()
