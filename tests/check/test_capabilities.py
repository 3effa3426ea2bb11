"""What is gone is explained by words of what the profile drops; and what carries a capability
stands. What is no finding comes first.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from shrinker.check import levels
from shrinker.ruleset import Ruleset
from shrinker.values.outcome import Evidence
from tests.check.trees import Build, Files
from tests.small import read_archive, read_cases, rule

Compare = Callable[[Files, Files], Evidence]
Judge = Callable[..., list[str]]
HERE = Path(__file__).parent
EXPLAINED, UNEXPLAINED = (
    read_cases(HERE / f"{name}.txtar") for name in ("explained", "unexplained")
)
RULES = (
    rule("dropped", "dropped-tpu", words=["tpu", r"north\b", "^east$"], inside=["sglang.srt.a.Old"])
    + rule("dropped", "fast-holds", holds=["fast"])
    + rule(
        *("capability", "keeps-cache"),
        names=["enable_cache", "/flush"],
        modules=["sglang.srt.cache"],
        definitions=["sglang.**.Store.put", "sglang.srt.a.flush"],
    )
)


@pytest.fixture
def evidence(case: Build) -> Compare:
    def judged(upstream: Files, generated: Files) -> Evidence:
        return case(upstream, generated).ruled(RULES).evidence(levels.CAPABILITIES)

    return judged


@pytest.fixture
def judge(evidence: Compare) -> Judge:
    def said(upstream: str, generated: str) -> list[str]:
        found = evidence({"srt/a.py": upstream}, {"srt/a.py": generated})
        assert found.passed and not found.findings, "nobody answers for this upstream"
        held = found.held()
        assert held.passed is not bool(found.open) and held.findings == found.open and not held.open
        return [finding.message for finding in found.open]

    return said


@pytest.mark.parametrize("name", EXPLAINED)
def test_no_finding(judge: Judge, name: str) -> None:
    assert judge(**EXPLAINED[name]) == []


@pytest.mark.parametrize("name", UNEXPLAINED)
def test_a_loss_that_no_word_explains(judge: Judge, name: str) -> None:
    trees = {**UNEXPLAINED[name]}
    message = trees.pop("said").strip()
    assert judge(**trees) == [message]


SWITCH = """class A:
    def __init__(self):
        self.off = False
    def f(self):
        if self.off:  # gone
            return  # gone
        self.go()
