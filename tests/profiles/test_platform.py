"""What the shipped rules say of the predicates by which upstream asks for a platform, wherever they
are defined.
"""

from pathlib import Path

import pytest

from shrinker.facts.environment import build_environment
from shrinker.facts.lattice import Known
from shrinker.ruleset.load import load_profile
from tests.fold.programs import make_tree

PREDICATES: dict[str, bool | None] = {
    # What no rule names stays a question.
    "is_fast": None,
    "is_cuda": True,
    "is_hip": False,
    "is_musa": False,
    "is_npu": False,
    "is_xpu": False,
}


@pytest.mark.parametrize("predicate", PREDICATES)
def test_predicates(tmp_path: Path, predicate: str) -> None:
    asking = f"from sglang.srt.utils import {predicate}\n\nanswer = {predicate}()\n"
    defined = f"def {predicate}():\n    return ask()\n"
    tree = make_tree(
        tmp_path, {"python/sglang/srt/utils.py": defined, "python/sglang/a.py": asking}
    )
    found = build_environment(tree, load_profile("deepseek"), jobs=1).resolve("sglang.a", "answer")
    assert (found.truth if isinstance(found, Known) else None) is PREDICATES[predicate], found
