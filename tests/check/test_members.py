"""What kept definitions may lose, and what they may not: `(upstream, generated, findings)`, below the package."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.check.trees import Case, Files

Build = Callable[[Files, Files], Case]

POOL = """class Base:
    def close(self):
        return 1

class Pool(Base):
    size: int = 1
    LIMIT = 2

    def take(self):
        return self.used()

    def used(self):
        return 1

    @property
    def free(self):
        return 2

    def lost(self):
        return 3
"""


def less(text: str, *parts: str) -> str:
    for part in parts:
        assert part in text
        text = text.replace(part, "]" if part.endswith("]") else "")
    return text


LOST = "\n    def lost(self):\n        return 3\n"
USED = "\n    def used(self):\n        return 1\n"
CLOSE = "    def close(self):\n        return 1\n"

MAY: dict[str, tuple[str, str, str]] = {
    "nobody names it": (POOL, less(POOL, LOST), "print(1)\n"),
    "a method of a module of another package": (
        POOL,
        less(POOL, LOST),
        "import torch\ntorch.lost()\ntorch.cuda.lost()\n",
    ),
    "a method of another class, looked up on that class": (
        POOL + "class Other:\n    def lost(self): pass\n",
        less(POOL, LOST) + "class Other:\n    def lost(self): pass\n",
        "from sglang.pool import Other\nOther.lost(1)\n",
    ),
    "a method of another class, looked up on its self": (
        POOL + "class Other:\n    def lost(self): pass\n    def at(self): self.lost()\n",
        less(POOL, LOST) + "class Other:\n    def lost(self): pass\n    def at(self): self.lost()\n",
        "",
    ),
    "the class goes as a whole": (POOL, CLOSE.join(POOL.partition(CLOSE)[:1]) + CLOSE, "def f(x): x.lost()\n"),
    "it is only stored": (POOL, less(POOL, LOST), "def f(x): x.lost = 1\n"),
    "a method that a library asks for by a name that nobody has": (
        "import torch.nn as nn\nclass Layer(nn.Module):\n    a = 1\n    def lost(self): pass\n",
        "import torch.nn as nn\nclass Layer(nn.Module):\n    a = 1\n",
        "",
    ),
    "a method of what only holds attributes": (
        "from types import SimpleNamespace\nclass Holder(SimpleNamespace):\n    a = 1\n    def lost(self): pass\n",
        "from types import SimpleNamespace\nclass Holder(SimpleNamespace):\n    a = 1\n",
        "",
    ),
    "an annotation of a class that is made otherwise": (POOL, less(POOL, "    size: int = 1\n"), ""),
    "a constant of a class that is made by its fields": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n    LIMIT = 2\n",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n",
        "",
    ),
    "a property, by a keyword that the constructor takes": (
        "class A:\n    def __init__(self, lost):\n        self._lost = lost\n\n    @property\n    def lost(self): pass\n",
        "class A:\n    def __init__(self, lost):\n        self._lost = lost\n",
        "from sglang.pool import A\nA(lost=1)\n",
    ),
    "a keyword of a function": (POOL, less(POOL, "    size: int = 1\n"), "def f(size): pass\nf(size=1)\n"),
}
OPS = "def lost(p): pass\n"
MODULES = {
    "imported": "from sglang import _ops as ops\nops.lost(1)\n",
    "by its whole name": "import sglang._ops\nsglang._ops.lost(1)\n",
    "under another name": "import sglang._ops as ops\ngetattr(ops, 'lost')\n",
    "on either branch": "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    from sglang import _more as ops\nops.lost(1)\n",
    "where there is one": "try:\n    from sglang import _ops as ops\nexcept ImportError:\n    ops = None\nops.lost(1)\n",
    "within a function": "def f():\n    from . import _ops as ops\n    return ops.lost\n",
    "for all functions": "ops = None\ndef f():\n    global ops\n    from sglang import _ops as ops\ndef g():\n    ops.lost(1)\n",
    "handed on": "from sglang.native import ops\nops.lost(1)\n",
    "handed on by a star": "from sglang.native import *\nops.lost(1)\n",
    "below a module": "from sglang import native\nnative.ops.lost(1)\n",
    "assigned": "from sglang import _ops\nours = _ops\nagain: object = ours\nagain.lost(1)\n",
    "assigned from below a module": "from sglang import native\ndef f():\n    ours = native.ops\n    ours.lost(1)\n",
}
"""A look-up on a module of the tree, however it is named."""
NATIVE = {"_ops.py": OPS, "_more.py": OPS, "native.py": "from sglang import _ops as ops\n"}
OBJECTS = {
    "an object of a module": "from sglang.held import pool\npool.lost()\n",
    "a module or an object": "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    from sglang.held import pool as ops\nops.lost(1)\n",
    "a module or anything": "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    ops = x.f()\nops.lost(1)\n",
    "a parameter of a module's name": "from sglang import _ops as ops\ndef f(ops):\n    ops.lost(1)\n",
    "assigned again": "from sglang import _ops\nours = _ops\ndef f(x):\n    ours = _ops\n    for ours in x:\n        ours.lost(1)\n",
    "what a module makes": "from sglang import _ops as ops\nops.make().lost(1)\n",
    "handed on by a star": "from sglang.held import *\npool.lost(1)\n",
    "round and round": "from sglang.held import pool\nlast = pool\npool = last.next\nlast = pool\npool.lost(1)\n",
    "assigned from what is assigned below": "from sglang.held import pool\ndef f():\n    ours = later\n    ours.lost(1)\nlater = pool\n",
    "below itself": "from sglang.held import pool\npool = pool.next\npool.lost(1)\n",
}
"""A look-up on what may be an object of the class."""
HELD = {"held.py": "from sglang.pool import Pool\npool = Pool()\n"}
MIXIN = "class Mixin:\n    def slow(self): pass\n    def fast(self): pass\n\n"
HEIR = "class Base: pass\nclass Heir(Base, Mixin):\n    def own(self): pass\n"
WITHOUT = HEIR.replace("(Base, Mixin)", "(Base)")
MAY |= {
    "a base of which nobody names a member": (MIXIN + HEIR, WITHOUT, "def f(x): x.own()\n"),
    "a base whose member the class has itself": (
        MIXIN + HEIR.replace("own", "slow"),
        WITHOUT.replace("own", "slow"),
        "def f(x): x.slow()\n",
    ),
    "a base of which a member is named on another class": (
        MIXIN + HEIR,
        WITHOUT,
        "class A:\n    def f(self): self.slow()\n",
    ),
}
MAY_NOT: dict[str, tuple[str, str, str, tuple[str, str]]] = {
    "its own class calls it": (POOL, less(POOL, USED), "", ("members", "pool.py")),
    "anything may be of the class": (POOL, less(POOL, LOST), "def f(x):\n    x.lost()\n", ("members", "user.py")),
    "below another look-up": (POOL, less(POOL, LOST), "def f(x):\n    x.pool.lost()\n", ("members", "user.py")),
    "on self, below another look-up": (
        POOL,
        less(POOL, LOST),
        "class A:\n    def f(self):\n        self.pool.lost()\n",
        ("members", "user.py"),
    ),
    "by a text": (POOL, less(POOL, LOST), "def f(x):\n    return getattr(x, 'lost')()\n", ("members", "user.py")),
    "whether it is there": (
        POOL,
        less(POOL, LOST),
        "def f(x):\n    return hasattr(x, 'lost')\n",
        ("members", "user.py"),
    ),
    "an attribute": (POOL, less(POOL, "    LIMIT = 2\n"), "def f(x):\n    return x.LIMIT\n", ("members", "user.py")),
    "a field, by a keyword of the class": (
        POOL,
        less(POOL, "    size: int = 1\n"),
        "from sglang.pool import Pool as P\nP(size=1)\n",
        ("members", "user.py"),
    ),
    "a property, looked up beside a keyword that the constructor takes": (
        "class A:\n    def __init__(self, lost):\n        self._lost = lost\n\n    @property\n    def lost(self): pass\n",
        "class A:\n    def __init__(self, lost):\n        self._lost = lost\n",
        "from sglang.pool import A\nA(lost=1).lost\n",
        ("members", "user.py"),
    ),
    "a method of a base, looked up below it": (
        POOL,
        less(POOL, CLOSE).replace("class Base:\n", "class Base:\n    pass\n"),
        "from sglang.pool import Pool\nclass More(Pool):\n    def f(self):\n        super().close()\n",
        ("members", "user.py"),
    ),
    "a method below, looked up on the self of a base": (
        POOL.replace("return 1\n\nclass Pool", "return self.lost()\n\nclass Pool"),
        less(POOL.replace("return 1\n\nclass Pool", "return self.lost()\n\nclass Pool"), LOST),
        "",
        ("members", "pool.py"),
    ),
    "how it is made": (
        POOL.replace("    LIMIT = 2\n", "    LIMIT = 2\n\n    def __init__(self):\n        self.x = 1\n"),
        POOL,
        "from sglang.pool import Pool\nPool()\n",
        ("members", "pool.py"),
    ),
    "a method for a library that drives what is of the class": (
        "from library import Driven\nclass Base(Driven): pass\nclass A(Base):\n    x = 1\n    def step(self): pass\n",
        "from library import Driven\nclass Base(Driven): pass\nclass A(Base):\n    x = 1\n",
        "",
        ("members", "pool.py"),
    ),
    "a field of a named tuple, that is taken apart by place": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n    y: int\n",
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n",
        "from sglang.pool import A\nx, y = A(1, 2)\n",
        ("members", "pool.py"),
    ),
    "a field below a dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass B: pass\nclass A(B):\n    x: int\n    y: int\n",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass B: pass\nclass A(B):\n    x: int\n",
        "",
        ("members", "pool.py"),
    ),
    "a base, whose member anything may be asked for": (
        MIXIN + HEIR,
        WITHOUT,
        "def f(x): x.slow()\n",
        ("bases", "user.py"),
    ),
    "a base, whose member the class looks up": (
        MIXIN + HEIR + "    def at(self): self.slow()\n",
        WITHOUT + "    def at(self): self.slow()\n",
        "",
        ("bases", "pool.py"),
    ),
    "a base of a base": (
        "class Under:\n    def slow(self): pass\nclass Mixin(Under): pass\n" + HEIR,
        WITHOUT,
        "def f(x): x.slow()\n",
        ("bases", "user.py"),
    ),
    "a base, how it is made": (
        "class Mixin:\n    def __init__(self): self.x = 1\n" + HEIR,
        WITHOUT,
        "",
        ("bases", "pool.py"),
    ),
    "a base that is still there": (MIXIN + HEIR, MIXIN + WITHOUT, "", ("bases", "pool.py")),
    "a decorator": (POOL, less(POOL, "    @property\n"), "", ("decorators", "pool.py")),
    "a decorator with arguments": (
        "from x import register\n@register('a')\n@register('b')\ndef f(): pass\n",
        "from x import register\n@register('a')\ndef f(): pass\n",
        "",
        ("decorators", "pool.py"),
    ),
}


@pytest.mark.parametrize("name", MAY)
def test_what_may_go(case: Build, name: str) -> None:
    upstream, generated, user = MAY[name]
    trees = case({"pool.py": upstream, "user.py": user}, {"pool.py": generated, "user.py": "="})
    assert trees.findings("references") == []


@pytest.mark.parametrize("name", MAY_NOT)
def test_what_may_not(case: Build, name: str) -> None:
    upstream, generated, user, finding = MAY_NOT[name]
    trees = case({"pool.py": upstream, "user.py": user}, {"pool.py": generated, "user.py": "="})
    assert trees.findings("references") == [finding]


@pytest.mark.parametrize("name", MODULES)
def test_what_is_looked_up_on_a_module_is_no_member(case: Build, name: str) -> None:
    files = NATIVE | {"user.py": MODULES[name]}
    found = case({"pool.py": POOL, **files}, {"pool.py": less(POOL, LOST), **files}).findings("references")
    assert found == []


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_looked_up_on_an_object_of_a_module_may_be_a_member(case: Build, name: str) -> None:
    files = NATIVE | HELD | {"user.py": OBJECTS[name]}
    found = case({"pool.py": POOL, **files}, {"pool.py": less(POOL, LOST), **files}).findings("references")
    assert found == [("members", "user.py")]


def test_decorators_whose_arguments_or_conditions_were_decided(case: Build) -> None:
    upstream = "@a(b=c or d)\ndef f(): pass\n@a if b else c\ndef g(): pass\n"
    generated = "@a(b=c)\ndef f(): pass\n@a\ndef g(): pass\n"
    names = "a = b = c = d = print\n"
    assert case({"p.py": names + upstream}, {"p.py": names + generated}).findings("references") == []


def test_a_definition_on_two_branches_is_left_out(case: Build) -> None:
    names = "a = b = print\n"
    upstream = names + "if b:\n    @a\n    def f(): pass\nelse:\n    def f(): pass\n"
    assert case({"p.py": upstream}, {"p.py": names + "def f(): pass\n"}).findings("references") == []


def test_the_checks_say_what_they_saw(case: Build) -> None:
    trees = case({"pool.py": POOL}, {"pool.py": less(POOL, LOST)})
    checks = dict(trees.evidence("references").checks)
    assert (checks["members"], checks["decorators"]) == (1, 1)


TABLE = """from x import register
class One: pass
class Two: pass
TABLE = {
    "one": One,
    "two": Two,
}
EntryClass = [One, Two]
register("one", One)
register("two", Two)
"""
REFUSES = """Refusal = print
REFUSALS = (
    Refusal('f', 'kind', {}, {}, 'two', 'no-two', ''),
)
"""


@pytest.mark.parametrize("part", ['    "two": Two,\n', ", Two]", 'register("two", Two)\n'])
def test_a_row_whose_value_is_still_there_may_not_go(case: Build, part: str) -> None:
    assert case({"p.py": TABLE}, {"p.py": less(TABLE, part)}).findings("references") == [("rows", "p.py")]


DISPATCH = """class One: pass
class Two: pass
class Gone: pass
class Server:
    def __init__(self):
        self.table = Dispatcher([
            (One, self.one),
            ((Two, Gone), self.two),
            (Gone, self.gone),
        ])
        self.known = {One: self.one, Two: self.two}
    def one(self): pass
    def two(self): pass
    def gone(self): pass
