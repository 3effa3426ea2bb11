"""docs/rules.md is what the models say."""

from __future__ import annotations

from tools.rules_page import PAGE, page


def test_the_committed_page_is_that_of_the_models() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tools.rules_page`"


def test_every_key_of_a_kind_is_told() -> None:
    assert "| `only_when_asked` |" in page() and "## `[[reject]]`" in page()
    assert " |  |\n" not in page(), "a key without a docstring"
