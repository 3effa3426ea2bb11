"""What code outside takes by name, and classes that come from outside pickled: what must still go beside them, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from shrinker.values.errors import InputError
from tests.program.symbols.support import left
from tests.small import rule

ROOT = rule("root", "root-launch", modules=["sglang.launch_server"])
OUTSIDE = ["sglang.helpers.wait_*", "sglang.helpers.Client", "sglang.helpers._private", "sglang.removed.tool"]
# A rule that removes counts more than who uses it.
API = rule("api", "api-helpers", users="notebooks", names=OUTSIDE) + rule(
    "remove", "remove-tool", feature="the tool", modules=["sglang.removed"]
)
HELPERS = """\
import json
import os


def wait_for_it():
    return json.dumps(_how_long())


def _how_long():
    return 1


def wait_none():
    return 2


def _wait_inside():
    return 3


def _private():
    return 4


def other():
    return os.getcwd()


class Base:
    def ask(self):
        return 1

    def _own(self):
        return 2


class Client(Base):
    def tell(self):
        return 3


if __name__ == "__main__":
    other()
"""
NOBODY = """\
from sglang.helpers import other, _wait_inside

x.wait_for_it().ask().tell()._own().to_text().kept().dropped().hidden().hand_on().read()
"""
PICKLED = """\
import dill
import pickle


def _load(text):
    return dill.loads(text)


class Processor:
    @classmethod
    def from_text(cls, text):
        return _load(text)()

    @classmethod
    def to_text(cls):
        return dill.dumps(cls)


class Budget(Processor):
    LIMIT = 3

    def kept(self):
        return 1

    def _hidden(self):
        return 2


class Deeper(Budget):
    LIMIT = 4


class Channel:
    def read(self, data):
        return pickle.loads(data)

    def dropped(self):
        return 1


class Above(Channel):
    pass
"""
LAUNCH = "from sglang.pickled import Channel, Processor\n\nprint(Processor.from_text, Channel().read)\n"


def _left(folder: Path, files: dict[str, str], more: str = "") -> dict[str, str]:
    return left(folder, {"__init__.py": ""} | files, more, root=ROOT)


def _bound(text: str) -> list[str]:
    words = (line.split("(")[0].split(":")[0].split() for line in text.splitlines())
    return [line[-1] for line in words if line[:1] in (["def"], ["class"])]


FILES = {"launch_server.py": "print(1)\n", "helpers.py": HELPERS, "nobody.py": NOBODY, "removed.py": "tool = 1\n"}


def test_without_a_rule_the_module_goes(tmp_path: Path) -> None:
    assert set(_left(tmp_path, FILES)) == {"__init__.py", "launch_server.py"}


def test_what_code_outside_takes_stays_with_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    found = _left(tmp_path, FILES, API)
    assert set(found) == {"__init__.py", "launch_server.py", "helpers.py"}
    bound = " ".join(_bound(found["helpers.py"]))
    assert bound == "wait_for_it _how_long wait_none _private Base ask Client tell"
    assert "import os" not in found["helpers.py"] and "import json" in found["helpers.py"]
    # Nobody runs it as a program.
    assert "other()" not in found["helpers.py"]


@pytest.mark.parametrize(("names", "said"), [(["sglang.*.wait"], "in full"), ([], "names")])
def test_a_rule_names_its_modules_in_full(tmp_path: Path, names: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _left(tmp_path, FILES, rule("api", "a", users="nobody", names=names))


def test_heirs_of_a_class_that_is_made_of_what_comes_in(tmp_path: Path) -> None:
    text = _left(tmp_path, {"launch_server.py": LAUNCH, "pickled.py": PICKLED, "nobody.py": NOBODY})["pickled.py"]
    assert _bound(text) == ["_load", "Processor", "from_text", "to_text", "Budget", "kept", "Deeper", "Channel", "read"]
    assert "LIMIT = 4" in text