def spare():
    return [(One, 1), (Two, 2)]
"""
_GONE = ("class Gone: pass\n", "            (Gone, self.gone),\n", "    def gone(self): pass\n")


def test_a_kept_class_keeps_its_row(case: Build) -> None:
    generated = less(
        DISPATCH, *_GONE, "            ((Two, Gone), self.two),\n", ", Two: self.two", "    def two(self): pass\n"
    )
    generated = less(generated, ", (Two, 2)")
    assert case({"p.py": DISPATCH}, {"p.py": generated}).findings("references") == [("rows", "p.py")] * 3


@pytest.mark.parametrize(
    "parts",
    [
        (*_GONE, ", Gone)"),
        (*_GONE, ", Gone)", "def spare():\n    return [(One, 1), (Two, 2)]\n"),
        (*_GONE, "class Two: pass\n", "            ((Two, Gone), self.two),\n", ", Two: self.two", ", (Two, 2)"),
    ],
)
def test_a_row_goes_with_its_classes_and_a_table_as_a_whole(case: Build, parts: tuple[str, ...]) -> None:
    generated = less(DISPATCH, *parts).replace("((Two, self.two", "((Two,), self.two")
    assert case({"p.py": DISPATCH}, {"p.py": generated}).findings("references") == []


def test_a_row_goes_with_its_value(case: Build) -> None:
    parts = ('    "two": Two,\n', ", Two]", 'register("two", Two)\n', "class Two: pass\n")
    assert case({"p.py": TABLE}, {"p.py": less(TABLE, *parts)}).findings("references") == []


def test_a_call_on_what_went_goes_with_it(case: Build) -> None:
    text = "class One: pass\nKINDS = []\nKINDS.append(One)\nprint(One)\n"
    generated = less(text, "KINDS = []\n", "KINDS.append(One)\n")
    assert case({"p.py": text}, {"p.py": generated}).findings("references") == []


def test_a_table_that_nobody_looks_at_may_go_as_a_whole(case: Build) -> None:
    assert case({"p.py": TABLE}, {"p.py": less(TABLE, "EntryClass = [One, Two]\n")}).findings("references") == []


@pytest.mark.parametrize(("values", "only"), [(("two",), ()), ((), ("one", "three"))])
def test_a_row_goes_when_the_tree_refuses_its_key(case: Build, values: tuple[str, ...], only: tuple[str, ...]) -> None:
    refuses = REFUSES.format(values, only)
    files = {"p.py": less(TABLE, '    "two": Two,\n', 'register("two", Two)\n'), "removed_features.py": refuses}
    assert case({"p.py": TABLE}, files).findings("references") == []


def test_a_refusal_of_something_else_excuses_no_row(case: Build) -> None:
    files = {"p.py": less(TABLE, '    "two": Two,\n'), "removed_features.py": REFUSES.format(("three",), ("four",))}
    assert case({"p.py": TABLE}, files).findings("references") == [("rows", "p.py")]


STATE = """class Manager:
    def start(self):
        self.state = {}
        self.count = 0

    def idle(self):
        self.count += 1
        return not self.state
