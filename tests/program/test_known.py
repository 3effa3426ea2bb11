"""What upstream answers for names that the tree may lack."""

from dataclasses import replace
from pathlib import Path

from shrinker.cache import Cache
from shrinker.facts.environment import build_environment
from shrinker.program.known import find_known_names
from shrinker.ruleset.models import Fact
from shrinker.values.edits import DropStatement, Span
from tests.emit.small_tree import folded_module
from tests.program.small_tree import WHY, rules_of, write_tree

FACTS = (
    Fact(id="hip", why=WHY, calls=("sglang.**.is_hip", ".supports_it"), value=False),
    Fact(id="number", why=WHY, calls=(".counts_it",), value=9),
    Fact(id="config", why=WHY, attributes=(".wide_config",)),
)
SOURCE = """
from sglang.other import is_hip, helper
from sglang.other import helper as renamed
_is_hip = is_hip()
_use_it = _is_hip or is_hip()
SIZE = 4
OPEN = object()
COUNT = 0
class C:
    width = 3
    table = [1]
    def __init__(self, given):
        self.wide_config = given
        self.given = given
    @property
    def wide_config(self):
        return find()
    @property
    def mixed(self):
        return _is_hip or self.wide_config is not None
    def supports_it(self):
        return find()
    def fixed(self):
        return 7
    def counts_it(self):
        return find()
    def varies(self, given):
        return given
    async def later(self):
        return 7
    @wraps
    def wrapped(self):
        return 7
def short():
    return _is_hip
def counts():
    global COUNT
    COUNT += 1
"""


def test_names(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "one.py": SOURCE,
        "other.py": "def is_hip(): ...\ndef helper(): ...\n",
    }
    tree, rules = write_tree(tmp_path, files), rules_of("sglang.one", facts=FACTS)
    environment = build_environment(tree, rules, jobs=1)
    path = "python/sglang/one.py"
    whole = folded_module(path, (DropStatement(Span(1, 0, 99, 0)),))
    known = find_known_names(environment, tree, {path: whole}, Cache())[path]
    assert known.values == {
        "_is_hip": False,
        "_use_it": False,
        "SIZE": 4,
        "C.width": 3,
        "C.wide_config": None,
        "C.mixed": False,
    }
    assert known.results == {
        "is_hip": False,
        "short": False,
        "C.supports_it": False,
        "C.fixed": 7,
    }
    assert not known.unset
    assert known.origins == {"is_hip": "sglang.other", "helper": "sglang.other"}
    # Where no edit took it away, nobody asks.
    untouched = replace(whole, edits=())
    assert not find_known_names(environment, tree, {path: untouched}, Cache())
