"""Rules that contradict each other are refused when they are loaded; rules that only look alike are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.project import RULES_FOLDER
from shrinker.ruleset.load import load_profile, load_rules
from shrinker.ruleset.match import overlap
from shrinker.values.errors import InputError

PROFILES = sorted(path.stem for path in (RULES_FOLDER / "profiles").glob("*.toml"))


def rule(kind: str, name: str, **keys: str) -> str:
    rows = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'[[{kind}]]\nid = "{name}"\nwhy = "A rule of a test."\n{rows}\n'


def load(folder: Path, *rules: str) -> None:
    path = folder / "world.toml"
    path.write_text("".join(rules))
    load_rules([path])


@pytest.mark.parametrize(
    "rules",
    [
        # The same thing said twice.
        [
            rule("fact", "a", calls='["sglang.**.is_hip"]', value="false"),
            rule("fact", "b", calls='["sglang.a.is_hip"]', value="false"),
        ],
        # Different things.
        [
            rule("fact", "a", calls='["sglang.**.is_hip"]', value="false"),
            rule("fact", "b", calls='["sglang.**.is_cuda"]', value="true"),
        ],
        # A call and a name are different things, and so are a method of anything and a function.
        [
            rule("fact", "a", calls='["sglang.**.is_hip"]', value="false"),
            rule("fact", "b", names='["sglang.**.is_hip"]', value="true"),
        ],
        [
            rule("fact", "a", environment='["X"]', value="false"),
            rule("fact", "b", environment='["X"]', value="false"),
        ],
        # A part of what is kept may be removed, and an exception is one.
        [
            rule("root", "a", modules='["sglang.srt"]', paths='["native"]'),
            rule("remove", "b", feature='"npu"', modules='["sglang.srt.npu"]', paths='["native/cpu"]'),
        ],
        [
            rule("walk", "a", package='"sglang.models"', keep='["deepseek"]'),
            rule("remove", "b", feature='"others"', modules='["sglang.models.*"]', unless='["sglang.models.deepseek"]'),
        ],
        # How the use of a removed function becomes decidable.
        [
            rule("fact", "a", calls='["sglang.npu.hooks.maybe_*"]'),
            rule("remove", "b", feature='"npu"', modules='["sglang.npu"]', only_when_asked='["sglang.npu.quant.*"]'),
        ],
        [rule("fact", "a", names='["torch.version.hip"]'), rule("absent", "b", modules='["torch_npu"]')],
        [
            rule("fact", "a", calls='["sglang.npu.quant.f"]', value="false"),
            rule("remove", "b", feature='"npu"', modules='["sglang.npu"]', only_when_asked='["sglang.npu.**"]'),
        ],
        [
            rule("fact", "a", names='["sys.platform"]', value='"linux"'),
            rule("domain", "b", names='["sys.platform"]', never='["win32"]'),
        ],
    ],
)
def test_no_contradiction(tmp_path: Path, rules: list[str]) -> None:
    load(tmp_path, *rules)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (
            [
                rule("fact", "a", calls='["sglang.**.is_hip"]', value="false"),
                rule("fact", "b", calls='["sglang.utils.is_hip"]', value="true"),
            ],
            ["rule a says sglang.**.is_hip is false", "rule b says sglang.utils.is_hip is true"],
        ),
        (
            [
                rule("fact", "a", names='["sglang.x.flag"]', value="true"),
                rule("fact", "b", attributes='["sglang.*.flag"]', value="true", exact="false"),
            ],
            ["is true, but", "true (only its truth)"],
        ),
        (
            [rule("fact", "a", environment='["X"]', value="false"), rule("fact", "b", environment='["Y", "X"]')],
            ["the variable X is false", "it is None"],
        ),
        (
            [
                rule("fact", "a", calls='["platform.system"]', value='"Linux"'),
                rule("domain", "b", calls='["platform.*"]', never='["Linux"]'),
            ],
            ["platform.system is Linux", "platform.* never is"],
        ),
        (
            [
                rule("root", "a", modules='["sglang.srt.npu.start"]'),
                rule("remove", "b", feature='"npu"', modules='["sglang.**.npu"]'),
            ],
            ["keeps sglang.srt.npu.start", "sglang.**.npu is removed"],
        ),
        (
            [rule("keep", "a", modules='["aiter.ops"]'), rule("absent", "b", modules='["aiter"]')],
            ["keeps aiter.ops", "not installed"],
        ),
        (
            [
                rule("walk", "a", package='"sglang.models"', keep='["llama"]'),
                rule("remove", "b", feature='"others"', modules='["sglang.models.*"]'),
            ],
            ["keeps sglang.models.llama"],
        ),
        (
            [
                rule("keep", "a", paths='["native/cpu/a.cc"]'),
                rule("remove", "b", feature='"cpu"', paths='["native/cpu"]'),
            ],
            ["keeps native/cpu/a.cc"],
        ),
        (
            [rule("fact", "a", names='["torch.npu"]', value="false"), rule("absent", "b", attributes='["torch.npu"]')],
            ["torch.npu is false", "no such thing"],
        ),
        (
            [
                rule("fact", "a", calls='["sglang.npu.quant.f"]', value="false"),
                rule(
                    "remove", "b", feature='"npu"', modules='["sglang.npu"]', only_when_asked='["sglang.npu.quant.f"]'
                ),
            ],
            ["sglang.npu.quant.f is false", "a use of sglang.npu.quant.f is an error"],
        ),
    ],
)
def test_both_rules_are_named(tmp_path: Path, rules: list[str], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, *rules)
    second = rules[0].count("\n") + 1
    for word in ("world.toml:1: rule a", f"world.toml:{second}: rule b", *words):
        assert word in caught.value.message
    assert caught.value.next_step


@pytest.mark.parametrize("profile", PROFILES)
def test_no_profile_contradicts_itself(profile: str) -> None:
    assert load_profile(profile).places


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.c", False),
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", False),
        ("a.**.c", "a.c", True),
        ("a.**.c", "a.x.y.c", True),
        ("**.c", "a.**", True),
        ("**", "a", True),
        ("a.is_*", "a.*_hip", True),
        ("a.is_*", "a.has_*", False),
        ("a.*_npu", "a.*_hip", False),
        (".is_hip", "sglang.**.is_hip", False),
        ("a.**.is_hip", "a.get().is_hip", False),
        ("a.**.get().is_hip", "a.b.get().is_hip", True),
        ("a.*.is_hip", "a.get().is_hip", False),
        ("a.*.is_hip", "a.get_*().is_hip", False),
        ("a.*().is_hip", "a.get_*().is_hip", True),
    ],
)
def test_overlap(one: str, other: str, expected: bool) -> None:
    assert overlap(one, other) is expected
    assert overlap(other, one) is expected
