"""Wrong rules, planted among the right ones: what each does by itself, and reports that are not
overwritten. What stays as it is comes first.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shrinker.cache import Cache
from shrinker.pipeline import Run, generate
from shrinker.ruleset import Ruleset, with_rule
from shrinker.ruleset.load import MODELS, load_rules
from shrinker.values.errors import InputError
from shrinker.values.upstream import UpstreamTree
from tests.check.trees import manifest_of
from tests.fold.programs import make_tree
from tests.program.small_tree import tree_of, write_below
from tests.program.symbols.support import ROOT
from tests.small import Silent, read_archive
from tools.mutation.direct_effect import DirectEffect
from tools.mutation.page import GOAL, RULES, read_outcomes, rules_page, write_outcomes
from tools.mutation.wrong_rules import ABSENT, ALWAYS, KINDS, WrongRule, draw

P = "python/sglang/"
(_, KEPT), *SMALL = read_archive(Path(__file__).with_name("wrong_rules.txtar")).items()
FILES = {"LICENSE": "mine\n", **{f"{P}{name}": text for name, text in SMALL}}
Plant = Callable[..., tuple[dict[str, str | None], dict[str, str | None]]]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    tree: UpstreamTree = make_tree(tmp_path / "upstream", FILES)
    (rules_file := tmp_path / "rules.toml").write_text(ROOT)
    rules: Ruleset = load_rules([rules_file])
    cache = Cache(tmp_path / "cache")

    def made(name: str, of: Ruleset) -> dict[str, str]:
        (out := tmp_path / name).mkdir()
        manifest = generate(Run(tree, of, 1, Silent(), cache), out)
        return {
            e.path: (out / e.path).read_text()
            for e in manifest.files
            if e.lines_before and e.path.endswith(".py")
        }

    right = made("right", rules)
    direct = DirectEffect(Run(tree, rules, 1, Silent(), cache))

    def planted(table: str, **row: Any) -> tuple[dict[str, str | None], dict[str, str | None]]:
        wrong = WrongRule(ABSENT if table == "absents" else "x", "y", table, tuple(row.items()))
        other = with_rule(rules, table, wrong.data())
        whole = made("wrong", other)
        changed = {path: whole.get(path) for path in right if whole.get(path) != right[path]}
        return direct.of(other, wrong.words), changed

    return planted


def test_a_rule_about_nothing(plant: Plant) -> None:
    assert plant("facts", calls=(".is_other",), value=False) == ({}, {})


def test_a_module_that_is_needed_stays(plant: Plant) -> None:
    assert plant("removes", feature="bases", modules=("sglang.base",)) == ({}, {})


def test_a_predicate_and_all_that_it_gives_a_value(plant: Plant) -> None:
    found, whole = plant("facts", calls=("sglang.flags.is_fast",), value=False)
    # A run sees then that nothing reads the flag any more; what stays of a file is the same.
    assert whole.keys() == found.keys() and {
        path for path, text in whole.items() if text is None
    } == {
        f"{P}flags.py",
        f"{P}between.py",
    }
    assert f"{P}plain.py" not in found
    for path in (f"{P}asks.py", f"{P}far.py"):
        assert (found[path] or "").splitlines()[-1] == (whole[path] or "").splitlines()[-1]
    assert (
        "quick" not in (found[f"{P}far.py"] or "")
        and "fast" not in (found[f"{P}asks.py"] or "").partition("print")[2]
    )


def test_a_module_that_goes(plant: Plant) -> None:
    found, whole = plant("removes", feature="extras", modules=("sglang.extra",))
    assert found == whole and found[f"{P}extra.py"] is None
    assert "extras" in (found[f"{P}loads.py"] or "")


def test_a_package_that_is_there(plant: Plant) -> None:
    found, whole = plant("absents", modules=("fast",))
    assert found.keys() == whole.keys() == {f"{P}tries.py"}
    assert not any(
        "import" in line or "print(gemm)" in line
        for line in (found[f"{P}tries.py"] or "").splitlines()
    )


HEAD = {"format": 2, "seed": 0, "upstream": "release", "profile": "all"}


def row(subject: str, caught_by: str = "", files: int = 1) -> dict[str, object]:
    said = {"subject": subject, "caught_by": caught_by, "finding": "", "files": files}
    return {"kind": KINDS[0], **said, "removed": [], "whole": not caught_by}


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[[int, int], list[str]]:
    upstream, out = tmp_path / "upstream", tmp_path / "out"
    write_below(
        upstream,
        {"srt/a.py": KEPT + "other = x.is_gone if x.is_gone else 1\n", "srt/gone.py": KEPT},
    )
    write_below(out, {"srt/a.py": KEPT})
    tree = tree_of(upstream)

    def subjects(count: int, seed: int) -> list[str]:
        return [
            rule.subject for rule in draw(tree, out, manifest_of(tree, out), count=count, seed=seed)
        ]

    return subjects


def test_every_kind_is_drawn_from_what_is_kept(drawn: Callable[[int, int], list[str]]) -> None:
    found = drawn(1000, 0)
    assert found[: len(ALWAYS)] == [rule.subject for rule in ALWAYS]
    assert sorted(found[len(ALWAYS) :]) == [
        ".enable_cache",
        "DeepseekV3ForCausalLM",
        "SGLANG_FAST",
        "backend: quick",
        "fast",
        "sglang.srt.a",
        "sglang.srt.a.DeepseekV3ForCausalLM",
        "sglang.srt.a.DeepseekV3ForCausalLM.load",
        "sglang.srt.a.Kind",
        "sglang.srt.a.Kind.ONE",
        "sglang.srt.a.TABLE: one",
        "sglang.srt.a.TABLE: two",
        "sglang.srt.a.is_fast",
        "sglang.srt.a.is_fast",
        "sglang.srt.a.run",
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
    assert (
        "50.0 %" in rules_page(data)
        and "`lives`" in rules_page(data)
        and "idle" not in rules_page(data)
    )


def test_the_committed_page_shows_what_a_default_run_notices() -> None:
    """Made by `shrinker mutate --rules`: too long for a test."""
    data = json.loads(
        (Path(__file__).parents[3] / "reports/deepseek" / f"{RULES}.json").read_text()
    )
    caught = {row["subject"]: row["caught_by"] for row in data["rules"]}
    assert all(caught[rule.subject] for rule in ALWAYS)
    changing = [row for row in data["rules"] if row["files"]]
    noticed = [row for row in changing if row["caught_by"]]
    assert 100 * len(noticed) >= GOAL * len(changing)
