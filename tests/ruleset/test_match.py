"""Patterns: `*` within one component, `**` over whole ones, and a package or folder stands for what it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.ruleset import module_matches, path_matches
from shrinker.ruleset.match import name_matches


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("sglang.srt", "sglang.srt", True),
        ("sglang.srt", "sglang.srt.models.llama", True),
        ("sglang.srt", "sglang.srtx", False),
        ("sglang.srt", "sglang", False),
        ("sglang.srt.models.*", "sglang.srt.models.llama", True),
        ("sglang.srt.models.*", "sglang.srt.models.deepseek_common.utils", True),
        ("sglang.srt.models.*", "sglang.srt.models", False),
        ("sglang.**.npu", "sglang.npu", True),
        ("sglang.**.npu", "sglang.srt.hardware_backend.npu.graph", True),
        ("sglang.**.npu", "sglang.srt.npu_graph", False),
        ("sglang.**.npu_*", "sglang.srt.npu_graph", True),
        ("sglang.**.*_npu_*", "sglang.srt.fused_moe_npu_method", True),
        ("sglang.**.*_npu_*", "sglang.srt.fused_npu.moe", False),
        ("sglang.**", "sglang.srt", True),
        ("sglang.**", "other.srt", False),
        ("sglang.a+b", "sglang.aab", False),
        ("**.npu", "sglang.npu", True),
    ],
)
def test_modules(pattern: str, name: str, matches: bool) -> None:
    assert module_matches(pattern, name) is matches


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("sglang.**.is_hip", "sglang.srt.utils.is_hip", True),
        ("sglang.**.is_hip", "sglang.is_hip", True),
        ("sglang.**.is_hip", "sglang.srt.utils.is_hip.inner", False),
        ("sglang.**.is_hip", "torch.is_hip", False),
        ("torch.version.hip", "torch.version.hip", True),
        ("torch.version.hip", "torchxversion.hip", False),
        ("sglang.hooks.maybe_*", "sglang.hooks.maybe_free", True),
        ("sglang.**.is_hip", "sglang.srt.Recorder().is_hip", False),
        ("sglang.**.is_hip", "sglang.srt.Recorder().inner.is_hip", False),
        ("sglang.srt.*.is_hip", "sglang.srt.Recorder().is_hip", False),
        ("sglang.srt.**", "sglang.srt.Recorder().is_hip", False),
        ("sglang.srt.*", "sglang.srt.Recorder()", False),
        ("sglang.**.Recorder().is_hip", "sglang.srt.Recorder().is_hip", True),
        ("sglang.**.get_*().is_hip", "sglang.srt.get_platform().is_hip", True),
        ("sglang.Envs().*.get", "sglang.Envs().SWITCH.get", True),
        ("sglang.Envs().*.get", "sglang.Envs().of().get", False),
    ],
)
def test_names(pattern: str, name: str, matches: bool) -> None:
    assert name_matches(pattern, name) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("sgl-kernel/csrc/cpu", "sgl-kernel/csrc/cpu/a/b.cpp", True),
        ("sgl-kernel/csrc/cpu/", "sgl-kernel/csrc/cpu/a/b.cpp", True),
        ("sgl-kernel/csrc/cpu", "sgl-kernel/csrc/cpu_only.cpp", False),
        ("sgl-kernel/**/*rocm*", "sgl-kernel/setup_rocm.py", True),
        ("sgl-kernel/**/*rocm*", "sgl-kernel/a/b/x.rocm.cu", True),
        ("python/sglang/**/*device_name=AMD*", "python/sglang/srt/c/E=8,device_name=AMD_MI300.json", True),
        ("python/sglang/**/*device_name=AMD*", "python/sglang/srt/c/E=8,device_name=NVIDIA.json", False),
        ("*.toml", "sgl-kernel/pyproject.toml", False),
        ("LICENSE", "LICENSE", True),
        ("python/sglang/**", "python/sglang/a/b.py", True),
    ],
)
def test_paths(pattern: str, path: str, matches: bool) -> None:
    assert path_matches(pattern, path) is matches


@given(st.lists(st.from_regex(r"[a-z_]{1,4}", fullmatch=True), min_size=1, max_size=6), st.data())
def test_a_name_with_parts_replaced_by_stars_matches_itself(parts: list[str], data: st.DataObject) -> None:
    pattern = [data.draw(st.sampled_from([part, "*", part[:1] + "*", "**"])) for part in parts]
    assert name_matches(".".join(pattern), ".".join(parts))
    assert path_matches("/".join(pattern), "/".join([*parts, "below.py"]))
