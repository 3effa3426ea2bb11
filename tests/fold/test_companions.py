"""A package beside the served one is folded by the same facts, and the served one does not see it."""

from __future__ import annotations

from pathlib import Path

from shrinker.facts.build import build_environment
from shrinker.fold.companions import fold_companions
from shrinker.ruleset.models import Companion
from tests.fold.programs import make_tree, program_rules, rewrite

TOP = "kernels/python/fast_kernels"
VERSION = """import torch


def is_rocm():
    return torch.version.hip is not None


_is_rocm = is_rocm()
_asked = is_rocm()
blocks = 16 if _is_rocm else 32

if torch.version.hip is not None:

    def only_rocm(x):
        return x
"""
FILES = {
    f"{TOP}/__init__.py": "import torch\n\nif torch.version.hip is not None:\n    from fast_kernels.blocks import only_rocm\n",
    f"{TOP}/blocks.py": VERSION,
    f"{TOP}/broken.py": "def\n",
    "kernels/tests/test_blocks.py": "from fast_kernels.blocks import _asked\n",
    "kernels/other/other.py": "import torch\n\nif torch.version.hip:\n    x = 1\n",
    "python/sglang/main.py": "from fast_kernels.blocks import blocks\n",
}


def test_a_companion_is_folded_and_nothing_else_is(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, FILES)
    rules = program_rules()
    hip = rules.facts[1].model_copy(
        update={"id": "hip-version", "calls": (), "names": ("torch.version.hip",), "value": None}
    )
    companion = Companion(id="kernels", why="A package of a test.", folder=TOP)
    rules = rules.model_copy(update={"facts": (*rules.facts, hip), "companions": (companion,)})
    environment = build_environment(tree, rules, jobs=1)
    kept = [path for path in FILES if path != f"{TOP}/__init__.py"]
    folded = fold_companions(tree, environment, [*kept, f"{TOP}/__init__.py"])
    assert list(folded) == [f"{TOP}/__init__.py", f"{TOP}/blocks.py"]
    assert rewrite(tree, folded[f"{TOP}/__init__.py"]) == "import torch\n"
    # What the tests beside it import stays.
    assert rewrite(tree, folded[f"{TOP}/blocks.py"]) == (
        "import torch\n\n\ndef is_rocm():\n    return False\n\n\n_asked = False\nblocks = 32\n"
    )
    assert not any(name.startswith("fast_kernels") for name in environment.modules)
    assert list(fold_companions(tree, environment, kept)) == [f"{TOP}/blocks.py"]
    assert fold_companions(tree, build_environment(tree, program_rules(), jobs=1), kept) == {}
