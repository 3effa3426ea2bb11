"""What the judge reads in the rules: arms that they refute, registrations and tables that none of them takes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.cache import Cache
from shrinker.check.levels import judge
from shrinker.ruleset import Ruleset, without
from shrinker.ruleset.load import load_rules
from tests.check.trees import Case, Files

Build = Callable[[Files, Files], Case]

RULES = """
[[fact]]
id = "cuda"
why = "A rule of the test."
calls = ["sglang.**.is_cuda", ".is_cuda_device"]
value = true

[[fact]]
id = "npu"
why = "A rule of the test."
calls = ["sglang.**.is_npu", ".is_npu"]
attributes = [".is_npu"]
names = ["sglang.**.use_npu", "torch.version.npu"]
environment = ["USE_NPU"]
value = false

[[domain]]
id = "device"
why = "A rule of the test."
names = ["sglang.**.device"]
registers = ["sglang.**.register"]
never = ["npu", "tpu"]

[[domain]]
id = "family"
why = "A rule of the test."
names = ["sglang.**.family"]
only = ["deepseek"]

[[remove]]
id = "remove-tables"
why = "A rule of the test."
feature = "tables"
paths = ["python/sglang/**/*device=npu*"]

[[remove]]
id = "remove-members"
why = "A rule of the test."
feature = "other kernels"
members = ["sglang.**.*.AITER", "sglang.kernels.**.Kernel.METAL"]

[[remove]]
id = "remove-stores"
why = "A rule of the test."
feature = "other stores"
modules = ["sglang.**.tpu_*"]
unless = ["sglang.**.spared"]

[[walk]]
id = "walk-models"
why = "A rule of the test."
package = "sglang.models"
keep = ["first"]

