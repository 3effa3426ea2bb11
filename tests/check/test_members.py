"""What kept definitions may lose, and what they may not: `(upstream, what is lost of it, another module)`."""

from pathlib import Path

import pytest

from tests.check.trees import Build, less
from tests.small import read_archive

PROGRAMS = read_archive(Path(__file__).with_name("members.txtar"))
POOL = PROGRAMS["pool.py"]


LOST = "\n    def lost(self):\n        return 3\n"
USED = "\n    def used(self):\n        return 1\n"
CLOSE = "    def close(self):\n        return 1\n"
SIZE, LIMIT = "    size: int = 1\n", "    LIMIT = 2\n"
BRIEF = "    def lost(self): pass\n"
OTHER = "class Other:\n" + BRIEF
TAKES = "class A:\n    def __init__(self, lost):\n        self._lost = lost\n"
PROPERTY = "\n    @property\n" + BRIEF
MIXIN = "class Mixin:\n    def slow(self): pass\n    def fast(self): pass\n\n"
HEIR = "class Base: pass\nclass Heir(Base, Mixin):\n    def own(self): pass\n"
BASE = (MIXIN, ", Mixin")
X, Y = "    x: int\n", "    y: int\n"
USES_SLOW = "def f(x): x.slow()\n"

Lost = str | tuple[str, ...]
MAY: dict[str, tuple[str, Lost, str]] = {
    "a method of another class, looked up on that class": (
        POOL + OTHER,
        LOST,
        "from sglang.pool import Other\nOther.lost(1)\n",
    ),
    "a method of another class, looked up on its self": (POOL + OTHER + "    def at(self): self.lost()\n", LOST, ""),
    "the class goes as a whole": (POOL, POOL.partition(CLOSE)[2], "def f(x): x.lost()\n"),
    "a method that a library asks for by a name that nobody has": (
        "import torch.nn as nn\nclass Layer(nn.Module):\n    a = 1\n" + BRIEF,
        BRIEF,
        "",
    ),
    "a method of what only holds attributes": (
        "from types import SimpleNamespace\nclass Holder(SimpleNamespace):\n    a = 1\n" + BRIEF,
        BRIEF,
        "",
    ),
    "an annotation of a class that is made otherwise": (POOL, SIZE, ""),
    "a constant of a class that is made by its fields": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n" + X + LIMIT,
        LIMIT,
        "",
    ),
    "a property, by a keyword that the constructor takes": (
        TAKES + PROPERTY,
        PROPERTY,
        "from sglang.pool import A\nA(lost=1)\n",
    ),
    "a keyword of a function": (POOL, SIZE, "def f(size): pass\nf(size=1)\n"),
    "a base of which nobody names a member": (MIXIN + HEIR, BASE, "def f(x): x.own()\n"),
    "a base whose member the class has itself": (MIXIN + HEIR.replace("own", "slow"), BASE, USES_SLOW),
    "a base of which a member is named on another class": (
        MIXIN + HEIR,
        BASE,
        "class A:\n    def f(self): self.slow()\n",
    ),
}
MAY_NOT: dict[str, dict[str, tuple[str, Lost, str, str]]] = {
    "members": {
        "its own class calls it": (POOL, USED, "", "pool"),
        "an attribute": (POOL, LIMIT, "def f(x):\n    return x.LIMIT\n", "user"),
        "a field, by a keyword of the class": (POOL, SIZE, "from sglang.pool import Pool as P\nP(size=1)\n", "user"),
        "a property, looked up beside a keyword that the constructor takes": (
            TAKES + PROPERTY,
            PROPERTY,
            "from sglang.pool import A\nA(lost=1).lost\n",
            "user",
        ),
        "a method of a base, looked up below it": (
            POOL.replace("class Base:\n", "class Base:\n    pass\n"),
            CLOSE,
            "from sglang.pool import Pool\nclass More(Pool):\n    def f(self):\n        super().close()\n",
            "user",
        ),
        "a method below, looked up on the self of a base": (
            POOL.replace("return 1\n\nclass Pool", "return self.lost()\n\nclass Pool"),
            LOST,
            "",
            "pool",
        ),
        "how it is made": (
            POOL.replace(LIMIT, LIMIT + "\n    def __init__(self):\n        self.x = 1\n"),
            "\n    def __init__(self):\n        self.x = 1\n",
            "from sglang.pool import Pool\nPool()\n",
            "pool",
        ),
        "a method for a library that drives what is of the class": (
            "from library import Driven\nclass Base(Driven): pass\nclass A(Base):\n    x = 1\n" + BRIEF,
            BRIEF,
            "",
            "pool",
        ),
        "a field of a named tuple, that is taken apart by place": (
            "from typing import NamedTuple\nclass A(NamedTuple):\n" + X + Y,
            Y,
            "from sglang.pool import A\nx, y = A(1, 2)\n",
            "pool",
        ),
        "a field below a dataclass": (
            "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass B: pass\nclass A(B):\n" + X + Y,
            Y,
            "",
            "pool",
        ),
    },
    "bases": {
        "whose member anything may be asked for": (MIXIN + HEIR, BASE, USES_SLOW, "user"),
        "whose member the class looks up": (MIXIN + HEIR + "    def at(self): self.slow()\n", BASE, "", "pool"),
        "of a base": (
            "class Under:\n    def slow(self): pass\nclass Mixin(Under): pass\n" + HEIR,
            ("class Under:\n    def slow(self): pass\nclass Mixin(Under): pass\n", ", Mixin"),
            USES_SLOW,
            "user",
        ),
        "how it is made": (
            "class Mixin:\n    def __init__(self): self.x = 1\n" + HEIR,
            ("class Mixin:\n    def __init__(self): self.x = 1\n", ", Mixin"),
            "",
            "pool",
        ),
        "that is still there": (MIXIN + HEIR, ", Mixin", "", "pool"),
    },
    "decorators": {
        "without arguments": (POOL, "    @property\n", "", "pool"),
        "with arguments": (
            "from x import register\n@register('a')\n@register('b')\ndef f(): pass\n",
            "@register('b')\n",
            "",
            "pool",
        ),
    },
}
"""By the check that finds it; at the end the module where it does."""
OPS = "def lost(p): pass\n"
NO_MEMBER = {
    "nobody names it": "print(1)\n",
    "a method of a module of another package": "import torch\ntorch.lost()\ntorch.cuda.lost()\n",
    "it is only stored": "def f(x): x.lost = 1\n",
    "imported": "from sglang import _ops as ops\nops.lost(1)\n",
    "by its whole name": "import sglang._ops\nsglang._ops.lost(1)\n",
    "under another name": "import sglang._ops as ops\ngetattr(ops, 'lost')\n",
    "on either branch": "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    from sglang import _more as ops\nops.lost(1)\n",
    "where there is one": "try:\n    from sglang import _ops as ops\nexcept ImportError:\n    ops = None\nops.lost(1)\n",
    "within a function": "def f():\n    from . import _ops as ops\n    return ops.lost\n",
    "for all functions": "ops = None\ndef f():\n    global ops\n    from sglang import _ops as ops\ndef g():\n    ops.lost(1)\n",
}
"""What names no member: among others a look-up on a module of the tree, however it is imported."""
NATIVE = {"_ops": OPS, "_more": OPS}
A_MEMBER = {
    "anything may be of the class": "def f(x):\n    x.lost()\n",
    "below another look-up": "def f(x):\n    x.pool.lost()\n",
    "on self, below another look-up": "class A:\n    def f(self):\n        self.pool.lost()\n",
    "by a text": "def f(x):\n    return getattr(x, 'lost')()\n",
    "whether it is there": "def f(x):\n    return hasattr(x, 'lost')\n",
    "an object of a module": "from sglang.held import pool\npool.lost()\n",
    "a module or an object": "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    from sglang.held import pool as ops\nops.lost(1)\n",
    "a module or anything": "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    ops = x.f()\nops.lost(1)\n",
    "a parameter of a module's name": "from sglang import _ops as ops\ndef f(ops):\n    ops.lost(1)\n",
    "assigned again": "from sglang import _ops\nours = _ops\ndef f(x):\n    ours = _ops\n    for ours in x:\n        ours.lost(1)\n",
    "what a module makes": "from sglang import _ops as ops\nops.make().lost(1)\n",
    "handed on by a star": "from sglang.held import *\npool.lost(1)\n",
}
"""A look-up on what may be an object of the class."""
HELD = {"held": "from sglang.pool import Pool\npool = Pool()\n"}


