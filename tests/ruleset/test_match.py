"""Patterns: `*` within one component, `**` over whole ones; rules that contradict each other are
refused when they are loaded.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.ruleset import module_matches, path_matches
from shrinker.ruleset.load import load_rules
from shrinker.ruleset.match import name_matches, overlap
from shrinker.values.errors import InputError
from tests import small


@pytest.mark.parametrize(
    ("match", "pattern", "name", "matches"),
    [
        (module_matches, "sglang.srt", "sglang.srt", True),
        (module_matches, "sglang.srt", "sglang.srt.models.llama", True),
        (module_matches, "sglang.srt", "sglang.srtx", False),
        (module_matches, "sglang.srt", "sglang", False),
        (module_matches, "sglang.srt.models.*", "sglang.srt.models.llama", True),
        (module_matches, "sglang.srt.models.*", "sglang.srt.models.deepseek_common.utils", True),
        (module_matches, "sglang.srt.models.*", "sglang.srt.models", False),
        (module_matches, "sglang.**.npu", "sglang.npu", True),
        (module_matches, "sglang.**.npu", "sglang.srt.hardware_backend.npu.graph", True),
        (module_matches, "sglang.**.npu", "sglang.srt.npu_graph", False),
        (module_matches, "sglang.**.npu_*", "sglang.srt.npu_graph", True),
        (module_matches, "sglang.**.*_npu_*", "sglang.srt.fused_moe_npu_method", True),
        (module_matches, "sglang.**.*_npu_*", "sglang.srt.fused_npu.moe", False),
        (module_matches, "sglang.**", "sglang.srt", True),
        (module_matches, "sglang.**", "other.srt", False),
        (module_matches, "sglang.a+b", "sglang.aab", False),
        (module_matches, "**.npu", "sglang.npu", True),
        (name_matches, "sglang.**.is_hip", "sglang.srt.utils.is_hip", True),
        (name_matches, "sglang.**.is_hip", "sglang.is_hip", True),
        (name_matches, "sglang.**.is_hip", "sglang.srt.utils.is_hip.inner", False),
        (name_matches, "sglang.**.is_hip", "torch.is_hip", False),
        (name_matches, "torch.version.hip", "torch.version.hip", True),
        (name_matches, "torch.version.hip", "torchxversion.hip", False),
        (name_matches, "sglang.hooks.maybe_*", "sglang.hooks.maybe_free", True),
        (name_matches, "sglang.**.is_hip", "sglang.srt.Recorder().is_hip", False),
        (name_matches, "sglang.**.is_hip", "sglang.srt.Recorder().inner.is_hip", False),
        (name_matches, "sglang.srt.*.is_hip", "sglang.srt.Recorder().is_hip", False),
        (name_matches, "sglang.srt.**", "sglang.srt.Recorder().is_hip", False),
        (name_matches, "sglang.srt.*", "sglang.srt.Recorder()", False),
        (name_matches, "sglang.**.Recorder().is_hip", "sglang.srt.Recorder().is_hip", True),
        (name_matches, "sglang.**.get_*().is_hip", "sglang.srt.get_platform().is_hip", True),
        (name_matches, "sglang.Envs().*.get", "sglang.Envs().SWITCH.get", True),
        (name_matches, "sglang.Envs().*.get", "sglang.Envs().of().get", False),
        (path_matches, "sgl-kernel/csrc/cpu", "sgl-kernel/csrc/cpu/a/b.cpp", True),
        (path_matches, "sgl-kernel/csrc/cpu/", "sgl-kernel/csrc/cpu/a/b.cpp", True),
        (path_matches, "sgl-kernel/csrc/cpu", "sgl-kernel/csrc/cpu_only.cpp", False),
        (path_matches, "sgl-kernel/**/*rocm*", "sgl-kernel/setup_rocm.py", True),
        (path_matches, "sgl-kernel/**/*rocm*", "sgl-kernel/a/b/x.rocm.cu", True),
        (
            path_matches,
            "python/sglang/**/*device_name=AMD*",
            "python/sglang/srt/c/E=8,device_name=AMD_MI300.json",
            True,
        ),
        (
            path_matches,
            "python/sglang/**/*device_name=AMD*",
            "python/sglang/srt/c/E=8,device_name=NVIDIA.json",
            False,
        ),
        (path_matches, "*.toml", "sgl-kernel/pyproject.toml", False),
        (path_matches, "LICENSE", "LICENSE", True),
        (path_matches, "python/sglang/**", "python/sglang/a/b.py", True),
    ],
)
def test_patterns(
    match: Callable[[str, str], bool], pattern: str, name: str, matches: bool
) -> None:
    assert match(pattern, name) is matches


@given(st.lists(st.from_regex(r"[a-z_]{1,4}", fullmatch=True), min_size=1, max_size=6), st.data())
def test_a_name_with_parts_replaced_by_stars_matches_itself(
    parts: list[str], data: st.DataObject
) -> None:
    pattern = [data.draw(st.sampled_from([part, "*", part[:1] + "*", "**"])) for part in parts]
    assert name_matches(".".join(pattern), ".".join(parts))
    assert path_matches("/".join(pattern), "/".join([*parts, "below.py"]))


ONE_TEXT, AS_WRITTEN = ("feature", "package"), ("value", "exact")


def rule(name: str, text: str) -> str:
    """A rule of a kind with keys, as in `fact calls=one.name,other.name value=false`."""
    kind, *keys = text.split()
    pairs = [key.split("=", 1) for key in keys]
    texts: dict[str, Any] = {
        key: value if key in ONE_TEXT else value.split(",")
        for key, value in pairs
        if key not in AS_WRITTEN
    }
    return small.rule(
        kind, name, *(f"{key} = {value}" for key, value in pairs if key in AS_WRITTEN), **texts
    )


def load(folder: Path, *rules: str) -> None:
    path = folder / "world.toml"
    path.write_text("".join(rules))
    load_rules([path])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # The same thing said twice.
        ("fact calls=sglang.**.is_hip value=false", "fact calls=sglang.a.is_hip value=false"),
        # Different things.
        ("fact calls=sglang.**.is_hip value=false", "fact calls=sglang.**.is_cuda value=true"),
        # A call and a name are different things, and so are a method of anything and a function.
        ("fact calls=sglang.**.is_hip value=false", "fact names=sglang.**.is_hip value=true"),
        ("fact environment=X value=false", "fact environment=X value=false"),
        # A part of what is kept may be removed, and an exception is one.
        (
            "root modules=sglang.srt paths=native",
            "remove feature=npu modules=sglang.srt.npu paths=native/cpu",
        ),
        (
            "walk package=sglang.models keep=deepseek",
            "remove feature=others modules=sglang.models.* unless=sglang.models.deepseek",
        ),
        # How the use of a removed function becomes decidable.
        (
            "fact calls=sglang.npu.hooks.maybe_*",
            "remove feature=npu modules=sglang.npu only_when_asked=sglang.npu.quant.*",
        ),
        ("fact names=torch.version.hip", "absent modules=torch_npu"),
        (
            "fact calls=sglang.npu.quant.f value=false",
            "remove feature=npu modules=sglang.npu only_when_asked=sglang.npu.**",
        ),
        ('fact names=sys.platform value="linux"', "domain names=sys.platform never=win32"),
    ],
)
def test_no_contradiction(tmp_path: Path, one: str, other: str) -> None:
    load(tmp_path, rule("a", one), rule("b", other))


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (
            "fact calls=sglang.**.is_hip value=false",
            "fact calls=sglang.utils.is_hip value=true",
            ["rule a says sglang.**.is_hip is false", "rule b says sglang.utils.is_hip is true"],
        ),
        (
            "fact names=sglang.x.flag value=true",
            "fact attributes=sglang.*.flag value=true exact=false",
            ["is true, but", "true (only its truth)"],
        ),
        (
            "fact environment=X value=false",
            "fact environment=Y,X",
            ["the variable X is false", "it is None"],
        ),
        (
            'fact calls=platform.system value="Linux"',
            "domain calls=platform.* never=Linux",
            ["platform.system is Linux", "platform.* never is"],
        ),
        (
            "root modules=sglang.srt.npu.start",
            "remove feature=npu modules=sglang.**.npu",
            ["keeps sglang.srt.npu.start", "sglang.**.npu is removed"],
        ),
        ("keep modules=aiter.ops", "absent modules=aiter", ["keeps aiter.ops", "not installed"]),
        (
            "walk package=sglang.models keep=llama",
            "remove feature=others modules=sglang.models.*",
            ["keeps sglang.models.llama"],
        ),
        (
            "keep paths=native/cpu/a.cc",
            "remove feature=cpu paths=native/cpu",
            ["keeps native/cpu/a.cc"],
        ),
        (
            "fact names=torch.npu value=false",
            "absent attributes=torch.npu",
            ["torch.npu is false", "no such thing"],
        ),
        (
            "fact calls=sglang.npu.quant.f value=false",
            "remove feature=npu modules=sglang.npu only_when_asked=sglang.npu.quant.f",
            ["sglang.npu.quant.f is false", "a use of sglang.npu.quant.f is an error"],
        ),
    ],
)
def test_both_rules_are_named(tmp_path: Path, one: str, other: str, words: list[str]) -> None:
    first = rule("a", one)
    second = len(first.splitlines()) + 1
    with pytest.raises(InputError) as caught:
        load(tmp_path, first, rule("b", other))
    for word in ("world.toml:1: rule a", f"world.toml:{second}: rule b", *words):
        assert word in caught.value.message
    assert caught.value.next_step


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