[[walk]]
id = "walk-more-models"
why = "A rule of the test."
package = "sglang.models"
keep = ["second"]
"""

HEAD = "import os\nimport torch\nfrom sglang.kinds import Backend, Spec, is_cuda, is_npu, register, register_store\n"


@pytest.fixture
def rules(tmp_path: Path) -> Ruleset:
    file = tmp_path / "rules.toml"
    file.write_text(RULES)
    return load_rules([file])


def found(case: Build, rules: Ruleset, before: Files, after: Files) -> list[tuple[str, str, str]]:
    trees = case(before, after)
    trees.rules = rules
    return [
        (f.check, f.path.removeprefix("python/sglang/"), f.message)
        for level in ("form", "references")
        for f in trees.evidence(level).findings
    ]


KINDS = "def is_cuda(): ...\ndef is_npu(): ...\ndef register(name): return lambda what: what\ndef on_npu(x): ...\ndef on_gpu(x): ...\n"


def arms(case: Build, rules: Ruleset, before: str, after: str) -> list[str]:
    """Tests whose refuted arm stands."""
    files = {"kinds.py": KINDS, "a.py": f"{HEAD}from sglang.kinds import on_npu, on_gpu\n{before}"}
    kept = {"kinds.py": "=", "a.py": f"{HEAD}from sglang.kinds import on_npu, on_gpu\n{after}"}
    return [message.split("`")[1] for check, _, message in found(case, rules, files, kept) if check == "refuted arms"]


TESTS = [
    "is_npu()",
    "not is_cuda()",
    "is_npu() and os.path",
    "_is_npu",
    "not _is_cuda",
    "_either and _is_npu",
    "device == 'npu'",
    "self.device in ('npu', 'tpu')",
    "family != 'deepseek' and family == 'llama'",
    "platform.is_npu",
    "platform.is_npu()",
    "not platform.is_cuda_device()",
    "self.use_npu",
    "torch.version.npu",
    "os.getenv('USE_NPU')",
    "get_bool_env_var('USE_NPU')",
    "envs.USE_NPU.get()",
]
FLAGS = "_is_npu = is_npu()\n_is_cuda = is_cuda()\n_either = _is_npu or _is_cuda\n"
FUNCTION = "def run(self, device, family, platform):\n"


@pytest.mark.parametrize("test", TESTS)
def test_the_arm_that_never_runs_may_not_stand(case: Build, rules: Ruleset, test: str) -> None:
    before = f"{FLAGS}{FUNCTION}    if {test}:\n        return on_npu(self)\n    else:\n        return on_gpu(self)\n"
    wrong = f"{FLAGS}{FUNCTION}    return on_npu(self)\n"
    assert arms(case, rules, before, wrong) != []


@pytest.mark.parametrize("test", TESTS)
def test_what_other_rules_answer_otherwise_is_judged_anew(
    case: Build, rules: Ruleset, test: str, tmp_path: Path
) -> None:
    before = f"{FLAGS}{FUNCTION}    if {test}:\n        return on_npu(self)\n    else:\n        return on_gpu(self)\n"
    files = {"kinds.py": KINDS, "a.py": HEAD + before, "b.py": HEAD + "print(1)\nprint(2)\n"}
    trees = case(files, {"kinds.py": "=", "a.py": f"{HEAD}{FLAGS}{FUNCTION}    return on_npu(self)\n", "b.py": HEAD})
    found: list[int] = []
    for ids in ((), ("cuda",), ("npu",), ("device",), ("family",), ()):
        other, cache = without(rules, ids), Cache(tmp_path / "cache")
        warm, cold = (judge("form", trees.trees(other, cache=each), print) for each in (cache, None))
        assert warm == cold, ids
        found.append(cache.counts["form"].found)
    # The file that asks nothing is judged once, the other one by each rule that it asks for.
    assert found[0] == 0 and found[-1] == 3 and sorted(found[1:-1]) in ([2, 3, 3, 3], [2, 2, 3, 3])


@pytest.mark.parametrize("test", TESTS)
def test_the_arm_that_runs_may(case: Build, rules: Ruleset, test: str) -> None:
    before = f"{FLAGS}{FUNCTION}    if {test}:\n        return on_npu(self)\n    else:\n        return on_gpu(self)\n"
    assert arms(case, rules, before, f"{FLAGS}{FUNCTION}    return on_gpu(self)\n") == []


@pytest.mark.parametrize(
    ("test", "head"),
    [
        ("unknown()", ""),
        ("device == 'cuda'", ""),
        ("device in ('npu', 'cuda')", ""),
        ("is_npu() or unknown()", ""),
        ("flag", "flag = is_npu()\ndef other():\n    global flag\n    flag = True\n"),
        ("_is_npu", "_is_npu = is_npu()\n_is_npu = unknown()\n"),
        ("is_npu()", "def is_npu():\n    return unknown()\n"),
        ("use_npu is None", ""),
    ],
)
def test_what_the_rules_do_not_decide_is_left_alone(case: Build, rules: Ruleset, test: str, head: str) -> None:
    before = f"{head}{FUNCTION}    if {test}:\n        return on_npu(self)\n    else:\n        return on_gpu(self)\n"
    assert arms(case, rules, before, f"{head}{FUNCTION}    return on_npu(self)\n") == []


CONCLUDED = [
    "def odd():\n    return is_npu() and os.path\n",
    '@lru_cache(maxsize=1)\ndef odd() -> bool:\n    """Of one kind."""\n    # asked once\n    return not is_cuda()\n',
    "def odd():\n    if is_npu():\n        return unknown()\n    return False\n",
    "def odd():\n    if is_cuda():\n        return False\n    elif unknown():\n        return True\n    return unknown()\n",
    "def odd():\n    if not is_cuda():\n        return True\n    return not is_cuda()\n",
]
LEFT_OPEN = [
    "def odd():\n    if unknown():\n        return True\n    return not is_cuda()\n",
    "def odd():\n    x = is_npu() and os\n    return x\n",
    "def odd(x=0):\n    return is_npu() and os\n",
    "def odd():\n    if is_npu():\n        return False\n",
    "@wrapped\ndef odd():\n    return is_npu() and os\n",
    "def odd():\n    return is_npu() and os\nif is_cuda():\n    def odd():\n        return True\n",
    "def odd():\n    return is_npu() and os\nodd = unknown\n",
    "def odd():\n    if is_npu() or os.path:\n        return\n    return is_npu()\n",
]


def followed(case: Build, rules: Ruleset, function: str) -> list[str]:
    """Tests whose refuted arm stands, where a flag of one module is what a function of another gives."""
    head = f"{HEAD}from functools import lru_cache\nfrom sglang.kinds import on_npu as unknown\nwrapped = lru_cache\n"
    user = "from sglang.odd import odd\nfrom sglang.kinds import on_npu, on_gpu\n"
    asked = (
        f"_odd = odd()\n{FUNCTION}    if _odd:\n        return on_npu(self)\n    else:\n        return on_gpu(self)\n"
    )
    before = {"kinds.py": KINDS, "odd.py": f"{head}{function}print(1)\n", "a.py": user + asked}
    after = {"kinds.py": "=", "odd.py": f"{head}{function}", "a.py": f"{user}{FUNCTION}    return on_npu(self)\n"}
    return [message.split("`")[1] for check, _, message in found(case, rules, before, after) if check == "refuted arms"]


@pytest.mark.parametrize("function", CONCLUDED)
def test_what_a_function_of_another_module_gives_always_is_known(case: Build, rules: Ruleset, function: str) -> None:
    assert followed(case, rules, function) == ["_odd"]


@pytest.mark.parametrize("function", LEFT_OPEN)
def test_what_a_function_may_give_is_left_open(case: Build, rules: Ruleset, function: str) -> None:
    assert followed(case, rules, function) == []


def test_a_long_function_is_not_read_and_takes_no_time(case: Build, rules: Ruleset) -> None:
    lines = "".join(f"    {' ' * 80}# {n}\n" for n in range(3000))
    assert followed(case, rules, f"def odd():\n{lines}    return is_npu() and os\n") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The whole test stands: it was not decided.
        (
            "if is_npu():\n    on_npu(1)\nelse:\n    on_gpu(1)\n",
            "if is_npu():\n    on_npu(1)\nelse:\n    on_gpu(1)\n# less\n",
        ),
        # The same line stands elsewhere in upstream.
        ("if is_npu():\n    on_npu(1)\nelse:\n    on_gpu(1)\non_npu(1)\n", "on_gpu(1)\non_npu(1)\n"),
        # A longer line was simplified to it.
        ("if is_npu():\n    x = on_gpu(1)\nx = on_npu(1) if is_npu() else on_gpu(1)\n", "x = on_gpu(1)\n"),
        # An arm within an arm that never runs counts once.
        (
            "if is_npu():\n    if _is_npu:\n        on_npu(1)\n    on_npu(2)\nelif is_cuda():\n    on_gpu(1)\non_npu(1)\n",
            "on_gpu(1)\non_npu(1)\n",
        ),
        ("if is_npu():\n    on_npu(1)\nelif os.path:\n    on_gpu(1)\n", "if os.path:\n    on_gpu(1)\n"),
    ],
)
def test_what_may_stand(case: Build, rules: Ruleset, before: str, after: str) -> None:
    text = before if "# less" not in after else before + "on_gpu(2)\n"
    assert arms(case, rules, FLAGS + text, FLAGS + after.replace("# less\n", "")) == []


REGISTER = """_is_npu = is_npu()

