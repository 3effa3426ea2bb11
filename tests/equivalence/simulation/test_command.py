"""The command line of the simulation alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from equivalence.simulation.__main__ import parse


@pytest.mark.parametrize("options", [["--capability", "10.0", "tree"], ["tree", "--capability", "10.0"]])
def test_options_stand_on_either_side_of_the_tree(options: list[str]) -> None:
    assert parse([*options, "--", "-m", "x", "--help", "--"]) == (Path("tree"), (10, 0), ["-m", "x", "--help", "--"])


def test_nothing_but_a_tree_is_needed() -> None:
    assert parse(["tree"]) == (Path("tree"), (9, 0), [])


@pytest.mark.parametrize("words", [[], ["--", "tree"], ["tree", "-m", "x"], ["tree", "--capability", "ten", "--"]])
def test_what_is_not_understood_ends_the_command(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(words)
    assert caught.value.code == 2
