"""What goes by no rule: registrations, tables that others look up, includes."""

from pathlib import Path

import pytest

from tests.check.trees import Build, Files, less
from tests.small import read_archive, rule

RULES = (
    rule("fact", "npu", 'calls = ["sglang.**.is_npu"]', "value = false")
    + rule(
        "domain",
        "device",
        'names = ["sglang.**.device"]',
        'registers = ["sglang.**.register"]',
        'never = ["npu"]',
    )
    + rule(
        "remove", "remove-tables", 'feature = "tables"', 'paths = ["python/sglang/**/*device=npu*"]'
    )
    + rule(
        "remove", "remove-members", 'feature = "other kernels"', 'members = ["sglang.**.*.AITER"]'
    )
    + rule(
        "remove",
        "remove-stores",
        'feature = "other stores"',
        'modules = ["sglang.**.tpu_*"]',
        'unless = ["sglang.**.spared"]',
    )
    + rule("walk", "walk-models", 'package = "sglang.models"', 'keep = ["first"]')
    + rule("walk", "walk-more-models", 'package = "sglang.models"', 'keep = ["second"]')
)
HEAD = (
    "import os\nimport torch\nfrom sglang.kinds import Backend, Spec, is_cuda, is_npu, register, "
    "register_store\n"
)
KINDS = "def is_cuda(): ...\ndef is_npu(): ...\ndef register(name): return lambda what: what\n"


def found(case: Build, before: Files, after: Files) -> list[tuple[str, str, str]]:
    """Check, path and message of each finding."""
    trees = case(before, after).ruled(RULES)
    return [
        (f.check, f.path.removeprefix("python/sglang/"), f.message)
        for level in ("form", "references")
        for f in trees.evidence(level).findings
    ]


def registrations(case: Build, before: str, after: str) -> list[str]:
    seen = found(case, {"kinds.py": KINDS, "a.py": before}, {"kinds.py": "=", "a.py": after})
    return [message for check, _, message in seen if check == "registrations"]


REGISTER = read_archive(Path(__file__).with_name("ruled.txtar"))["registers.py"]


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
def test_what_registers_itself_needs_a_rule_to_go(case: Build, lost: str, key: str) -> None:
    seen = registrations(case, HEAD + REGISTER, HEAD + less(REGISTER, lost))
    assert (len(seen) == 1 and key in seen[0]) if key else seen == []


def test_a_registration_of_what_is_gone_may_go(case: Build) -> None:
    before = HEAD + 'register("gone")(is_cuda)\nx = 1\n'
    after = "import os\nimport torch\nfrom sglang.kinds import register\nx = 1\n"
    assert registrations(case, before, after) == []


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ("none", 0),
        ("sub/c.cuh", 1),
        ("d_device=npu.cuh", 0),
        ("near/kernel.h", 1),
        ("far/kernel.h", 0),
    ],
)
def test_includes(case: Build, gone: str, expected: int) -> None:
    headers = ("b.cuh", "near/kernel.h", "far/kernel.h", "sub/c.cuh", "d_device=npu.cuh")
    files = {f"csrc/{name}": "//\n" for name in headers}
    files["csrc/a.cu"] = (
        '#include "b.cuh"\n#include <vector>\n#include "sub/c.cuh"\n#include "d_device=npu.cuh"\n'
    )
    files["csrc/near/e.cu"] = '#include "kernel.h"\n'
    kept = {path: "=" for path in files if path != f"csrc/{gone}"}
    assert [check for check, _, _ in found(case, files, kept)] == ["includes"] * expected


def test_a_name_that_another_package_is_asked_for(case: Build) -> None:
    files = {
        "asks.py": (
            "import triton.language as tl\n\n\ndef able():\n    return hasattr(tl.core, 'gather')\n"
        ),
        "m.py": "x = 1\ngather = x\n",
    }
    assert found(case, files, {"asks.py": "=", "m.py": "x = 1\n"}) == []


@pytest.mark.parametrize("name", ["__init__", "__call__", "__or__"])
def test_a_method_that_python_calls(case: Build, name: str) -> None:
    text = f"class A:\n    x = 1\n\n    def {name}(self, *args):\n        return 1\n"
    seen = found(case, {"a.py": text}, {"a.py": "class A:\n    x = 1\n"})
    assert [check for check, _, _ in seen] == ["members"]


@pytest.mark.parametrize(
    ("path", "findings"),
    [("m.py", 1), ("models/first.py", 1), ("models/second.py", 1), ("models/third.py", 1)],
)
def test_a_name_that_a_walk_of_modules_looks_up_by_a_text(
    case: Build, path: str, findings: int
) -> None:
    walk = "def find(module):\n    return getattr(module, 'EntryClass', None)\n"
    model = "class Model: ...\n"
    more = "EntryClass = Model\nOTHER = 1\nif __name__ == '__main__':\n    find = 1\n"
    seen = found(case, {"walk.py": walk, path: model + more}, {"walk.py": "=", path: model})
    assert [row[:2] for row in seen] == [("names by text", path)] * findings


def test_a_name_that_an_heir_lost_and_its_base_has(case: Build) -> None:
    base = "class Base:\n    kind = None\n\n    def of(self):\n        return self.kind\n"
    heir = "class Other(Base):\n    size = 1\n"
    seen = found(
        case, {"a.py": f"{base}{heir}    kind: object = Backend.TRITON\n"}, {"a.py": base + heir}
    )
    assert [row[:2] for row in seen] == [("members", "a.py")]