@register("first")
def first(): ...

register("second")(os.path)
torch.library.define("ops::third", "() -> ()")
register_op(op_name="fourth", op=os.path)
if _is_npu:
    register("fifth")(os.path)
register("npu")(os.path)
register("gone")(is_cuda)
register_store("sixth", "sglang.stores.tpu_store:Store")
register_store("seventh", "sglang.stores.disk_store", "Store")
register_store("eighth", "sglang.stores.tpu_store.spared", "Store")
register_op(Spec(op="ninth", backend=Backend.AITER))
register_op(Spec(op="tenth", backend=Backend.OTHER))
def register_op(op_name, op): ...
"""


@pytest.mark.parametrize(
    ("lost", "key"),
    [
        ('@register("first")\ndef first(): ...\n', "'first'"),
        ('register("second")(os.path)\n', "'second'"),
        ('torch.library.define("ops::third", "() -> ()")\n', "'ops::third'"),
        ('register_op(op_name="fourth", op=os.path)\n', "'fourth'"),
        ('if _is_npu:\n    register("fifth")(os.path)\n', ""),
        ('@register("npu")\ndef second(): ...\n', ""),
        ('register_store("sixth", "sglang.stores.tpu_store:Store")\n', ""),
        ('register_store("seventh", "sglang.stores.disk_store", "Store")\n', "'seventh'"),
        ('register_store("eighth", "sglang.stores.tpu_store.spared", "Store")\n', "'eighth'"),
        ('register_op(Spec(op="ninth", backend=Backend.AITER))\n', ""),
        ('register_op(Spec(op="tenth", backend=Backend.OTHER))\n', "tenth"),
    ],
)
def test_what_registers_itself_needs_a_rule_to_go(case: Build, rules: Ruleset, lost: str, key: str) -> None:
    text = HEAD + REGISTER + '@register("npu")\ndef second(): ...\n'
    assert lost in text
    files = {"kinds.py": KINDS, "a.py": text}
    seen = found(case, rules, files, {"kinds.py": "=", "a.py": text.replace(lost, "")})
    seen = [row for row in seen if row[0] == "registrations"]
    assert (len(seen) == 1 and key in seen[0][2]) if key else seen == []


def test_a_registration_of_what_is_gone_may_go(case: Build, rules: Ruleset) -> None:
    before = HEAD + 'register("gone")(is_cuda)\nx = 1\n'
    after = "import os\nimport torch\nfrom sglang.kinds import register\nx = 1\n"
    seen = found(case, rules, {"kinds.py": KINDS, "a.py": before}, {"kinds.py": "=", "a.py": after})
    assert [row for row in seen if row[0] == "registrations"] == []


@pytest.mark.parametrize(
    ("gone", "expected"),
    [("none", 0), ("sub/c.cuh", 1), ("d_device=npu.cuh", 0), ("near/kernel.h", 1), ("far/kernel.h", 0)],
)
def test_includes(case: Build, rules: Ruleset, gone: str, expected: int) -> None:
    files = {
        "csrc/a.cu": '#include "b.cuh"\n#include <vector>\n#include "sub/c.cuh"\n#include "d_device=npu.cuh"\n',
        "csrc/b.cuh": "//\n",
        "csrc/near/kernel.h": "//\n",
        "csrc/far/kernel.h": "//\n",
        "csrc/near/e.cu": '#include "kernel.h"\n',
        "csrc/sub/c.cuh": "//\n",
        "csrc/d_device=npu.cuh": "//\n",
    }
    kept = {path: "=" for path in files if path != f"csrc/{gone}"}
    assert [check for check, _, _ in found(case, rules, files, kept)] == ["includes"] * expected


def test_a_name_that_is_looked_up_by_a_text(case: Build, rules: Ruleset) -> None:
    files = {
        "walk.py": "def find(module):\n    return getattr(module, 'EntryClass', None)\n",
        "m.py": "class Model: ...\n\n\nEntryClass = Model\nOTHER = 1\nif __name__ == '__main__':\n    find = 1\n",
    }
    gone = {"walk.py": "=", "m.py": "class Model: ...\n"}
    seen = [(check, path) for check, path, _ in found(case, rules, files, gone)]
    assert seen == [("names by text", "m.py")]


def test_a_name_that_another_package_is_asked_for(case: Build, rules: Ruleset) -> None:
    files = {
        "asks.py": "import triton.language as tl\n\n\ndef able():\n    return hasattr(tl.core, 'gather')\n",
        "m.py": "x = 1\ngather = x\n",
    }
    assert found(case, rules, files, {"asks.py": "=", "m.py": "x = 1\n"}) == []


@pytest.mark.parametrize("name", ["__init__", "__call__", "__or__"])
def test_a_method_that_python_calls(case: Build, rules: Ruleset, name: str) -> None:
    text = f"class A:\n    x = 1\n\n    def {name}(self, *args):\n        return 1\n"
    seen = found(case, rules, {"a.py": text}, {"a.py": "class A:\n    x = 1\n"})
    assert [check for check, _, _ in seen] == ["members"]


def test_without_the_rules_nothing_is_looked_for_and_said_so(case: Build) -> None:
    trees = case({"a.py": "if is_npu():\n    x = 1\nelse:\n    x = 2\n"}, {"a.py": "x = 1\n"})
    assert dict(trees.evidence("form").checks)["refuted arms"] == 0
    assert dict(trees.evidence("references").checks)["tables"] == 0


KERNELS = "class Kernel:\n    AITER = 1\n    CUDA = 2\n    CPU = 3\n    METAL = 4\n"
ORDERS = "from sglang.kernels import Kernel\nORDER = (Kernel.AITER, Kernel.CUDA, Kernel.METAL, Kernel.CPU)\nBY = {Kernel.AITER: Kernel, Kernel.CUDA: Kernel}\n"


def test_rows_of_a_removed_member_may_go_and_no_others(case: Build, rules: Ruleset) -> None:
    before = {"kernels.py": KERNELS, "orders.py": ORDERS}
    less = ORDERS.replace("Kernel.AITER, ", "").replace("Kernel.AITER: Kernel, ", "").replace("Kernel.METAL, ", "")
    assert found(case, rules, before, {"kernels.py": "=", "orders.py": less}) == []
    fewer = less.replace(", Kernel.CPU)", ",)")
    lost = found(case, rules, before, {"kernels.py": "=", "orders.py": fewer})
    assert [check for check, _, _ in lost if check == "rows"] == ["rows"]


@pytest.mark.parametrize(("switch", "found"), [("USE_NPU", []), ("USE_GPU", [("rows", "p.py")])])
def test_a_row_goes_with_the_arm_that_never_runs(
    case: Build, rules: Ruleset, switch: str, found: list[tuple[str, str]]
) -> None:
    """The name that the test binds may stay."""
    table = "import os\nNAMES = []\n"
    test = f"os.getenv('{switch}')"
    trees = case({"p.py": f"{table}if name := {test}:\n    NAMES.append(name)\n"}, {"p.py": f"{table}name = {test}\n"})
    trees.rules = rules
    assert trees.findings("references") == found


@pytest.mark.parametrize(("module", "findings"), [("first", 1), ("second", 1), ("third", 0)])
def test_what_a_walk_does_not_find_is_not_looked_up_by_it(
    case: Build, rules: Ruleset, module: str, findings: int
) -> None:
    path = f"models/{module}.py"
    files = {
        "walk.py": "def find(module):\n    return getattr(module, 'EntryClass', None)\n",
        path: "class Model: ...\n\n\nEntryClass = Model\n",
    }
    trees = case(files, {"walk.py": "=", path: "class Model: ...\n"})
    trees.rules = rules
    assert trees.findings("references") == [("names by text", path)] * findings


@pytest.mark.parametrize(("member", "findings"), [("AITER", 0), ("TRITON", 1)])
def test_a_name_goes_with_the_member_that_a_rule_removes(
    case: Build, rules: Ruleset, member: str, findings: int
) -> None:
    base = "class Base:\n    kind = None\n\n    def of(self):\n        return self.kind\n"
    lost = f"class Other(Base):\n    size = 1\n    kind: object = Backend.{member}\n"
    trees = case({"a.py": base + lost}, {"a.py": base + "class Other(Base):\n    size = 1\n"})
    trees.rules = rules
    assert trees.findings("references") == [("members", "a.py")] * findings


LOOP = "from importlib import import_module\n\nfor name in ({}):\n    import_module(f'{{__name__}}.{{name}}')\n"


@pytest.mark.parametrize(
    ("rows", "findings"), [("'spare',", 0), ("'tpu_a',", 2), ("'tpu_a', 'spare'", 1), ("'spare', 'spare'", 0)]
)
def test_a_loop_imports_all_but_what_a_rule_removes(case: Build, rules: Ruleset, rows: str, findings: int) -> None:
    before = {"p/__init__.py": LOOP.format("'tpu_a', 'spare'") + "x = 1\n", "p/tpu_a.py": "", "p/spare.py": ""}
    trees = case(before, {"p/__init__.py": LOOP.format(rows), "p/spare.py": "="})
    trees.rules = rules
    evidence = trees.evidence("references")
    assert [f.check for f in evidence.findings] == ["imports of loops"] * findings
    assert dict(evidence.checks)["imports of loops"] == 2


def test_what_is_kept_by_the_rules_is_found_again_by_another_process() -> None:
    """Texts are hashed otherwise in each process, and a set of them is written down in another order."""
    program = "from shrinker.check.rule_index import index_rules as i; from shrinker.ruleset import load_profile as l; print(repr(i(l('deepseek'))))"
    said = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and len(said.pop()) > 1000
