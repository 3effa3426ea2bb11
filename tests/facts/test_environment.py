"""What a name is in the closed world: facts, re-exports, guards, cycles, removed modules."""

import ast
from pathlib import Path
from typing import Any

import pytest

from shrinker.facts import scopes
from shrinker.facts.environment import Environment, build_environment
from shrinker.facts.lattice import UNKNOWN, Known, Ref, Removed
from shrinker.facts.scopes import bound_value
from tests.fold.programs import make_tree, program_rules


def _world(folder: Path, **files: str) -> Environment:
    sources = {f"python/sglang/{name.replace('__', '/')}.py": text for name, text in files.items()}
    return build_environment(make_tree(folder, sources), program_rules(), jobs=1)


HIP = "from sglang.srt.utils import is_hip\n"


@pytest.mark.parametrize(
    ("files", "place", "value"),
    [
        ({"a": "x = compute()\ny = x\n"}, "sglang.a.x", UNKNOWN),
        ({"a": "x = compute()\ny = x\n"}, "sglang.a.y", UNKNOWN),
        # Nobody binds it; imports lead in a circle.
        ({"a": ""}, "sglang.a.x", Ref("sglang.a.x")),
        ({"a": "from sglang.b import x\n", "b": "from sglang.a import x\n"}, "sglang.a.x", UNKNOWN),
        # A predicate is a function, and its call is known.
        ({"a": f"{HIP}flag = is_hip()\n"}, "sglang.a.is_hip", Ref("sglang.srt.utils.is_hip")),
        ({"a": f"{HIP}flag = is_hip()\n"}, "sglang.a.flag", Known(False, True, frozenset({"hip"}))),
        # A refuted guard leaves one binding, an undecided one both.
        (
            {"a": f"{HIP}if is_hip():\n    from rocm import f\nelse:\n    from cuda import f\n"},
            "sglang.a.f",
            Ref("cuda.f"),
        ),
        ({"a": "if compute():\n    x = True\nelse:\n    x = False\n"}, "sglang.a.x", UNKNOWN),
        # Star imports and re-exports are followed.
        (
            {
                "a": "from sglang.srt.utils import is_npu\nflag = is_npu()\n",
                "b": "from sglang.a import *\n",
                "c": "from sglang.b import flag as again\n",
            },
            "sglang.c.again",
            Known(False, True, frozenset({"is-npu"})),
        ),
    ],
)
def test_what_a_name_is(tmp_path: Path, files: dict[str, str], place: str, value: object) -> None:
    module, _, name = place.rpartition(".")
    assert _world(tmp_path, **files).resolve(module, name) == value


def test_only_the_truth_of_an_inexact_fact_is_known(tmp_path: Path) -> None:
    world = _world(tmp_path, a="from sglang.srt.utils import is_cuda\nflag = is_cuda()\n")
    value = world.resolve("sglang.a", "flag")
    assert isinstance(value, Known) and value.truth and not value.exact


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("unknown and is_hip()", False),
        ("is_hip() or is_npu()", False),
        ("not is_hip()", True),
        ("bool(is_hip())", False),
        ("1 if is_hip() else None", None),
        ("is_hip() is False", True),
    ],
)
def test_derived_flags(tmp_path: Path, expression: str, expected: object) -> None:
    world = _world(
        tmp_path, a=f"from sglang.srt.utils import is_hip, is_npu\nflag = {expression}\n"
    )
    value = world.resolve("sglang.a", "flag")
    assert isinstance(value, Known)
    assert value.value == expected


def test_a_name_bound_only_in_a_dead_branch_is_removed(tmp_path: Path) -> None:
    source = "from sglang.srt.utils import is_hip\nif is_hip():\n    from rocm import f\n"
    value = _world(tmp_path, a=source, b="from sglang.a import f\n").resolve("sglang.b", "f")
    assert isinstance(value, Removed)
    assert value.rule == "hip"


def test_a_function_with_a_constant_result_is_interpreted(tmp_path: Path) -> None:
    source = """from sglang.srt.utils import is_hip

def fnuz():
    "docstring"
    import torch
    if is_hip():
        return torch.check()
    return False

def effect():
    log()
    return False
"""
    world = _world(tmp_path, a=source)
    assert world.interpret("sglang.a.fnuz") == Known(False, True, frozenset({"hip"}))
    assert world.interpret("sglang.a.effect") == UNKNOWN


def test_eager_and_lazy_use_of_a_removed_module(tmp_path: Path) -> None:
    world = _world(
        tmp_path,
        a="from sglang.srt.npu.x import f\n",
        b=(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
            "    from sglang.srt.npu.x import f\n"
        ),
        srt__npu__x="def f(): ...\n",
    )
    eager, lazy = world.resolve("sglang.a", "f"), world.resolve("sglang.b", "f")
    assert isinstance(eager, Removed) and eager.eager and eager.module == "sglang.srt.npu.x"
    assert isinstance(lazy, Removed) and not lazy.eager


def test_a_rescued_module_is_there_again(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, {"python/sglang/srt/npu/x.py": "def f(): ...\n"})
    world = build_environment(tree, program_rules(), jobs=1)
    assert isinstance(world.resolve("sglang.srt.npu.x", "f"), Removed)
    again = Environment(world.rules, world.outlines, world.modules, frozenset({"sglang.srt.npu.x"}))
    assert again.removed_module("sglang.srt.npu.x") is None
    assert again.removed_module("sglang.srt.npu") is not None


def test_names_that_all_ask_for_each_other_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"n{index}" for index in range(9)]
    asked = " or ".join(f"{name} == is_hip()" for name in names)
    lines = [
        line
        for name in names
        for line in (f"    if {asked}:", f"        {name} = {' + '.join(names)}")
    ]
    source = "\n".join(["from sglang.srt.utils import is_hip", "def f():", *lines, ""])
    world = _world(tmp_path, a=source)
    calls = 0

    def counted(*arguments: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        return bound_value(*arguments, **more)

    monkeypatch.setattr(scopes, "bound_value", counted)
    function = ast.parse(source).body[1]
    assert isinstance(function, ast.FunctionDef)
    scope = scopes.function_scope(function, scopes.ModuleScope(world, "sglang.a"), "sglang")
    assert [scope.lookup(name, scopes.LATER) for name in names] == [UNKNOWN] * len(names)
    assert calls == len(names), "each is looked for once"
