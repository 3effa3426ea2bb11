"""What a whole run folds: a package beside the served one, which does not see it, and places for
refusals.
"""

from pathlib import Path

import pytest

from shrinker.facts.environment import build_environment
from shrinker.fold.module import fold_companions
from shrinker.ruleset.models import Companion
from tests.cli.small import FILES, RULES, small_world
from tests.fold.programs import make_tree, program_rules, rewrite
from tests.small import read_archive

TOP = "kernels/python/fast_kernels"
KERNELS = read_archive(Path(__file__).with_name("companions.txtar"))


def test_a_companion_is_folded_and_nothing_else_is(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, KERNELS)
    rules = program_rules()
    hip = rules.facts[1].model_copy(
        update={"id": "hip-version", "calls": (), "names": ("torch.version.hip",), "value": None}
    )
    companion = Companion(id="kernels", why="A package of a test.", folder=TOP)
    rules = rules.model_copy(update={"facts": (*rules.facts, hip), "companions": (companion,)})
    environment = build_environment(tree, rules, jobs=1)
    kept = [path for path in KERNELS if path != f"{TOP}/__init__.py"]
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


REFUSAL = """
[[reject]]
id = "refuse-rows"
why = "A test of a parameter that one release has and another has not."
feature = "rows"
function = "sglang.srt.cuda.start"
argument = "{argument}"
attribute = ""
values = ["npu"]
instead = "Ask for cuda."
optional = {optional}
"""


class Asked:
    """The small world whose `cuda.py` has these functions, shrunk by more refusals."""

    def __init__(self, folder: Path, *refusals: str, before: str = "") -> None:
        cuda = f"{before}def start(name='cuda'):\n    print(name)\n    return name\n"
        rules = {"world.toml": RULES["world.toml"] + "".join(refusals)}
        world = small_world(folder, FILES | {"python/sglang/srt/cuda.py": cuda}, RULES | rules)
        world.shrink().expect(0)
        self.cuda = (world.out / "python/sglang/srt/cuda.py").read_text()
        self.uncertain = (world.reports / "uncertain.txt").read_text()


@pytest.mark.parametrize(("optional", "listed"), [("true", 0), ("false", 1)])
def test_only_a_rule_that_must_match_is_missed(tmp_path: Path, optional: str, listed: int) -> None:
    other = REFUSAL.format(argument="request", optional=optional).replace(
        "refuse-rows", "refuse-request"
    )
    asked = Asked(tmp_path, REFUSAL.format(argument="name", optional="true"), other)
    assert "refuse(" in asked.cuda
    assert asked.uncertain.count("no place for a look at `request`") == listed


def test_of_several_functions_the_one_with_a_body_looks(tmp_path: Path) -> None:
    several = REFUSAL.format(argument="name", optional="false").replace(
        '"sglang.srt.cuda.start"', '["sglang.srt.cuda.begin", "sglang.srt.cuda.start"]'
    )
    asked = Asked(
        tmp_path, several, before='def begin(name):\n    """Nothing is left of it."""\n\n\n'
    )
    assert asked.cuda.count("refuse(") == 1 and asked.cuda.index("refuse(") > asked.cuda.index(
        "def start"
    )
    assert "no place for a look" not in asked.uncertain


@pytest.mark.parametrize(
    ("module", "looks"), [("sglang.srt.npu", 1), ("sglang.srt.n*", 1), ("sglang.srt.later_*", 0)]
)
def test_nobody_looks_for_what_upstream_does_not_know(
    tmp_path: Path, module: str, looks: int
) -> None:
    asked = Asked(
        tmp_path, REFUSAL.format(argument="name", optional="true") + f'modules = ["{module}"]\n'
    )
    assert asked.cuda.count("refuse(") == looks
