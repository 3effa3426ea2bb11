"""The verdict at the end of a run: whether the rules fit the upstream, and what does not."""

import json
from pathlib import Path

import pytest

from tests.cli.small import FILES, RULES, World, small_world
from tests.small import rule

SERVER = "python/sglang/srt/cuda.py"


def rows_of(world: World) -> dict[str, int]:
    fit = json.loads((world.reports / "summary.json").read_text())["fit"]
    return {row["what"]: row["count"] for row in fit["rows"] if row["count"]}


def test_a_run_that_fits_says_so_and_counts_nothing(tmp_path: Path) -> None:
    world = small_world(tmp_path, FILES, RULES)
    done = world.shrink().expect(0)
    assert "verdict: the rules fit this upstream, which is not the pinned one" in done.out
    assert not rows_of(world)
    assert "the rules fit this upstream" in (world.reports / "index.html").read_text()


@pytest.mark.parametrize(
    ("rules", "budget", "what"),
    [
        (
            rule("fact", "old", calls=["sglang.**.is_old"], value=False),
            "",
            "rules that match nothing",
        ),
        (rule("root", "old", modules=["sglang.srt.old"]), "", "roots that are not there"),
        ("", "[budget]\nlines = 1\n", "lines of Python over the budget"),
        (
            rule("reach", "kernels", start="sglang.srt.cuda.start", names=["probe"]),
            "",
            "kernels that are not reached",
        ),
    ],
    ids=[
        "a rule without a match",
        "a missing root",
        "too many lines",
        "a kernel that nothing leads to",
    ],
)
def test_what_does_not_fit_is_counted_and_told(
    tmp_path: Path, rules: str, budget: str, what: str
) -> None:
    files = {**FILES, SERVER: FILES[SERVER] + "\n\ndef probe():\n    return 1\n"}
    profile = f'description = "The small world."\ninclude = ["world"]\n{budget}'
    stated = {"world.toml": f"{RULES['world.toml']}\n{rules}", "profiles/small.toml": profile}
    world = small_world(tmp_path, files, stated)
    done = world.shrink().expect(0)
    assert what in rows_of(world)
    verdict = next(line for line in done.out.splitlines() if line.startswith("verdict: "))
    assert "do not fit" in verdict and what in verdict


def test_a_kernel_that_upstream_does_not_have_is_told_and_not_held_against_the_rules(
    tmp_path: Path,
) -> None:
    rules = rule("reach", "kernels", start="sglang.srt.cuda.start", names=["moe_fused_gate"])
    world = small_world(tmp_path, FILES, {**RULES, "world.toml": f"{RULES['world.toml']}\n{rules}"})
    done = world.shrink().expect(0)
    assert rows_of(world) == {"kernels that this upstream has not": 1}
    assert "the rules fit" in done.out and "moe_fused_gate" in done.out
    told = world.ask(
        "kernels", "--rules", str(world.rules), "--upstream", f"path:{world.upstream}"
    ).expect(0)
    assert "moe_fused_gate: not in this upstream" in told.out


def test_strict_lists_all_that_it_refuses_at_once(tmp_path: Path) -> None:
    rules = rule("fact", "old", calls=["sglang.**.is_old"], value=False)
    world = small_world(tmp_path, FILES, {**RULES, "world.toml": f"{RULES['world.toml']}\n{rules}"})
    done = world.shrink("--strict", "--frozen")
    assert done.code == 1 and "strict mode found 1 thing" in done.err and "rule old" in done.err
    assert "the lock found 1 thing" in done.err and not world.out.exists()