"""


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("def f(x):\n    return x.off\n", []),
        ("def f(x):\n    x.off = False\n", []),
        ("def f(x):  # gone\n    x.off = True  # gone\n", []),
        ("x = 1\ndef f(x):  # gone\n    x.off = True  # gone\n", []),
        ("def f(x):\n    x.off = True\n", ["A.f: what runs if `self.off`"]),
        ("def f(x):\n    x.off = x.a\n", ["A.f: what runs if `self.off`"]),
        ("def f(x):\n    x.go()\n    x.off = True  # gone\n", ["A.f: what runs if `self.off`"]),
        ("def f(x:\n    x.off = x.a\n", ["A.f: what runs if `self.off`"]),
    ],
)
def test_an_attribute_that_another_file_stores(case: Build, other: str, found: list[str]) -> None:
    trees = case({"srt/a.py": SWITCH, "srt/b.py": other}).ruled(RULES)
    judged = trees.evidence(levels.CAPABILITIES)
    assert [finding.message for finding in judged.open] == found


DECIDED = [
    "is_tpu()",
    "not is_fast()",
    "is_tpu() and os.path",
    "_is_tpu",
    "not _is_fast",
    "_either and _is_tpu",
    "device == 'tpu'",
    "self.device in ('tpu', 'tpu2')",
    "family != 'fast' and family == 'other'",
    "platform.is_tpu",
    "platform.is_tpu()",
    "not platform.is_fast_device()",
    "torch.version.tpu",
    "os.getenv('USE_TPU')",
    "get_bool_env_var('USE_TPU')",
    "envs.USE_TPU.get()",
    "name := os.getenv('USE_TPU')",
]
ARMS = (
    "def f(self):\n    if {}:\n        return on_tpu(self)\n    else:\n        return "
    "on_gpu(self)\n"
)


@pytest.mark.parametrize("test", DECIDED)
def test_of_a_decided_test_the_arm_that_never_runs_may_not_stand_and_the_other_may(
    judge: Judge, test: str
) -> None:
    assert judge(ARMS.format(test), "def f(self):\n    return on_gpu(self)\n") == []
    (message,) = judge(ARMS.format(test), "def f(self):\n    return on_tpu(self)\n")
    assert message.startswith("f: what runs unless")


CACHE = "class Store:\n    def put(self):\n        pass\n"
WHOLE = {
    "srt/cache.py": CACHE,
    "srt/a.py": 'def flush(args):\n    return args.enable_cache and "/flush"\n',
    "srt/b.py": "",
}


def test_evidence_counts_what_rests_on_each_row(evidence: Compare) -> None:
    before = "if x.tpu:\n    x.slow()\nif x.is_fast:\n    x.go()\nif x.cache:\n    x.keep()\n"
    found = evidence({"srt/a.py": before}, {"srt/a.py": "x.go()\n"})
    rows = {
        name: count
        for name, count in found.checks
        if name not in {"modules", "definitions", "names", "refused"}
    }
    assert rows == {
        "explained by dropped-tpu": 1,
        "explained by fast-holds": 1,
        "losses that no word explains": 1,
    }


# What upstream lacks is not asked for.
@pytest.mark.parametrize(
    ("files", "counts"), [(WHOLE, (1, 2, 2)), ({"srt/b.py": "x = 1\n"}, (0, 0, 0))]
)
def test_what_carries_a_capability_stands(
    evidence: Compare, files: Files, counts: tuple[int, ...]
) -> None:
    found = evidence(files, files)
    names = ("modules", "definitions", "names", "refused")
    assert found.passed and dict(found.checks) == dict(zip(names, (*counts, 0), strict=True))


@pytest.mark.parametrize(
    ("path", "text", "messages"),
    [
        (
            "srt/cache.py",
            None,
            ["Store.put carries keeps-cache, and is gone", "carries keeps-cache, and is not"],
        ),
        (
            "srt/cache.py",
            "class Store:\n    x = 1\n",
            ["Store.put carries keeps-cache, and is gone"],
        ),
        (
            "srt/a.py",
            "def flush(args):\n    return args.enable_cache\n",
            ["'/flush' asks for keeps-cache"],
        ),
    ],
)
def test_a_capability_that_is_gone(
    evidence: Compare, path: str, text: str | None, messages: list[str]
) -> None:
    left = {name: other for name, other in {**WHOLE, path: text}.items() if other is not None}
    found = evidence(WHOLE, left)
    said = [finding.message for finding in found.held().findings]
    assert len(said) == len(messages) and all(any(m in line for line in said) for m in messages), (
        said
    )


def test_without_words_nothing_is_looked_at(case: Build) -> None:
    made = case(WHOLE, WHOLE).trees(Ruleset())
    found = levels.judge(levels.CAPABILITIES, made, lambda line: None)
    assert found.checks == () and found.passed


TABLE = read_archive(HERE / "refused.txtar")["removed_features.py"]


@pytest.mark.parametrize(
    ("flag", "value", "variable", "found"),
    [
        ("use_tpu", "tpu", "USE_TPU=", []),
        ("enable_cache", "tpu", "USE_TPU", ["refuse-flag refuses 'enable_cache'"]),
        ("use_tpu", "quick", "USE_TPU", ["refuse-value refuses 'quick'"]),
        ("use_tpu", "tpu", "USE_CACHE", ["fact-off refuses 'USE_CACHE'"]),
    ],
)
def test_what_is_refused_is_explained(
    evidence: Compare, flag: str, value: str, variable: str, found: list[str]
) -> None:
    table = TABLE.format(flag=flag, value=value, variable=variable)
    judged = evidence(
        {"srt/a.py": "x = 1\n"}, {"srt/a.py": "x = 1\n", "removed_features.py": table}
    )
    assert [finding.message for finding in judged.open] == found
    assert dict(judged.checks)["refused"] == 5
