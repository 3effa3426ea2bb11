"""Modules before and after a loss: explained by the words of `test_capabilities.py`, or with what is said of it."""

from textwrap import indent


def f(*lines: str) -> str:
    """A function `f(x)` with these lines."""
    return "def f(x):\n" + indent("\n".join(lines), "    ") + "\n"


def gone(what: str = "it") -> str:
    """The named error that stands for something."""
    return f'raise RuntimeError("shrinker: {what} is not part of this server")'


GO = f("x.go()")
OWN = (
    "def one(): ...\nT = [{}]\nfor n in T:\n    if n in globals():\n        globals()[n] = wrap(globals()[n])\ndel T\n"
)
"""A loop that asks which texts of a list are names of the module."""

EXPLAINED = {
    "an item that is only asked whether it is a name of the module, and is none": (
        OWN.format("'one', 'two'"),
        OWN.format("'one'"),
    ),
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
    "a named error": (f("x.go()\nload_tpu(x)\nreturn x.a if x.b else x.c"), f("x.go()", gone("TPU"))),
    "a named error of what is imported by a word": (
        "if x.on:\n    from tpu_ops import quick\n\ndef f(x):\n    x.go()\n    quick(x)\n    return x.b\n",
        f("x.go()", gone("sglang.srt.a.quick")),
    ),
    "a named error under a test by a word": (
        f("if x.tpu:\n    y = x.a()\n    load(y)\nreturn x.b"),
        f("if x.tpu:\n    y = x.a()", "    " + gone(), "return x.b"),
    ),
    "a named error at the first statement": (f("load_tpu(x)\nreturn x.a"), f(gone("TPU"))),
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
    "an item that is a name of the module": (
        OWN.format("'one', 'two'"),
        OWN.format("'two'"),
        "the module: the entry `'one'`",
    ),
    "an item of a list that is read elsewhere": (
        OWN.format("'one', 'two'") + "N = len(T)\n",
        OWN.format("'one'") + "N = len(T)\n",
        "the module: the entry `'two'`",
    ),
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
    "a named error": (f("x.go()\nload(x)"), f("x.go()", gone()), "f: the named error stands for `load(x)`"),
    "a named error behind a test that a word decides": (
        f("x.go()\nif x.tpu:\n    x.slow()\nload(x)"),
        f("x.go()", gone()),
        "f: the named error stands for `If x.tpu`",
    ),
    "a named error that names a method of a class by a word": (
        "class East:\n    def f(x):\n        load(x)\n",
        'class East:\n    def f(x):\n        raise RuntimeError("shrinker: sglang.srt.a.East.f is not part of this server")\n',
        "East.f: the named error stands for `load(x)`",
    ),
    "a named error before what speaks of something dropped": (
        f("x.go()\nload(x)\nif x.a:\n    x.tpu()"),
        f("x.go()", gone()),
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
        f(gone()),
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