def changed(case: Build, upstream: str, lost: Lost, user: str, **more: str) -> list[tuple[str, str]]:
    """What is found when the module `pool` has lost a part, and `user` and others have not."""
    others = {f"{name}.py": text for name, text in {"user": user, **more}.items()}
    generated = less(upstream, *([lost] if isinstance(lost, str) else lost))
    return case({"pool.py": upstream, **others}, {"pool.py": generated, **others}).findings("references")


@pytest.mark.parametrize("name", MAY)
def test_what_may_go(case: Build, name: str) -> None:
    assert changed(case, *MAY[name]) == []


@pytest.mark.parametrize(("check", "name"), [(check, name) for check, rows in MAY_NOT.items() for name in rows])
def test_what_may_not(case: Build, check: str, name: str) -> None:
    upstream, lost, user, where = MAY_NOT[check][name]
    assert changed(case, upstream, lost, user) == [(check, f"{where}.py")]


@pytest.mark.parametrize("name", NO_MEMBER)
def test_what_names_no_member(case: Build, name: str) -> None:
    assert changed(case, POOL, LOST, NO_MEMBER[name], **NATIVE) == []


@pytest.mark.parametrize("name", A_MEMBER)
def test_what_may_be_a_member(case: Build, name: str) -> None:
    assert changed(case, POOL, LOST, A_MEMBER[name], **NATIVE, **HELD) == [("members", "user.py")]


