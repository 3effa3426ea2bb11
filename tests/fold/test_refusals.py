"""A refusal whose parameter or function another release names otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.small import FILES, RULES, World
from tests.small import write

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


@pytest.mark.parametrize(("optional", "listed"), [("true", 0), ("false", 1)])
def test_only_a_rule_that_must_match_is_missed(tmp_path: Path, optional: str, listed: int) -> None:
    world = World(tmp_path)
    cuda = "def start(name='cuda'):\n    print(name)\n    return name\n"
    write(world.upstream, FILES | {"python/sglang/srt/cuda.py": cuda})
    more = [
        REFUSAL.format(argument="name", optional="true"),
        REFUSAL.format(argument="request", optional=optional).replace("refuse-rows", "refuse-request"),
    ]
    write(world.rules, RULES | {"world.toml": RULES["world.toml"] + "".join(more)})
    assert world.shrink().code == 0
    assert "refuse(" in (world.out / "python/sglang/srt/cuda.py").read_text()
    uncertain = (world.out.with_name(f"{world.out.name}.reports") / "uncertain.txt").read_text()
    assert uncertain.count("no place for a look at `request`") == listed


def test_of_several_functions_the_one_with_a_body_looks(tmp_path: Path) -> None:
    world = World(tmp_path)
    cuda = 'def begin(name):\n    """Nothing is left of it."""\n\n\ndef start(name=\'cuda\'):\n    print(name)\n    return name\n'
    write(world.upstream, FILES | {"python/sglang/srt/cuda.py": cuda})
    several = REFUSAL.format(argument="name", optional="false").replace(
        '"sglang.srt.cuda.start"', '["sglang.srt.cuda.begin", "sglang.srt.cuda.start"]'
    )
    write(world.rules, RULES | {"world.toml": RULES["world.toml"] + several})
    assert world.shrink().code == 0
    text = (world.out / "python/sglang/srt/cuda.py").read_text()
    assert text.count("refuse(") == 1 and text.index("refuse(") > text.index("def start")
    uncertain = (world.out.with_name(f"{world.out.name}.reports") / "uncertain.txt").read_text()
    assert "no place for a look" not in uncertain
