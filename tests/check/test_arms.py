"""Arms of tests that the rules refute, and what the judge takes a test for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shrinker.cache import Cache
from shrinker.check.levels import judge
from shrinker.ruleset import without
from tests.check.trees import Build, Files
from tests.small import rule

RULES = (
    rule("fact", "cuda", 'calls = ["sglang.**.is_cuda", ".is_cuda_device"]', "value = true")
    + rule(
        "fact",
        "npu",
        'calls = ["sglang.**.is_npu", ".is_npu"]',
        'attributes = [".is_npu"]',
        'names = ["sglang.**.use_npu", "torch.version.npu"]',
        'environment = ["USE_NPU"]',
        "value = false",
    )
    + rule("domain", "device", 'names = ["sglang.**.device"]', 'never = ["npu", "tpu"]')
    + rule("domain", "family", 'names = ["sglang.**.family"]', 'only = ["deepseek"]')
)
HEAD = "import os\nimport torch\nfrom sglang.kinds import is_cuda, is_npu\n"
KINDS = "def is_cuda(): ...\ndef is_npu(): ...\ndef on_npu(x): ...\ndef on_gpu(x): ...\n"
USES = f"{HEAD}from sglang.kinds import on_npu, on_gpu\n"
WRONG, RIGHT = "    return on_npu(self)\n", "    return on_gpu(self)\n"


def asked(test: str) -> str:
    return f"    if {test}:\n        return on_npu(self)\n    else:\n        return on_gpu(self)\n"


def refuted(case: Build, before: Files, after: Files) -> list[str]:
    """Tests whose refuted arm stands."""
    trees = case({"kinds.py": KINDS, **before}, {"kinds.py": "=", **after}).ruled(RULES)
    found = [finding for level in ("form", "references") for finding in trees.evidence(level).findings]
    return [finding.message.split("`")[1] for finding in found if finding.check == "refuted arms"]


def arms(case: Build, before: str, after: str) -> list[str]:
    return refuted(case, {"a.py": USES + before}, {"a.py": USES + after})


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
def test_the_arm_that_never_runs_may_not_stand_and_the_other_may(case: Build, test: str) -> None:
    assert arms(case, FLAGS + FUNCTION + asked(test), FLAGS + FUNCTION + WRONG) != []
    assert arms(case, FLAGS + FUNCTION + asked(test), FLAGS + FUNCTION + RIGHT) == []


@pytest.mark.parametrize("test", TESTS)
def test_what_other_rules_answer_otherwise_is_judged_anew(case: Build, test: str, tmp_path: Path) -> None:
    files = {"kinds.py": KINDS, "a.py": HEAD + FLAGS + FUNCTION + asked(test), "b.py": HEAD + "print(1)\nprint(2)\n"}
    trees = case(files, {"kinds.py": "=", "a.py": HEAD + FLAGS + FUNCTION + WRONG, "b.py": HEAD}).ruled(RULES)
    assert trees.rules is not None
    found: list[int] = []
    for ids in ((), ("cuda",), ("npu",), ("device",), ("family",), ()):
        other, cache = without(trees.rules, ids), Cache(tmp_path / "cache")
        warm, cold = (judge("form", trees.trees(other, cache=each), print) for each in (cache, None))
        assert warm == cold, ids
        found.append(cache.counts["form"].found)
    # The file that asks nothing is judged once, the other one by each rule that it asks for.
    assert found[0] == 0 and found[-1] == 3 and sorted(found[1:-1]) in ([2, 3, 3, 3], [2, 2, 3, 3])


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
def test_what_the_rules_do_not_decide_is_left_alone(case: Build, test: str, head: str) -> None:
    assert arms(case, head + FUNCTION + asked(test), head + FUNCTION + WRONG) == []


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


def followed(case: Build, function: str) -> list[str]:
    """The same, where a flag of one module is what a function of another gives."""
    head = f"{HEAD}from functools import lru_cache\nfrom sglang.kinds import on_npu as unknown\nwrapped = lru_cache\n"
    user = "from sglang.odd import odd\nfrom sglang.kinds import on_npu, on_gpu\n"
    before = {"odd.py": f"{head}{function}print(1)\n", "a.py": f"{user}_odd = odd()\n{FUNCTION}{asked('_odd')}"}
    return refuted(case, before, {"odd.py": head + function, "a.py": user + FUNCTION + WRONG})


@pytest.mark.parametrize("function", CONCLUDED)
def test_what_a_function_of_another_module_gives_always_is_known(case: Build, function: str) -> None:
    assert followed(case, function) == ["_odd"]


@pytest.mark.parametrize("function", LEFT_OPEN)
def test_what_a_function_may_give_is_left_open(case: Build, function: str) -> None:
    assert followed(case, function) == []


def test_a_long_function_is_not_read_and_takes_no_time(case: Build) -> None:
    lines = "".join(f"    {' ' * 80}# {n}\n" for n in range(3000))
    assert followed(case, f"def odd():\n{lines}    return is_npu() and os\n") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The whole test stands: it was not decided.
        (
            "if is_npu():\n    on_npu(1)\nelse:\n    on_gpu(1)\non_gpu(2)\n",
            "if is_npu():\n    on_npu(1)\nelse:\n    on_gpu(1)\n",
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
def test_what_may_stand(case: Build, before: str, after: str) -> None:
    assert arms(case, FLAGS + before, FLAGS + after) == []


def test_without_the_rules_nothing_is_looked_for_and_said_so(case: Build) -> None:
    trees = case({"a.py": "if is_npu():\n    x = 1\nelse:\n    x = 2\n"}, {"a.py": "x = 1\n"})
    assert dict(trees.evidence("form").checks)["refuted arms"] == 0
    assert dict(trees.evidence("references").checks)["tables"] == 0


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