"""
NO_STATE = STATE.replace("        self.state = {}\n", "")
STORES = {
    "another object's attribute of that name": (STATE, NO_STATE, "def f(x):\n    x.state = {}\n", []),
    "by a text": (STATE, NO_STATE, "def f(x):\n    setattr(x, 'state', {})\n", []),
    "by a keyword": (STATE, NO_STATE, "def f(x):\n    x.__dict__.update(state={})\n", []),
    "nobody reads it": (STATE, NO_STATE.replace("return not self.state", "return True"), "", []),
    "another class reads its own": (
        STATE,
        NO_STATE.replace("return not self.state", "return True"),
        "class Other:\n    def f(self):\n        return self.state\n",
        [],
    ),
    "the class has it": (STATE, "class Base:\n    state = {}\n" + NO_STATE.replace("Manager", "Manager(Base)"), "", []),
    "its own method reads it": (STATE, NO_STATE, "", ["reads self.state"]),
    "a class below reads it": (
        STATE,
        NO_STATE.replace("return not self.state", "return True"),
        "from sglang.pool import Manager\nclass Heir(Manager):\n    def f(self):\n        return self.state\n",
        ["reads self.state"],
    ),
    "what is left of it counts on": (STATE, STATE.replace("        self.count = 0\n", ""), "", ["reads self.count"]),
    "what is left of it is a type": (
        STATE,
        STATE.replace("        self.state = {}\n", "        self.state: dict\n"),
        "",
        ["reads self.state"],
    ),
}


@pytest.mark.parametrize("name", STORES)
def test_what_is_read_on_self_is_stored_somewhere(case: Build, name: str) -> None:
    upstream, generated, user, expected = STORES[name]
    trees = case({"pool.py": upstream, "user.py": user}, {"pool.py": generated, "user.py": user})
    assert [finding.message.partition(",")[0] for finding in trees.evidence("references").open] == expected
