"""Patterns: `*` within one component, `**` over whole ones, and a package or folder stands for what it holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shrinker.ruleset import module_matches, path_matches
from shrinker.ruleset.match import name_matches


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
        (path_matches, "python/sglang/**/*device_name=AMD*", "python/sglang/srt/c/E=8,device_name=NVIDIA.json", False),
        (path_matches, "*.toml", "sgl-kernel/pyproject.toml", False),
        (path_matches, "LICENSE", "LICENSE", True),
        (path_matches, "python/sglang/**", "python/sglang/a/b.py", True),
    ],
)
def test_patterns(match: Callable[[str, str], bool], pattern: str, name: str, matches: bool) -> None:
    assert match(pattern, name) is matches


@given(st.lists(st.from_regex(r"[a-z_]{1,4}", fullmatch=True), min_size=1, max_size=6), st.data())
def test_a_name_with_parts_replaced_by_stars_matches_itself(parts: list[str], data: st.DataObject) -> None:
    pattern = [data.draw(st.sampled_from([part, "*", part[:1] + "*", "**"])) for part in parts]
    assert name_matches(".".join(pattern), ".".join(parts))
    assert path_matches("/".join(pattern), "/".join([*parts, "below.py"]))
