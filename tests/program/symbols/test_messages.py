"""Texts of named errors say what is gone and keep nothing; texts of upstream keep what they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.facts.lattice import Removed
from shrinker.fold.messages import is_message, message
from shrinker.pipeline import analyse
from tests.fold.programs import make_tree, rewrite
from tests.pipeline.silent import Silent
from tests.program.symbols.support import ROOT, small_rules

_RULES = (
    ROOT
    + """
[[remove]]
id = "remove-adapters"
why = "A rule of a test."
feature = "adapters"
definitions = ["sglang.server.**.attach"]
"""
)
_SERVER = """\
class Runner:
    def attach(self, adapter):
        return [adapter]

    def detach(self, adapter):
        return adapter


class Server:
    def __init__(self):
        self.runner = Runner()

    def attach(self, adapter):
        return self.runner.attach(adapter)

    def stop(self):
        return "Use the endpoint /attach of another server."

    def call(self, request):
        return getattr(self, request.method)()
"""
_LAUNCH = """\
import sys

from sglang.server import Server


def main():
    print(Server().call(sys){text})


if __name__ == "__main__":
    main()
"""


def _left(folder: Path, text: str) -> str:
    tree = make_tree(
        folder / "upstream",
        {
            "python/sglang/__init__.py": "",
            "python/sglang/srt/utils.py": "",
            "python/sglang/launch_server.py": _LAUNCH.format(text=text),
            "python/sglang/server.py": _SERVER,
            "python/sglang/nobody.py": "x.attach()\nx.detach()\n",
        },
    )
    decided = analyse(tree, small_rules(folder, root=_RULES), 1, {}, Silent())
    return rewrite(tree, decided.folded["python/sglang/server.py"])


def test_a_method_that_only_a_named_error_names_goes(tmp_path: Path) -> None:
    left = _left(tmp_path, "")
    assert "shrinker: sglang.server.Server.attach is not part of this server" in left
    assert "class Runner" in left
    assert "shrinker: sglang.server.Runner.attach" not in left
    assert "detach" not in left


def test_a_text_of_upstream_keeps_what_it_names(tmp_path: Path) -> None:
    left = _left(tmp_path, ', "sglang.server.Runner.attach", "detach"')
    assert "shrinker: sglang.server.Runner.attach" in left
    assert "def detach" in left


@pytest.mark.parametrize("feature", ["LoRA", "attention beside (X), removed by hand", "MoE)"])
def test_a_message_is_known_again(feature: str) -> None:
    text = message(Removed("remove-it", feature, "sglang.server.Server.attach"))
    assert is_message(text)
    assert not is_message(text + " ")
    assert not is_message(text.removeprefix("shrinker: "))
    assert not is_message(text.replace("take rule remove-it", "take rule other"))
