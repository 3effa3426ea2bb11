"""What is gone is explained by words of what the profile drops; and what carries a capability stands. What is no finding comes first."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

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


def f(body: str) -> str:
    """A function `f(x)` with these lines."""
    return f"def f(x):\n{indent(body, '    ')}\n"


GO = f("x.go()")
EXPLAINED = {
    "an arm under a word": (f("if is_tpu():\n    x.slow()\nelse:\n    x.go()"), GO),
    "an arm of a chain": (
        f("if x.a:\n    x.one()\nelif x.tpu and x.b:\n    x.two()\nelse:\n    x.three()"),
        f("if x.a:\n    x.one()\nelse:\n    x.three()"),
    ),
    "what holds": (f("if x.is_fast:\n    return x.one()\nreturn x.two()"), f("return x.one()")),
    "what does not hold": (f("if not x.is_fast:\n    raise ValueError(x)\nreturn x.two()"), f("return x.two()")),
    "one of several texts": (f("if x.kind in ('tpu', 'tpu2'):\n    x.slow()\nx.go()"), GO),
    "an operand": (f("return x.a or x.tpu"), f("return x.a")),
    "an operand that another one decides": (f("return x.is_fast or x.a"), f("return x.is_fast")),
    "a value": (f("return x.a if x.tpu else x.b"), f("return x.b")),
    "a literal": (f("x.go(flag=x.on_tpu)"), f("x.go(flag=False)")),
    "a row": ('T = {"a": A, "tpu": B}\n', 'T = {"a": A}\n'),
    "an item": ('T = ["a", "x-tpu"]\n', 'T = ["a"]\n'),
    "all items of several but one": (
        f("if isinstance(x, (A, Tpu)):\n    x.go()"),
        f("if isinstance(x, (A,)):\n    x.go()"),
    ),
    "a word between others": ('T = ["a", "north wind"]\n', 'T = ["a"]\n'),
    "a suite that speaks of nothing else": (
        f("if x.a:\n    from b import TpuBackend\n    x.add(TpuBackend)\nx.go()"),
        GO,
    ),
    "names that nothing reads": (f("if x.a:\n    y = x.b\nx.go()"), GO),
    "what nothing names any more": ("def f(x):\n    x.go()\n\ndef g(x):\n    return x\n", GO),
    "a named error": (
        f("x.go()\nload_tpu(x)\nreturn x.a if x.b else x.c"),
        f('x.go()\nraise RuntimeError("shrinker: TPU is not part of this server")'),
    ),
    "a named error of what is imported by a word": (
        "if x.on:\n    from tpu_ops import quick\n\ndef f(x):\n    x.go()\n    quick(x)\n    return x.b\n",
        f('x.go()\nraise RuntimeError("shrinker: sglang.srt.a.quick is not part of this server")'),
    ),
    "a named error under a test by a word": (
        f("if x.tpu:\n    y = x.a()\n    load(y)\nreturn x.b"),
        f('if x.tpu:\n    y = x.a()\n    raise RuntimeError("shrinker: it is not part of this server")\nreturn x.b'),
    ),
    "a named error at the first statement": (
        f("load_tpu(x)\nreturn x.a"),
        f('raise RuntimeError("shrinker: TPU is not part of this server")'),
    ),
    "what is within something dropped": (
        "class Old:\n    def f(x):\n        if x.a:\n            x.one()\n        x.two()\n",
        "class Old:\n    def f(x):\n        x.two()\n",
    ),
    "a word that begins within another one": (f("if x.isTPUKind:\n    x.slow()\nx.go()"), GO),
    "what is asked about a word": (f("if isinstance(x, TpuBackend):\n    x.slow()\nx.go()"), GO),
    "two suites that say the same": (
        f("if x.tpu:\n    return x.one()\nif x.a:\n    return x.one()\nreturn x.two()"),
        f("if x.a:\n    return x.one()\nreturn x.two()"),
    ),
    "a function that is there twice": (
        "if is_tpu():\n    def f(x):\n        return x.slow()\nelse:\n    def f(x):\n        return x.go()\n",
        f("return x.go()"),
    ),
    "a statement": (f("x.start_tpu()\nx.go()"), GO),
    "a check": (f("assert x.fast\nx.go()"), GO),
    "a name that is bound and not read": (f("y = x.b\nx.go()"), GO),
    "what stands behind the end": (f("if x.fast:\n    return x.go()\nx.slow()\nreturn x.stop()"), f("return x.go()")),
    "a handler": (f("try:\n    x.go()\nexcept TpuError:\n    x.stop()"), GO),
    "a package by a word": (
        "try:\n    import tpu_ops\nexcept ImportError:\n    tpu_ops = None\n\ndef f(x):\n    return tpu_ops or x\n",
        "tpu_ops = None\n\ndef f(x):\n    return tpu_ops or x\n",
    ),
    "a package that nothing reads": (
        "try:\n    import ops\n    import more\nexcept ImportError:\n    ops = more = None\n\ndef f(x):\n    return ops or x\n",
        "try:\n    import ops\nexcept ImportError:\n    ops = None\n\ndef f(x):\n    return ops or x\n",
    ),
    "a loop by a word": (f("for y in x.a:\n    y.start_tpu()\nx.go()"), GO),
    "a value of the module that a function has of its own": (
        "y = make()\n\ndef f(x):\n    y = x.a()\n    return y\n",
        f("y = x.a()\nreturn y"),
    ),
    "a program that no root runs": (
        'x = 1\nif __name__ == "__main__":\n    main()\n',
        'x = 1\nif __name__ == "__main__":\n    raise RuntimeError("shrinker: it is not part of this server")\n',
    ),
}
UNEXPLAINED = {
    "what only holds the letters of a word": (
        f("if x.output:\n    x.slow()\nx.go()"),
        GO,
        "f: what runs if `x.output`",
    ),
    "a question in whose arguments a word is": (
        f("if x.check(tpu, 1):\n    x.slow()\nx.go()"),
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
    "an arm": (f("if x.cache:\n    x.slow()\nelse:\n    x.go()"), GO, "f: what runs if `x.cache`"),
    "an arm that only one of two operands explains": (
        f("if x.cache or x.tpu:\n    x.slow()\nx.go()"),
        GO,
        "f: what runs if `x.cache or x.tpu`",
    ),
    "one of several texts that is not": (
        f("if x.kind in ('tpu', 'gpu'):\n    x.slow()\nx.go()"),
        GO,
        "f: what runs if `x.kind in ('tpu', 'gpu')`",
    ),
    "the wrong arm": (
        f("if is_tpu():\n    return x.slow()\nreturn x.go()"),
        f("return x.slow()"),
        "f: what runs unless `is_tpu()`",
    ),
    "the wrong arm, behind its chain of tests": (
        f("if x.a:\n    x.go()\nelif is_tpu():\n    x.slow()\nelse:\n    x.one()"),
        f("if x.a:\n    x.go()\nx.slow()"),
        "f: out of its place stands `x.slow()`",
    ),
    "what holds, the other way round": (
        f("if x.is_fast:\n    return x.one()\nreturn x.two()"),
        f("return x.two()"),
        "f: what runs if `x.is_fast`",
    ),
    "an operand": (f("return x.a or x.cache"), f("return x.a"), "f: the operand `x.cache`"),
    "a value": (f("return x.a if x.cache else x.b"), f("return x.b"), "f: the value if `x.cache`"),
    "a literal": (
        "class C:\n    def f(self):\n        self.go(flag=self.cache)\n",
        "class C:\n    def f(self):\n        self.go(flag=False)\n",
        "C.f: False stands for `self.cache`",
    ),
    "a row": ('T = {"a": A, "b": B}\n', 'T = {"a": A}\n', "the module: the entry `'b', B`"),
    "a case": (
        f('match x:\n    case "a":\n        return 1\n    case "b":\n        return 2'),
        f('match x:\n    case "b":\n        return 2'),
        "f: the entry `'a'`",
    ),
    "a named error": (
        f("x.go()\nload(x)"),
        f('x.go()\nraise RuntimeError("shrinker: loading is not part of this server")'),
        "f: the named error stands for `load(x)`",
    ),
    "a named error behind a test that a word decides": (
        f("x.go()\nif x.tpu:\n    x.slow()\nload(x)"),
        f('x.go()\nraise RuntimeError("shrinker: loading is not part of this server")'),
        "f: the named error stands for `If x.tpu`",
    ),
    "a named error that names a method of a class by a word": (
        "class East:\n    def f(x):\n        load(x)\n",
        'class East:\n    def f(x):\n        raise RuntimeError("shrinker: sglang.srt.a.East.f is not part of this server")\n',
        "East.f: the named error stands for `load(x)`",
    ),
    "a named error before what speaks of something dropped": (
        f("x.go()\nload(x)\nif x.a:\n    x.tpu()"),
        f('x.go()\nraise RuntimeError("shrinker: loading is not part of this server")'),
        "f: the named error stands for `load(x)`",
    ),
    "a named error in a method of a class by a word": (
        "class Tpu:\n    def f(x):\n        x.go()\n        load(x)\n",
        'class Tpu:\n    def f(x):\n        x.go()\n        raise RuntimeError("shrinker: loading is not part of this server")\n',
        "Tpu.f: the named error stands for `load(x)`",
    ),
    "a statement": (f("x.flush()\nx.go()"), GO, "f: the statement `x.flush()`"),
    "a check": (f("assert x.b, x\nx.go()"), GO, "f: the check `x.b`"),
    "a function that was taken away, though it speaks of something dropped, too": (
        f("x.flush()\nif x.tpu:\n    x.slow()"),
        f('raise RuntimeError("shrinker: flushing is not part of this server")'),
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
        f("try:\n    x.start()\nexcept KeyError:\n    pass\nx.go()"),
        GO,
        "f: the statement `x.start()`",
    ),
    "what a loop does": (f("for y in x.a:\n    y.start()\nx.go()"), GO, "f: the statement `y.start()`"),
    "a value that another arm has": (
        f("if x.a:\n    x.go()\n    y = x.make()\nelse:\n    y = x.b\nreturn y"),
        f("if x.a:\n    x.go()\nelse:\n    y = x.b\nreturn y"),
        "f: the value `y = x.make()`",
    ),
    "a test below a test": (
        f("for y in x:\n    if y.a:\n        if y.cache:\n            y.b()\n        y.c()"),
        f("for y in x:\n    if y.a:\n        y.c()"),
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
    before = f("if x.tpu:\n    x.slow()\nif x.is_fast:\n    x.go()\nif x.cache:\n    x.keep()")
    found = evidence({"srt/a.py": before}, {"srt/a.py": f("x.go()")})
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
