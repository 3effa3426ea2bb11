"""What is left of other platforms in a generated tree, and the reasons for it."""

import pytest

from shrinker.check.leftovers import find_leftovers
from shrinker.ruleset import Leftover
from shrinker.values.errors import InputError
from shrinker.values.leftovers import Leftovers
from tests.check.trees import RULES, WHY, Build, Case

UTILS = (
    "def is_npu():\n    return False\n\n\ndef is_cuda():\n    return True\n\n\ndef is_cpu():\n    "
    "return False\n"
)


def look(case: Case, *reasons: Leftover, jobs: int = 1) -> Leftovers:
    rules = RULES.model_copy(update={"leftovers": reasons})
    return find_leftovers(case.trees(rules, jobs))


def test_reasons(case: Build) -> None:
    files = {
        "a.py": "def f(device):\n    if device == 'npu':\n        raise ValueError('no npu')\n"
    }
    built = case(files, {"a.py": "="})
    message = Leftover.model_validate(
        {"id": "message", "why": WHY, "kind": ["strings"], "in": ["message"]}
    )
    elsewhere = Leftover.model_validate({"id": "elsewhere", "why": WHY, "where": ["sglang.b"]})
    optional = elsewhere.model_copy(update={"id": "optional", "optional": True})
    found = look(built, message, elsewhere, optional)
    assert [(s.text, s.rule) for s in found.leftovers] == [("npu", ""), ("no npu", "message")]
    assert found.unmatched == ("elsewhere",) and found.unexplained
    assert found.counts()["strings"] == {"total": 2, "explained": 1, "idle": 0}

    here = Leftover.model_validate(
        {"id": "here", "why": WHY, "where": ["sglang.a.f"], "words": ["np?"]}
    )
    assert not look(built, message, here).unexplained
    for wrong in (
        {"words": ("np",)},
        {"where": ("sglang.a.g",)},
        {"kind": ("flags",)},
        {"idle": True},
    ):
        assert look(built, message, here.model_copy(update=wrong)).unexplained


def test_idle_definitions(case: Build) -> None:
    source = (
        "import registry\n\n\ndef forward_npu():\n    return helper_npu('aiter')\n\n\ndef "
        "helper_npu(x):\n    return x\n\n\n"
        "def start_hip():\n    return 1\n\n\nstart_hip()\n\n\n@registry.register('x')\ndef "
        "make_hip():\n    return 1\n\n\n"
        "class Envs:\n    SGLANG_NPU_READ = Env(1)\n    SGLANG_NPU_IDLE = "
        "Env(1)\n\n\nEnvs.SGLANG_NPU_READ.get()\n"
    )
    found = look(case({"a.py": source}, {"a.py": "="})).leftovers
    assert sorted({s.text for s in found if s.idle}) == [
        "SGLANG_NPU_IDLE",
        "aiter",
        "forward_npu",
        "helper_npu",
        "helper_npu()",
    ]


def test_a_predicate_beside_known_ones_is_a_suspect(case: Build) -> None:
    utils = UTILS + (
        "\n\ndef is_new():\n    return False\n\n\ndef is_sm90():\n    return True\n\n\n"
        "def is_url(x):\n    return x\n"
    )
    user = (
        "from sglang.utils import is_cpu, is_new, is_npu, is_sm90, is_url\n\nif is_npu():\n    a "
        "= 1\n"
    )
    ask = "if is_new() or is_sm90() or is_url(1):\n    b = 2\n"
    upstream = {
        "utils.py": utils,
        "a.py": user + ask,
        "b.py": "from sglang.utils import is_npu, is_new\n" + ask,
    }
    generated = {
        "utils.py": "=",
        "a.py": "from sglang.utils import is_new, is_sm90, is_url\n\n" + ask,
        "b.py": "=",
    }
    [suspect] = look(case(upstream, generated)).suspects
    assert (suspect.name, suspect.defined) == ("is_new", "sglang.utils")
    assert suspect.beside == ("is_cpu", "is_cuda", "is_npu")
    assert suspect.sites == (("python/sglang/a.py", 3), ("python/sglang/b.py", 2))


def test_no_suspect_without_company_or_without_a_condition(case: Build) -> None:
    upstream = {
        "utils.py": UTILS + "\n\ndef is_unasked():\n    return f(is_unasked())\n",
        "a.py": (
            "from sglang.utils import is_npu\nfrom sglang.other import is_alone\n\n"
            "if is_alone():\n    a = 1\n"
        ),
    }
    assert look(case(upstream, dict.fromkeys(upstream, "="))).suspects == ()


def test_the_number_of_jobs_changes_nothing(case: Build) -> None:
    files = {f"m{n}.py": f"import aiter\n\nif is_npu():\n    x = 'npu{n}'\n" for n in range(5)}
    built = case(files, {name: text + "y = 1\n" for name, text in files.items()})
    assert look(built) == look(built, jobs=3)


def test_a_file_that_cannot_be_read(case: Build) -> None:
    built = case({"a.py": "x = 1\n"}, {"a.py": "="})
    (built.out / "python/sglang/a.py").unlink()
    with pytest.raises(InputError, match=r"a\.py"):
        look(built)


def test_shrinkers_own_files_are_not_judged(case: Build) -> None:
    own = {"refused.py": 'NAMES = ("SGLANG_FAST",)\n'}
    built = case({"a.py": "x = 1\n"}, {"a.py": "x = 1\n", **own})
    assert not find_leftovers(built.trees(RULES)).leftovers
    built = case({"a.py": "x = 1\n", **own}, {"a.py": "x = 1\n", **own})
    assert find_leftovers(built.trees(RULES)).leftovers
