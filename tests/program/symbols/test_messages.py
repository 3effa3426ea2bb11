"""Texts of named errors say what is gone and keep nothing; texts of upstream keep what they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.facts.lattice import Removed
from shrinker.fold.messages import is_message, message
from tests.program.symbols.support import ROOT, left
from tests.small import rule

_RULES = ROOT + rule("remove", "remove-adapters", feature="adapters", definitions=["sglang.server.**.attach"])
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
    files = {
        "launch_server.py": _LAUNCH.format(text=text),
        "server.py": _SERVER,
        "nobody.py": "x.attach()\nx.detach()\n",
    }
    return left(folder, files | {"srt/utils.py": ""}, root=_RULES)["server.py"]


def test_a_method_that_only_a_named_error_names_goes(tmp_path: Path) -> None:
    found = _left(tmp_path, "")
    assert "shrinker: sglang.server.Server.attach is not part of this server" in found
    assert "class Runner" in found
    assert "shrinker: sglang.server.Runner.attach" not in found
    assert "detach" not in found


def test_a_text_of_upstream_keeps_what_it_names(tmp_path: Path) -> None:
    found = _left(tmp_path, ', "sglang.server.Runner.attach", "detach"')
    assert "shrinker: sglang.server.Runner.attach" in found
    assert "def detach" in found


@pytest.mark.parametrize("feature", ["LoRA", "attention beside (X), removed by hand", "MoE)"])
def test_a_message_is_known_again(feature: str) -> None:
    text = message(Removed("remove-it", feature, "sglang.server.Server.attach"))
    assert is_message(text)
    assert not is_message(text + " ")
    assert not is_message(text.removeprefix("shrinker: "))
    assert not is_message(text.replace("take rule remove-it", "take rule other"))
