"""What is gone is explained by words of what the profile drops; and what carries a capability stands. What is no finding comes first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shrinker.check import levels
from shrinker.ruleset import Ruleset
from shrinker.values.outcome import Evidence
from tests.check.trees import Build, Files
from tests.small import rule

Compare = Callable[[Files, Files], Evidence]
Judge = Callable[..., list[str]]
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


GO = "def f(x):\n    x.go()\n"
EXPLAINED = {
    "an arm under a word": ("def f(x):\n    if is_tpu():\n        x.slow()\n    else:\n        x.go()\n", GO),
    "an arm of a chain": (
        "def f(x):\n    if x.a:\n        x.one()\n    elif x.tpu and x.b:\n        x.two()\n    else:\n        x.three()\n",
        "def f(x):\n    if x.a:\n        x.one()\n    else:\n        x.three()\n",
    ),
    "what holds": (
        "def f(x):\n    if x.is_fast:\n        return x.one()\n    return x.two()\n",
        "def f(x):\n    return x.one()\n",
    ),
    "what does not hold": (
        "def f(x):\n    if not x.is_fast:\n        raise ValueError(x)\n    return x.two()\n",
        "def f(x):\n    return x.two()\n",
    ),
    "one of several texts": ("def f(x):\n    if x.kind in ('tpu', 'tpu2'):\n        x.slow()\n    x.go()\n", GO),
    "an operand": ("def f(x):\n    return x.a or x.tpu\n", "def f(x):\n    return x.a\n"),
    "an operand that another one decides": (
        "def f(x):\n    return x.is_fast or x.a\n",
        "def f(x):\n    return x.is_fast\n",
    ),
    "a value": ("def f(x):\n    return x.a if x.tpu else x.b\n", "def f(x):\n    return x.b\n"),
    "a literal": ("def f(x):\n    x.go(flag=x.on_tpu)\n", "def f(x):\n    x.go(flag=False)\n"),
    "a row": ('T = {"a": A, "tpu": B}\n', 'T = {"a": A}\n'),
    "an item": ('T = ["a", "x-tpu"]\n', 'T = ["a"]\n'),
    "all items of several but one": (
        "def f(x):\n    if isinstance(x, (A, Tpu)):\n        x.go()\n",
        "def f(x):\n    if isinstance(x, (A,)):\n        x.go()\n",
    ),
    "a word between others": ('T = ["a", "north wind"]\n', 'T = ["a"]\n'),
    "a suite that speaks of nothing else": (
        "def f(x):\n    if x.a:\n        from b import TpuBackend\n        x.add(TpuBackend)\n    x.go()\n",
        GO,
    ),
    "names that nothing reads": ("def f(x):\n    if x.a:\n        y = x.b\n    x.go()\n", GO),
    "what nothing names any more": ("def f(x):\n    x.go()\n\ndef g(x):\n    return x\n", GO),
    "a named error": (
        "def f(x):\n    x.go()\n    load_tpu(x)\n    return x.a if x.b else x.c\n",
        'def f(x):\n    x.go()\n    raise RuntimeError("shrinker: TPU is not part of this server")\n',
    ),
    "a named error of what is imported by a word": (
        "if x.on:\n    from tpu_ops import quick\n\ndef f(x):\n    x.go()\n    quick(x)\n    return x.b\n",
        'def f(x):\n    x.go()\n    raise RuntimeError("shrinker: sglang.srt.a.quick is not part of this server")\n',
    ),
    "a named error under a test by a word": (
        "def f(x):\n    if x.tpu:\n        y = x.a()\n        load(y)\n    return x.b\n",
        'def f(x):\n    if x.tpu:\n        y = x.a()\n        raise RuntimeError("shrinker: it is not part of this server")\n    return x.b\n',
    ),
    "a named error at the first statement": (
        "def f(x):\n    load_tpu(x)\n    return x.a\n",
        'def f(x):\n    raise RuntimeError("shrinker: TPU is not part of this server")\n',
    ),
    "what is within something dropped": (
        "class Old:\n    def f(x):\n        if x.a:\n            x.one()\n        x.two()\n",
        "class Old:\n    def f(x):\n        x.two()\n",
    ),
    "a word that begins within another one": ("def f(x):\n    if x.isTPUKind:\n        x.slow()\n    x.go()\n", GO),
    "what is asked about a word": ("def f(x):\n    if isinstance(x, TpuBackend):\n        x.slow()\n    x.go()\n", GO),
    "two suites that say the same": (
        "def f(x):\n    if x.tpu:\n        return x.one()\n    if x.a:\n        return x.one()\n    return x.two()\n",
        "def f(x):\n    if x.a:\n        return x.one()\n    return x.two()\n",
    ),
    "a function that is there twice": (
        "if is_tpu():\n    def f(x):\n        return x.slow()\nelse:\n    def f(x):\n        return x.go()\n",
        "def f(x):\n    return x.go()\n",
    ),
    "a statement": ("def f(x):\n    x.start_tpu()\n    x.go()\n", GO),
    "a check": ("def f(x):\n    assert x.fast\n    x.go()\n", GO),
    "a name that is bound and not read": ("def f(x):\n    y = x.b\n    x.go()\n", GO),
    "what stands behind the end": (
        "def f(x):\n    if x.fast:\n        return x.go()\n    x.slow()\n    return x.stop()\n",
        "def f(x):\n    return x.go()\n",
    ),
    "a handler": ("def f(x):\n    try:\n        x.go()\n    except TpuError:\n        x.stop()\n", GO),
    "a package by a word": (
        "try:\n    import tpu_ops\nexcept ImportError:\n    tpu_ops = None\n\ndef f(x):\n    return tpu_ops or x\n",
        "tpu_ops = None\n\ndef f(x):\n    return tpu_ops or x\n",
    ),
    "a package that nothing reads": (
        "try:\n    import ops\n    import more\nexcept ImportError:\n    ops = more = None\n\ndef f(x):\n    return ops or x\n",
        "try:\n    import ops\nexcept ImportError:\n    ops = None\n\ndef f(x):\n    return ops or x\n",
    ),
    "a loop by a word": ("def f(x):\n    for y in x.a:\n        y.start_tpu()\n    x.go()\n", GO),
    "a value of the module that a function has of its own": (
        "y = make()\n\ndef f(x):\n    y = x.a()\n    return y\n",
        "def f(x):\n    y = x.a()\n    return y\n",
    ),
    "a program that no root runs": (
        'x = 1\nif __name__ == "__main__":\n    main()\n',
        'x = 1\nif __name__ == "__main__":\n    raise RuntimeError("shrinker: it is not part of this server")\n',
    ),
}
UNEXPLAINED = {
    "what only holds the letters of a word": (
        "def f(x):\n    if x.output:\n        x.slow()\n    x.go()\n",
        GO,
        "f: what runs if `x.output`",
    ),
    "a question in whose arguments a word is": (
        "def f(x):\n    if x.check(tpu, 1):\n        x.slow()\n    x.go()\n",
        GO,
        "f: what runs if `x.check(tpu, 1)`",
    ),
    "what is within a function that a word names": (
        "def tpu_only(x):\n    if x.a:\n        x.one()\n    x.two()\n",
        "def tpu_only(x):\n    x.two()\n",
        "tpu_only: what runs if `x.a`",
    ),
    "what is within another one of its name's beginning": (
        "class Older:\n    def f(x):\n        if x.a:\n            x.one()\n        x.two()\n",
        "class Older:\n    def f(x):\n        x.two()\n",
        "Older.f: what runs if `x.a`",
    ),
    "an arm": (
        "def f(x):\n    if x.cache:\n        x.slow()\n    else:\n        x.go()\n",
        GO,
        "f: what runs if `x.cache`",
    ),
    "an arm that only one of two operands explains": (
        "def f(x):\n    if x.cache or x.tpu:\n        x.slow()\n    x.go()\n",
        GO,
        "f: what runs if `x.cache or x.tpu`",
    ),
    "one of several texts that is not": (
        "def f(x):\n    if x.kind in ('tpu', 'gpu'):\n        x.slow()\n    x.go()\n",
        GO,
        "f: what runs if `x.kind in ('tpu', 'gpu')`",
    ),
    "the wrong arm": (
        "def f(x):\n    if is_tpu():\n        return x.slow()\n    return x.go()\n",
        "def f(x):\n    return x.slow()\n",
        "f: what runs unless `is_tpu()`",
    ),
    "the wrong arm, behind its chain of tests": (
        "def f(x):\n    if x.a:\n        x.go()\n    elif is_tpu():\n        x.slow()\n    else:\n        x.one()\n",
        "def f(x):\n    if x.a:\n        x.go()\n    x.slow()\n",
        "f: out of its place stands `x.slow()`",
    ),
    "what holds, the other way round": (
        "def f(x):\n    if x.is_fast:\n        return x.one()\n    return x.two()\n",
        "def f(x):\n    return x.two()\n",
        "f: what runs if `x.is_fast`",
    ),
    "an operand": ("def f(x):\n    return x.a or x.cache\n", "def f(x):\n    return x.a\n", "f: the operand `x.cache`"),
    "a value": (
        "def f(x):\n    return x.a if x.cache else x.b\n",
        "def f(x):\n    return x.b\n",
        "f: the value if `x.cache`",
    ),
    "a literal": (
        "class C:\n    def f(self):\n        self.go(flag=self.cache)\n",
        "class C:\n    def f(self):\n        self.go(flag=False)\n",
        "C.f: False stands for `self.cache`",
    ),
    "a row": ('T = {"a": A, "b": B}\n', 'T = {"a": A}\n', "the module: the entry `'b', B`"),
    "a case": (
        'def f(x):\n    match x:\n        case "a":\n            return 1\n        case "b":\n            return 2\n',
        'def f(x):\n    match x:\n        case "b":\n            return 2\n',
        "f: the entry `'a'`",
    ),
    "a named error": (
        "def f(x):\n    x.go()\n    load(x)\n",
        'def f(x):\n    x.go()\n    raise RuntimeError("shrinker: loading is not part of this server")\n',
        "f: the named error stands for `load(x)`",
    ),
    "a named error behind a test that a word decides": (
        "def f(x):\n    x.go()\n    if x.tpu:\n        x.slow()\n    load(x)\n",
        'def f(x):\n    x.go()\n    raise RuntimeError("shrinker: loading is not part of this server")\n',
        "f: the named error stands for `If x.tpu`",
    ),
    "a named error that names a method of a class by a word": (
        "class East:\n    def f(x):\n        load(x)\n",
        'class East:\n    def f(x):\n        raise RuntimeError("shrinker: sglang.srt.a.East.f is not part of this server")\n',
        "East.f: the named error stands for `load(x)`",
    ),
    "a named error before what speaks of something dropped": (
        "def f(x):\n    x.go()\n    load(x)\n    if x.a:\n        x.tpu()\n",
        'def f(x):\n    x.go()\n    raise RuntimeError("shrinker: loading is not part of this server")\n',
        "f: the named error stands for `load(x)`",
    ),
    "a named error in a method of a class by a word": (
        "class Tpu:\n    def f(x):\n        x.go()\n        load(x)\n",
        'class Tpu:\n    def f(x):\n        x.go()\n        raise RuntimeError("shrinker: loading is not part of this server")\n',
        "Tpu.f: the named error stands for `load(x)`",
    ),
    "a statement": ("def f(x):\n    x.flush()\n    x.go()\n", GO, "f: the statement `x.flush()`"),
    "a check": ("def f(x):\n    assert x.b, x\n    x.go()\n", GO, "f: the check `x.b`"),
    "a function that was taken away, though it speaks of something dropped, too": (
        "def f(x):\n    x.flush()\n    if x.tpu:\n        x.slow()\n",
        'def f(x):\n    raise RuntimeError("shrinker: flushing is not part of this server")\n',
        "f: the named error stands for `x.flush()`",
    ),
    "a package whose handler takes over": (
        "try:\n    import ops\n    OPS = True\nexcept ImportError:\n    OPS = False\n\ndef f(x):\n    return OPS and x\n",
        "OPS = False\n\ndef f(x):\n    return OPS and x\n",
        "the module: the import `import ops`",
    ),
    "a package behind another one, which a handler binds": (
        "try:\n    import ops\n    import more\nexcept ImportError:\n    ops = more = None\n\ndef f(x):\n    return ops(more)\n",
        "try:\n    import ops\nexcept ImportError:\n    ops = more = None\n\ndef f(x):\n    return ops(more)\n",
        "the module: the import `import more`",
    ),
    "one name of an import": (
        "try:\n    from ops import a, b\nexcept ImportError:\n    a = b = None\n\ndef f(x):\n    return a(b)\n",
        "try:\n    from ops import a\nexcept ImportError:\n    a = b = None\n\ndef f(x):\n    return a(b)\n",
        "the module: the import `from ops import a, b`",
    ),
    "what a `try` does": (
        "def f(x):\n    try:\n        x.start()\n    except KeyError:\n        pass\n    x.go()\n",
        GO,
        "f: the statement `x.start()`",
    ),
    "what a loop does": (
        "def f(x):\n    for y in x.a:\n        y.start()\n    x.go()\n",
        GO,
        "f: the statement `y.start()`",
    ),
    "a value that another arm has": (
        "def f(x):\n    if x.a:\n        x.go()\n        y = x.make()\n    else:\n        y = x.b\n    return y\n",
        "def f(x):\n    if x.a:\n        x.go()\n    else:\n        y = x.b\n    return y\n",
        "f: the value `y = x.make()`",
    ),
    "a test below a test": (
        "def f(x):\n    for y in x:\n        if y.a:\n            if y.cache:\n                y.b()\n            y.c()\n",
        "def f(x):\n    for y in x:\n        if y.a:\n            y.c()\n",
        "f: what runs if `y.cache`",
    ),
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_no_finding(judge: Judge, name: str) -> None:
    assert judge(*EXPLAINED[name]) == []


@pytest.mark.parametrize("name", UNEXPLAINED)
def test_a_loss_that_no_word_explains(judge: Judge, name: str) -> None:
    *trees, message = UNEXPLAINED[name]
    assert judge(*trees) == [message]


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
ARMS = "def f(self):\n    if {}:\n        return on_tpu(self)\n    else:\n        return on_gpu(self)\n"


@pytest.mark.parametrize("test", DECIDED)
def test_of_a_decided_test_the_arm_that_never_runs_may_not_stand_and_the_other_may(judge: Judge, test: str) -> None:
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
    before = "def f(x):\n    if x.tpu:\n        x.slow()\n    if x.is_fast:\n        x.go()\n    if x.cache:\n        x.keep()\n"
    found = evidence({"srt/a.py": before}, {"srt/a.py": "def f(x):\n    x.go()\n"})
    rows = {name: count for name, count in found.checks if name not in {"modules", "definitions", "names", "refused"}}
    assert rows == {"explained by dropped-tpu": 1, "explained by fast-holds": 1, "losses that no word explains": 1}


# What upstream lacks is not asked for.
@pytest.mark.parametrize(("files", "counts"), [(WHOLE, (1, 2, 2)), ({"srt/b.py": "x = 1\n"}, (0, 0, 0))])
def test_what_carries_a_capability_stands(evidence: Compare, files: Files, counts: tuple[int, ...]) -> None:
    found = evidence(files, files)
    names = ("modules", "definitions", "names", "refused")
    assert found.passed and dict(found.checks) == dict(zip(names, (*counts, 0), strict=True))


@pytest.mark.parametrize(
    ("path", "text", "messages"),
    [
        ("srt/cache.py", None, ["Store.put carries keeps-cache, and is gone", "carries keeps-cache, and is not"]),
        ("srt/cache.py", "class Store:\n    x = 1\n", ["Store.put carries keeps-cache, and is gone"]),
        ("srt/a.py", "def flush(args):\n    return args.enable_cache\n", ["'/flush' asks for keeps-cache"]),
    ],
)
def test_a_capability_that_is_gone(evidence: Compare, path: str, text: str | None, messages: list[str]) -> None:
    left = {name: other for name, other in {**WHOLE, path: text}.items() if other is not None}
    found = evidence(WHOLE, left)
    said = [finding.message for finding in found.held().findings]
    assert len(said) == len(messages) and all(any(m in line for line in said) for m in messages), said


def test_without_words_nothing_is_looked_at(case: Build) -> None:
    made = case(WHOLE, WHOLE).trees(Ruleset())
    found = levels.judge(levels.CAPABILITIES, made, lambda line: None)
    assert found.checks == () and found.passed


TABLE = """
REFUSALS: tuple[Refusal, ...] = (
    Refusal("a.b", ("backend", "other"), ("tpu2",), (), "tpu", "refuse-tpu", "Leave it out."),
    Refusal("a.b", ("backend",), ({value!r},), (), "x", "refuse-value", "Leave it out."),
    Refusal("a.b", ({flag!r},), (), (), "x", "refuse-flag", "Leave it out."),
    Refusal("a.b", ("kinds",), (), ("one", "two"), "x", "refuse-others", "Leave it out."),
)
SWITCHES: tuple[tuple[str, str], ...] = (("fact-off", "USE_TPU_TOO {variable} "),)
"""


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
    judged = evidence({"srt/a.py": "x = 1\n"}, {"srt/a.py": "x = 1\n", "removed_features.py": table})
    assert [finding.message for finding in judged.open] == found
    assert dict(judged.checks)["refused"] == 5
