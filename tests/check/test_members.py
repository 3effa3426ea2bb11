"""Names beside a method that a kept class has lost: those that may mean it are found."""

import pytest

from tests.check.trees import Build

POOL = "class Pool:\n    size: int = 1\n    def lost(self): pass  # gone\n"
OPS = "def lost(p): pass\n"
NO_MEMBER = {
    "nobody names it": "print(1)\n",
    "a method of a module of another package": "import torch\ntorch.lost()\ntorch.cuda.lost()\n",
    "it is only stored": "def f(x): x.lost = 1\n",
    "imported": "from sglang import _ops as ops\nops.lost(1)\n",
    "by its whole name": "import sglang._ops\nsglang._ops.lost(1)\n",
    "under another name": "import sglang._ops as ops\ngetattr(ops, 'lost')\n",
    "on either branch": (
        "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n"
        "    from sglang import _more as ops\nops.lost(1)\n"
    ),
    "where there is one": (
        "try:\n    from sglang import _ops as ops\nexcept ImportError:\n    ops = None\n"
        "ops.lost(1)\n"
    ),
    "within a function": "def f():\n    from . import _ops as ops\n    return ops.lost\n",
    "for all functions": (
        "ops = None\ndef f():\n    global ops\n    from sglang import _ops as ops\n"
        "def g():\n    ops.lost(1)\n"
    ),
}
"""What names no member: among others a look-up on a module of the tree, however it is imported."""
NATIVE = {"_ops.py": OPS, "_more.py": OPS}
A_MEMBER = {
    "anything may be of the class": "def f(x):\n    x.lost()\n",
    "below another look-up": "def f(x):\n    x.pool.lost()\n",
    "on self, below another look-up": "class A:\n    def f(self):\n        self.pool.lost()\n",
    "by a text": "def f(x):\n    return getattr(x, 'lost')()\n",
    "whether it is there": "def f(x):\n    return hasattr(x, 'lost')\n",
    "an object of a module": "from sglang.held import pool\npool.lost()\n",
    "a module or an object": (
        "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n"
        "    from sglang.held import pool as ops\nops.lost(1)\n"
    ),
    "a module or anything": (
        "import x\nif x.y:\n    from sglang import _ops as ops\nelse:\n    ops = x.f()\n"
        "ops.lost(1)\n"
    ),
    "a parameter of a module's name": "from sglang import _ops as ops\ndef f(ops):\n    ops.lost(1)\n",
    "assigned again": (
        "from sglang import _ops\nours = _ops\ndef f(x):\n    ours = _ops\n"
        "    for ours in x:\n        ours.lost(1)\n"
    ),
    "what a module makes": "from sglang import _ops as ops\nops.make().lost(1)\n",
    "handed on by a star": "from sglang.held import *\npool.lost(1)\n",
}
"""A look-up on what may be an object of the class."""
HELD = {"held.py": "from sglang.pool import Pool\npool = Pool()\n"}


@pytest.mark.parametrize("name", NO_MEMBER)
def test_what_names_no_member(case: Build, name: str) -> None:
    assert (
        case({"pool.py": POOL, "user.py": NO_MEMBER[name], **NATIVE}).findings("references") == []
    )


@pytest.mark.parametrize("name", A_MEMBER)
def test_what_may_be_a_member(case: Build, name: str) -> None:
    made = case({"pool.py": POOL, "user.py": A_MEMBER[name], **NATIVE, **HELD})
    assert made.findings("references") == [("members", "user.py")]


def test_the_checks_say_what_they_saw(case: Build) -> None:
    checks = dict(
        case({"pool.py": f"{POOL}    @property\n    def free(self): pass\n"})
        .evidence("references")
        .checks
    )
    assert (checks["members"], checks["decorators"]) == (1, 1)
