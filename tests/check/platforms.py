"""Rules of a small profile that name other platforms."""

from __future__ import annotations

from shrinker.ruleset import Absent, Fact, Platform, Remove, Ruleset

WHY = "A rule of a test."
RULES = Ruleset(
    facts=(
        Fact(id="npu", why=WHY, calls=("sglang.**.is_npu", ".is_aiter"), value=False),
        Fact(id="cpu", why=WHY, calls=("sglang.**.is_cpu", "torch.xpu.is_available"), value=False),
        Fact(id="cuda", why=WHY, calls=("sglang.**.is_cuda",), value=True, exact=False),
        Fact(id="version", why=WHY, names=("torch.version.hip",)),
        Fact(id="hooks", why=WHY, calls=("sglang.hooks.maybe_*",)),
        Fact(id="switch", why=WHY, environment=("SGLANG_FAST",), value=False),
    ),
    absents=(Absent(id="absent", why=WHY, modules=("aiter", "quark")),),
    removes=(Remove(id="remove", why=WHY, feature="NPU", modules=("sglang.srt.npu_*",)),),
    platforms=(
        Platform(id="words", why=WHY, words=("npu", "hip", "rocm", "aiter", "gfx*", "xpu")),
        Platform(id="own", why=WHY, words=("sm*",), own=True),
    ),
)
