"""What broke by hand, put into a small tree: each kind of entry, and that a level catches it."""

from pathlib import Path

import pytest

from shrinker.check.levels import EVIDENCE_LEVELS
from tests.check.trees import Build
from tests.small import read_archive
from tools.mutation.faults import Breakage, breakage_fault, declared, why_skipped
from tools.mutation.judge import judge_all
from tools.mutation.page import breakages_data, rendered

UPSTREAM = read_archive(Path(__file__).with_name("breakages.txtar"))
KERNELS = UPSTREAM["//kernels/csrc/extension.cc"]
NOTE = (
    "Modified by shrinker: parts not used by this profile were removed. See NOTICE and "
    "SHRINK.json.\n"
)
GENERATED = {
    **dict.fromkeys(UPSTREAM, "="),
    # Something of them went already.
    "//kernels/csrc/extension.cc": f"// {NOTE}{KERNELS}",
    "//kernels/CMakeLists.txt": f"# {NOTE}{UPSTREAM['//kernels/CMakeLists.txt']}",
    "kinds.py": "def is_cpu():\n    return False\n",
    "user.py": (
        "from sglang.state import Group, Merged, get_group\n\n\ndef run():\n"
        "    return get_group(), Group, Merged\n"
    ),
}

BREAKAGES = {
    "cut": (Breakage(name="x", modules=("sglang.state",), cut=0.4), "imports"),
    "deleted": (Breakage(name="x", modules=("sglang.**",), delete=("Column", "Merged")), "imports"),
    "imported": (Breakage(name="x", modules=("sglang.user",), left=("ChatConfig",)), "imports"),
    "read": (Breakage(name="x", modules=("sglang.**",), read="_is_cpu"), "undefined names"),
    "package": (Breakage(name="x", files=("python/sglang/sparse/**",)), "imports"),
    "symbol": (Breakage(name="x", files=("kernels/csrc/mamba.cu",)), "build lists"),
    "header": (Breakage(name="x", files=("kernels/include/**",)), "includes"),
    "registration": (Breakage(name="x", files=("kernels/csrc/*.cc",), lines='"scan'), "callers"),
    "hole": (Breakage(name="x", files=("kernels/CMakeLists.txt",), lines="mamba"), "build lists"),
    "library": (Breakage(name="x", files=("kernels/python/kernels/mamba.py",)), "companions"),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_each_kind_is_put_in_and_caught(case: Build, name: str) -> None:
    trees = case(UPSTREAM, GENERATED)
    breakage, check = BREAKAGES[name]
    fault = breakage_fault(breakage, trees.tree, trees.out, trees.manifest)
    assert fault is not None
    (judged,) = judge_all(trees.trees(), [fault], EVIDENCE_LEVELS)
    assert judged.caught_by == "references"
    assert f"[{check}]" in judged.finding


def test_a_symbol_that_only_a_removed_source_defines(case: Build) -> None:
    listed = {**UPSTREAM, "//kernels/CMakeLists.txt": "file(GLOB SOURCES csrc)\n"}
    trees = case(listed, {**GENERATED, "//kernels/CMakeLists.txt": "="})
    fault = breakage_fault(
        Breakage(name="x", files=("kernels/csrc/mamba.cu",)), trees.tree, trees.out, trees.manifest
    )
    assert fault is not None
    (judged,) = judge_all(trees.trees(), [fault], EVIDENCE_LEVELS)
    assert "[operators]" in judged.finding and "scan" in judged.finding


def test_a_symbol_that_a_removed_source_registers_as_well(case: Build) -> None:
    """Its schema has the look of a call; who defines the symbol (another library, here) is not to
    be seen.
    """
    upstream = {
        "//kernels/csrc/extension.cc": KERNELS,
        "//kernels/csrc/extension_musa.cc": KERNELS.replace("kCUDA", "kMUSA")
        + "// scan(x)\n/* scan(\n) */\n",
        "//kernels/include/sgl/mamba.h": "void scan(at::Tensor x);\n",
    }
    kept = {path: "=" for path in upstream if "musa" not in path}
    assert case(upstream, kept).findings("references") == []


@pytest.mark.parametrize(
    ("breakage", "why"),
    [
        (Breakage(name="x", modules=("sglang.nowhere",), cut=0.4), "upstream has nothing"),
        (
            Breakage(name="x", modules=("sglang.**",), delete=("Nothing",)),
            "that stays defines Nothing",
        ),
        (Breakage(name="x", modules=("sglang.**",), left=("is_cpu",)), "`is_cpu` did not go"),
        (
            Breakage(name="x", modules=("sglang.**",), read="_is_gpu"),
            "upstream names `_is_gpu` nowhere",
        ),
        (Breakage(name="x", files=("nowhere/**",)), "upstream has nothing"),
        (Breakage(name="x", files=("kernels/**",), lines="never said"), "says `never said`"),
        (Breakage(name="x", files=("gone/**",)), "all that upstream has at `gone/**` went"),
    ],
)
def test_what_cannot_happen_to_a_tree_is_skipped(case: Build, breakage: Breakage, why: str) -> None:
    trees = case({**UPSTREAM, "//gone/a.cu": ""}, {**GENERATED, "user.py": "="})
    assert breakage_fault(breakage, trees.tree, trees.out, trees.manifest) is None
    assert why in why_skipped(breakage, trees.tree, trees.manifest)


def test_the_declared_ones_are_those_of_the_scope() -> None:
    names = " ".join(each.name for each in declared())
    for word in (
        "parallel_state",
        "ColumnParallelLinear",
        "MergedColumnParallelLinear",
        "ChatGLMConfig",
        "AWQMarlinConfig",
        "NSA",
        "_is_cpu",
        "timestep_embedding",
        "GGUF",
        "Mamba",
        "grammar",
        "get_tp_group",
    ):
        assert word in names


def test_the_page_names_what_nothing_caught(case: Build) -> None:
    trees = case(UPSTREAM, GENERATED)
    fault = breakage_fault(BREAKAGES["cut"][0], trees.tree, trees.out, trees.manifest)
    assert fault is not None
    judged = [*judge_all(trees.trees(), [fault], [])]
    page = rendered(
        "breakages", breakages_data(judged, ["form"], trees.manifest, {"y": "no such file"})
    )
    assert "Caught: 0 of 1." in page and "**nothing**" in page and "- y: no such file" in page


def test_an_entry_has_one_kind() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Breakage(name="x", cut=0.5, delete=("a",))