@pytest.mark.parametrize(
    ("upstream", "generated"),
    [
        ("@a(b=c or d)\ndef f(): pass\n", "@a(b=c)\ndef f(): pass\n"),
        ("@a if b else c\ndef g(): pass\n", "@a\ndef g(): pass\n"),
        ("if b:\n    @a\n    def f(): pass\nelse:\n    def f(): pass\n", "def f(): pass\n"),
    ],
    ids=("an argument was decided", "a condition was decided", "one of two branches is left"),
)
def test_decorators_that_may_go(case: Build, upstream: str, generated: str) -> None:
    names = "a = b = c = d = print\n"
    assert case({"p.py": names + upstream}, {"p.py": names + generated}).findings("references") == []


def test_the_checks_say_what_they_saw(case: Build) -> None:
    trees = case({"pool.py": POOL}, {"pool.py": less(POOL, LOST)})
    checks = dict(trees.evidence("references").checks)
    assert (checks["members"], checks["decorators"]) == (1, 1)


STATE = PROGRAMS["manager.py"]
NO_STATE = STATE.replace("        self.state = {}\n", "")
UNREAD = NO_STATE.replace("return not self.state", "return True")
READS = "    def f(self):\n        return self.state\n"
HEIR_READS = "from sglang.pool import Manager\nclass Heir(Manager):\n" + READS
STORES = {
    "another object's attribute of that name": (NO_STATE, "def f(x):\n    x.state = {}\n", []),
    "by a text": (NO_STATE, "def f(x):\n    setattr(x, 'state', {})\n", []),
    "by a keyword": (NO_STATE, "def f(x):\n    x.__dict__.update(state={})\n", []),
    "nobody reads it": (UNREAD, "", []),
    "another class reads its own": (UNREAD, "class Other:\n" + READS, []),
    "the class has it": ("class Base:\n    state = {}\n" + NO_STATE.replace("Manager", "Manager(Base)"), "", []),
    "its own method reads it": (NO_STATE, "", ["reads self.state"]),
    "a class below reads it": (UNREAD, HEIR_READS, ["reads self.state"]),
    "what is left of it counts on": (less(STATE, "        self.count = 0\n"), "", ["reads self.count"]),
    "what is left of it is a type": (STATE.replace("self.state = {}", "self.state: dict"), "", ["reads self.state"]),
}


@pytest.mark.parametrize("name", STORES)
def test_what_is_read_on_self_is_stored_somewhere(case: Build, name: str) -> None:
    generated, user, expected = STORES[name]
    trees = case({"pool.py": STATE, "user.py": user}, {"pool.py": generated, "user.py": user})
    assert [finding.message.partition(",")[0] for finding in trees.evidence("references").open] == expected
