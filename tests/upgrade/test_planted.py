"""Wrong rules, planted among the right ones, and reports that are not overwritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.ruleset import Ruleset, with_rule
from shrinker.ruleset.load import MODELS
from shrinker.values.errors import InputError
from tests.check.trees import manifest_of, upstream_tree, write_below
from tools.mutation.page import GOAL, RULES, read_outcomes, rules_page, write_outcomes
from tools.mutation.wrong_rules import ALWAYS, KINDS, draw

KEPT = """
TABLE = {"one": 1, "two": 2}


def is_fast(x):
    return x


def run(config, args, envs):
    if is_fast(config) and args.enable_cache and envs.SGLANG_FAST.get():
        return config.backend == "quick"
    return config.architectures not in ("DeepseekV3ForCausalLM", "DeepseekV9ForCausalLM")


class DeepseekV3ForCausalLM: ...
"""
HEAD = {"format": 2, "seed": 0, "upstream": "release", "profile": "all"}


def row(subject: str, caught_by: str = "", files: int = 1) -> dict[str, object]:
    said = {"finding": "", "removed": [], "seconds": 1.5}
    return {
        "kind": KINDS[0],
        "subject": subject,
        "caught_by": caught_by,
        "files": files,
        "whole": not caught_by,
        **said,
    }


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[[int, int], list[str]]:
    upstream, out = tmp_path / "upstream", tmp_path / "out"
    write_below(upstream, {"srt/a.py": KEPT + "other = x.is_gone if x.is_gone else 1\n", "srt/gone.py": KEPT})
    write_below(out, {"srt/a.py": KEPT})
    tree = upstream_tree(upstream)

    def subjects(count: int, seed: int) -> list[str]:
        return [rule.subject for rule in draw(tree, out, manifest_of(tree, out), count=count, seed=seed)]

    return subjects


def test_every_kind_is_drawn_from_what_is_kept(drawn: Callable[[int, int], list[str]]) -> None:
    found = drawn(1000, 0)
    assert found[: len(ALWAYS)] == [rule.subject for rule in ALWAYS]
    assert sorted(found[len(ALWAYS) :]) == [
        ".enable_cache",
        "DeepseekV3ForCausalLM",
        "SGLANG_FAST",
        "backend: quick",
        "sglang.srt.a",
        "sglang.srt.a.TABLE: one",
        "sglang.srt.a.TABLE: two",
        "sglang.srt.a.is_fast",
    ]


def test_a_seed_draws_the_same(drawn: Callable[[int, int], list[str]]) -> None:
    assert drawn(9, 1) == drawn(9, 1)
    assert drawn(8, 1) == drawn(9, 1)[:8]


def test_a_wrong_rule_is_one_of_the_rules() -> None:
    right = Ruleset(digest="right")
    for wrong in ALWAYS:
        rules = with_rule(right, wrong.table, wrong.data())
        (rule,) = getattr(rules, wrong.table)
        assert rule.id == wrong.id and rules.digest != right.digest and rule.id in rules.places
        assert isinstance(rule, MODELS[wrong.table])


def test_an_earlier_run_goes_on(tmp_path: Path) -> None:
    file = tmp_path / f"{RULES}.json"
    assert read_outcomes(file, HEAD) == []
    write_outcomes(tmp_path, HEAD, [row("a")])
    assert [each["subject"] for each in read_outcomes(file, HEAD)] == ["a"]


@pytest.mark.parametrize("text", [None, "{", '{"format": 1, "seed": 0}', "[]"])
def test_reports_of_another_run_are_not_touched(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / f"{RULES}.json"
    write_outcomes(tmp_path, {**HEAD, "seed": 1}, [row("a")])
    if text is not None:
        file.write_text(text)
    before = file.read_bytes()
    with pytest.raises(InputError, match=RULES):
        read_outcomes(file, HEAD)
    assert file.read_bytes() == before


def test_what_changes_nothing_does_not_count(tmp_path: Path) -> None:
    rows = [row("caught", "form"), row("lives"), row("idle", files=0)]
    data = write_outcomes(tmp_path, HEAD, rows)
    assert data["table"] == [[KINDS[0], 3, 2, 1, 1], ["all", 3, 2, 1, 1]]
    assert "50.0 %" in rules_page(data) and "`lives`" in rules_page(data) and "idle" not in rules_page(data)
    assert "seconds" not in (tmp_path / f"{RULES}.json").read_text()


def test_the_committed_page_shows_what_a_default_run_notices() -> None:
    """Made by `shrinker mutate --rules`: too long for a test."""
    data = json.loads((Path(__file__).parents[2] / "reports/deepseek" / f"{RULES}.json").read_text())
    caught = {row["subject"]: row["caught_by"] for row in data["rules"]}
    assert all(caught[rule.subject] for rule in ALWAYS)
    changing = [row for row in data["rules"] if row["files"]]
    noticed = [row for row in changing if row["caught_by"]]
    assert 100 * len(noticed) >= GOAL * len(changing)
