"""The modules around the code that `generate` makes: flags, re-exports, a registry, enumerations, removed modules."""

from random import Random

from tests.fold.layout import Block, Compound

MAIN = """import os
import sys
from contextlib import suppress

import torch
import sglang.again
import sglang.flags as flags
from probes import Scope, Thing, finish, probe, tick, wrap
from sglang.again import *
from sglang.again import hip, uses_fnuz
from sglang.flags import _is_cuda, _is_hip, _off, _open, _use_aiter, chosen, derived, has_aiter, patched, rebound
from sglang.kinds import Backend, Config, Method, Mode
from sglang.registry import BY_DEVICE, envs, get_platform, register_device, registered
from sglang.srt.npu.graph import GoneError, NpuGraph
from sglang.srt.utils import get_bool_env_var, is_cuda, is_hip, is_npu

SUPPORTED = ["cuda", "npu", "cpu"]
seen = ()
x = y = total = late = 0
top = _is_hip
level = 4
counter = []


def total_of():
    return total


def on_import(answer=_is_hip or 4):
    return answer


def get_device(value):
    return "cuda" if value else "cpu"


def helper(value, hip, number=1):
    if hip:
        return only_hip(value)
    return (value, number)


def only_hip(value):
    return probe(value)


def stops():
    yield 0
    if not _is_hip:
        return
    yield 1


def mine():
    return is_npu()


def pick(thing, value, mode=Mode.PLAIN):
    if _is_hip:
        mode = Mode.WIDE
    if mode == Mode.WIDE:
        return probe(8)
    return (value, thing.ready, mode.value)


class Server:
    def __init__(self, value):
        self.hip = _is_hip
        self.value = value
        self.wide = value if self.hip else None

    def run(self):
        if self.hip:
            return self.run_hip()
        if self.wide is not None:
            return probe(9)
        return self.value

    def run_hip(self):
        return probe(self.wide)
"""

FLAGS = """import os
import sys

import torch
from probes import probe
from sglang.srt.utils import get_bool_env_var, is_cuda, is_hip, is_npu

_is_cuda = is_cuda()
_is_hip = is_hip()
_use_aiter = get_bool_env_var("SGLANG_USE_AITER") and _is_hip
_off = _use_aiter or is_npu()
_open = os.getenv("SGLANG_OPEN", "0") == "1"
patched = is_hip()
rebound = is_npu()


def enable():
    global rebound
    rebound = True
"""

AGAIN = """from . import flags
from .flags import *
from .flags import _is_hip as hip
from .flags import uses_fnuz
"""

REGISTRY = """import os

BY_DEVICE = {"cuda": 1, "npu": 2, "cpu": 3}
registered = []


def register_device(name, function=None):
    registered.append("cuda") if name == "cuda" else None
    return function


class _Switch:
    def get(self):
        return os.getenv("SGLANG_USE_AITER") == "1"


class envs:
    SGLANG_USE_AITER = _Switch()


class Platform:
    is_npu = False
    is_cuda = True

    def is_gone(self):
        return False


def get_platform():
    return Platform()
"""

KINDS = """from enum import Enum, IntEnum


class Backend(Enum):
    TRITON = "triton"
    GONE = "gone"
    CUTLASS = "cutlass"


class Method(IntEnum):
    MLA = 1
    MLA_NPU = 2


class Mode(Enum):
    PLAIN = 1
    WIDE = 2


class Config:
    def __init__(self, hip):
        self.fast = not hip
        self.use_it = hip
"""

NPU = """class NpuGraph:
    pass


class GoneError(Exception):
    pass
"""
HOOKS = """def run(x):
    return x
"""


FLAG_VALUES = ("is_hip()", "is_npu()", "_is_hip", "not is_cuda()", "_is_hip or is_npu()", "_is_cuda and not _is_hip")


def flag_module(random: Random) -> Block:
    """Statements after those of `surroundings.FLAGS`."""

    def flag() -> str:
        return random.choice(FLAG_VALUES)

    one, two = Compound((("def chosen(x)", ("return (1, x)",)),)), Compound((("def chosen(x)", ("return (2, x)",)),))
    return (
        f"derived = {flag()}",
        f"starred = derived and {flag()}",
        f"open_derived = _open and {flag()}",
        Compound(((f"if {flag()}", (one, "made = 1")), (f"elif {flag()}", (two,)), ("else", (one, "made = 3")))),
        Compound(
            (
                ("try", ("import aiter", "has_aiter = True")),
                ("except ImportError", (random.choice(("probe(7)", "pass")), "has_aiter = False")),
            )
        ),
        Compound((("def uses_fnuz()", (Compound(((f"if {flag()}", ("return True",)),)), "return False")),)),
        Compound((("def mxfp_supported()", (f"return {flag()}",)),)),
    )
