"""Mistakes in reachability that the drawn packages must show.

Each is a piece of the package that is forgotten: a form of binding, a kind of edge, an effect.
"""

import os
from pathlib import Path

import pytest

from tests.fold.test_mutants import ROOT, mistaken
from tests.small import python

MUTANTS = {
    "a module that a compound statement binds is no value": (
        'if name != "*" and not is_followed(bound, self._scope):',
        "if False:",
    ),
    "nothing is read through a package": (
        (
            "        if name in self._read or self.is_handed_on(name, looked_up):\n            "
            "return True\n"
        ),
        "",
    ),
    "a package that is handed on hands on nothing": (
        (
            "        return package in self._enumerated or (package in self._values and last in "
            "looked_up)\n"
        ),
        "        return False\n",
    ),
    "a field of a format names nothing": (
        "                *names_in_fields(text),\n                *names_in_values(text),\n",
        "                *names_in_values(text),\n",
    ),
    "a text that is split names nothing": (
        'elif name in EVALUATES or name == "split":',
        "elif False:",
    ),
    "no local is read through a frame": (
        "        if context.environment.reads_frames():\n",
        "        if False:\n",
    ),
    "a walk finds what rules name and nothing else": ("if meant or name in modules:", "if meant:"),
    "an alias of types follows nothing": (
        "    return base if isinstance(base, Removed) else _removed_part(node.slice, scope)\n",
        "    return only_removed(base)\n",
    ),
    "making a class tells nobody": ("if self._told(key)}", "if False}"),
    "a metaclass is given nothing": (
        "        if self.types.has_metaclass(key):\n",
        "        if False:\n",
    ),
    "`__subclasses__` finds no module": (
        "self.program.acting.union(telling, self._heirs)",
        "self.program.acting.union(telling)",
    ),
    "a decorated method files nothing": ("first_name(_made(d)) in self.own", "False"),
    "a default is evaluated without effects": (
        "joined((*decorators, *(open_calls(default, own) for default in defaults)))",
        "joined(decorators)",
    ),
    "a package does not load what it imports of itself": (
        'return any(unit.kind != "import" or unit.imports[0][:2] != own for unit in bound)',
        "return any(True for _ in bound)",
    ),
    "all names of something unknown are none": (
        "                self._of_anything(listed, reason)\n",
        "                pass\n",
    ),
    "no other module writes into a table": (
        "        if table and any(table in each.words for each in others):\n",
        "        if False:\n",
    ),
    "a private function is handed what its own module spells out": (
        "table != ANYTHING and self._is_spelled_out(caller, table) for caller, table in given",
        "True for caller, table in given",
    ),
    "a keyword names nothing": (
        "            search.look_up_written()\n            or search",
        "            search",
    ),
    "nobody goes through `__all__`": ('if last == "__all__" and base:', "if False:"),
    "a module's own name is not known": (
        "        text = self._known.get(node.id)\n",
        "        text = None\n",
    ),
    "what runs in any order runs the same": (
        "                if self._overtaken(name, before, anyway):\n",
        "                if False:\n",
    ),
    "what no item reaches is evaluated": (
        (
            "        del context.edits[edits:], context.decisions[decisions:]\n        return "
            "written\n"
        ),
        "        raise\n",
    ),
    "imports load no submodule of a package": (
        "        loaded = inner in self.modules and not self._defines(module, name)\n",
        "        loaded = False\n",
    ),
    "texts of a computed name are no pattern": (
        '                self._pattern(pattern, Reason(key, "pattern", line))\n',
        "                pass\n",
    ),
    "a class inherits nothing": (
        "        above = [each for base in self.bases",
        "        above = [each for base in {}",
    ),
    "nobody lists the class that it is given": (
        "        if unit.handed:\n            self._hand_on(key, unit)\n",
        "",
    ),
    "a decorator is not given the class": (
        "decorators=tuple(path for each in acting for path in uses.paths_of(_made(each))),",
        "decorators=(),",
    ),
    "nothing imports by a text": (
        "                self._escape(target, Reason(key, kind, line))\n",
        "                pass\n",
    ),
}
"""One piece of the package, and what it is instead."""

PACKAGES = 2_000
"""At most this many are tried."""
TRIAL = f"""
from hypothesis import HealthCheck, Phase, given, settings
from tests.packages.compare import Programs, difference
from tests.packages.stories import packages

class Found(Exception):
    pass

with Programs() as programs:
    @settings(max_examples={PACKAGES}, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate], report_multiple_bugs=False)
    @given(packages(most=3))
    def look(files):
        if difference(files, programs) is not None:
            raise Found

    try:
        look()
        print(False)
    except Found:
        print(True)
"""


@pytest.mark.parametrize(("old", "new"), MUTANTS.values(), ids=MUTANTS)
def test_mistake_is_found(tmp_path: Path, old: str, new: str) -> None:
    done = python(
        mistaken(tmp_path, old, new), "-c", TRIAL, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == "True\n", f"{PACKAGES} packages do not show it: {done.stderr[-2000:]}"
