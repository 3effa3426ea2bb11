"""Programs over the facts: several modules, in every position that UPSTREAM.md names, made from one seed.

Every call of `probe(n)` leaves a mark, so that a dropped, doubled or reordered evaluation shows in the trace. Code that
enters a removed feature stands where no run in the closed world comes: there the named error would be right.
"""

import warnings
from dataclasses import dataclass, replace
from random import Random

from tests.fold.callables import part, part_calls
from tests.fold.conditions import condition
from tests.fold.layout import Block, Compound, Style, together, write
from tests.fold.shapes import ANYWHERE, SHAPES
from tests.fold.surroundings import AROUND, FLAG_VALUES, flag_module

_OFF = ("is_hip()", "_is_hip", "not is_cuda()", "_off")
_SIMPLE = (
    "x = {n}",
    "probe({n})",
    "probe({n})",
    "x = {c}",
    "x = {c}",
    "seen += ({c},)",
    "seen += ({c}, x)",
    'x = """first {n}\n  second\n\tthird"""',
    "x = y = {c}",
    'register_device("npu", {n})',
    'register_device("npu", probe({n}))',
)
_LOCAL = (
    "seen += (late,)",
    "counter.append(1)",
    "x = helper({c}, _is_hip, {n})",
    "x = pick(thing, {c})",
    "assert {c} or {d} or a == 0, probe({n})",
)
_TESTS = ("if", "if", "if", "ifelse", "ifelse", "elif", "elif", "elif")
_LOCAL_NESTED = (
    "exit", "exit", "for", "while", "try", "absent", "def", "closure", "class", "match", "with", "table",
    "never", "missing", "generator", "global", "same-name", "bind", "optional", "rebinding", *SHAPES,
)  # fmt: skip
_MODULE_NESTED = ("for", "try", "absent", "with", "class", *ANYWHERE)


_LOCALS = (
    "x = y = v = w = 0",
    "seen = ()",
    "local_hip = is_hip()",
    "kind = device",
    'where = device if a else "cpu"',
    "backend = Backend.TRITON if b else Backend.CUTLASS",
    "method = Method.MLA",
    "config = Config(_is_hip)",
    "flags.patched = bool(b)",
)
"""What a function starts with."""


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes statements of one place."""

    random: Random
    depth: int
    loop: bool = False
    function: bool = True

    @property
    def deeper(self) -> "_Maker":
        return replace(self, depth=self.depth - 1)

    def condition(self) -> str:
        return condition(self.random, local=self.function)

    def block(self, most: int = 3) -> Block:
        return tuple(self.statement() for _ in range(self.random.randint(1, most)))

    def statement(self) -> str | Compound:
        random = self.random
        if self.depth == 0 or random.random() < 0.4:
            texts = (*_SIMPLE, *_LOCAL) if self.function else _SIMPLE
            return random.choice(texts).format(c=self.condition(), d=self.condition(), n=random.randint(2, 99))
        kinds = (*_TESTS, *(_LOCAL_NESTED if self.function else _MODULE_NESTED))
        return self.nested(random.choice(kinds))

    def leaving(self) -> str:
        texts = ["return {c}", "raise ValueError({n})", "return x"] + ["break", "continue"] * self.loop
        return self.random.choice(texts).format(c=self.condition(), n=self.random.randint(2, 99))

    def never(self, body: Block) -> Block:
        """A block of which folding leaves nothing."""
        return (Compound(((f"if {self.random.choice(_OFF)}", body),)),)

    def nested(self, kind: str) -> Compound:
        random, deeper = self.random, self.deeper
        test, number = self.condition(), random.randint(2, 99)
        body, other = deeper.block(), deeper.block(2)
        looping = replace(deeper, loop=True)
        inner = replace(deeper, loop=False, function=True)
        orelse = (("else", other),) * random.randint(0, 1)
        if kind in SHAPES:
            return SHAPES[kind](deeper)
        match kind:
            case "if" if random.random() < 0.3:
                # Folding leaves nothing in it.
                asked = random.choice((test, f"probe({number})", "tick()"))
                return Compound(((f"if {asked}", self.never(body)), *orelse))
            case "if":
                return Compound(((f"if {test}", body),))
            case "ifelse":
                return Compound(((f"if {test}", body), ("else", other)))
            case "exit":
                early = (*body, self.leaving()) if random.random() < 0.5 else (self.leaving(),)
                return Compound(((f"if {test}", early), *orelse))
            case "elif":
                arms = [(f"elif {self.condition()}", deeper.block(2)) for _ in range(random.randint(1, 3))]
                if random.random() < 0.25:
                    # At module level there is no argument, and reading a name is taken to be free of effects.
                    names = "ab" if self.function else "xy"
                    asked_for = random.choice((arms[-1][0], *(f"elif {name}" for name in names)))
                    arms[-1] = (asked_for, self.never(other))
                return Compound(((f"if {test}", body), *arms, *orelse))
            case "for":
                return Compound((("for x in (1, 2)", looping.block()), *orelse))
            case "while":
                head = random.choice((f"tick() and {test}", f"{test} and tick()"))
                return Compound(((f"while {head}", looping.block()), *orelse))
            case "try":
                final = (("finally", (f"probe({number})",)),) * random.randint(0, 1)
                return Compound((("try", body), ("except (ValueError, KeyError)", other), *orelse, *final))
            case "absent":
                return self.absent(body, other, orelse, number)
            case "with":
                return Compound(((f"with Scope({number})", body),))
            case "class":
                return self.class_(test)
            case "def":
                wrap = random.choice(((), (f"wrap({number}, disable={self.condition()})",)))
                made = Compound(((f"def inner(x=x, y={test})", ("seen = ()", *inner.block(), inner.leaving())),), wrap)
                return together(made, "x = inner()")
            case "closure":
                read = (f"return ({test}, x)",)
                store = ("nonlocal x", f"x = {test}", "return x")
                return together(Compound((("def inner()", random.choice((read, store))),)), "y = inner()")
            case "generator":
                first = Compound(((f"if {test}", (random.choice(("return", "yield 1", "probe(3)")),)),))
                last: str | Compound = random.choice(("yield 2", Compound((("if _is_hip", ("yield 3",)),))))
                return together(Compound((("def items()", (first, last)),)), "x = list(items())")
            case "global":
                declare = random.choice(("global total", "nonlocal v"))
                branch = Compound(((f"if {test.replace('w :=', 'u :=')}", ("total = v = 5",)),))
                count = Compound((("def count()", (declare, branch, f"total = v = {number}", "return total")),))
                return together(count, "x = (count(), v, total_of())")
            case "same-name":
                name = random.choice(("mine", "mine", "uses_fnuz"))
                made = Compound(((f"def {name}(q=0)", (f"return {random.choice((test, 'probe(1)'))}",)),))
                holder = Compound((("def holder()", (made, f"return 1 if {name}() else 2")),))
                return together(holder, "x = holder()")
            case "bind":
                return Compound(((f"if {test}", (f"late = {number}", *body)), ("else", other)))
            case "optional":
                load = random.choice(("from aiter import gemm", "from aiter.ops import gemm as gemm"))
                handler = (f"gemm = {random.choice(('None', 'probe', 'helper'))}",)
                use = random.choice(("x = gemm is None", "x = gemm(2) if gemm else 3"))
                return together(Compound((("try", (load,)), ("except ImportError", handler))), use)
            case "table":
                rows = f'table = {{"cuda": {test}, "npu": {number}, "cpu": x, "xpu": None}}'
                ask = random.choice(("table[device]", "table.get(kind, 1)", "kind in table", "len(table)"))
                return together(rows, f"x = {ask}")
            case "never":
                use = random.choice(("from sglang.srt.npu.hooks import run", "x = NpuGraph(x)", "x = Backend.GONE"))
                never = random.choice(('device == "npu"', "_is_hip", "backend == Backend.GONE", "a == 'never'"))
                return Compound(((f"if {never}", (use, *body)),))
            case _:
                use = random.choice(
                    (
                        "torch.npu.synchronize()",
                        "x = torch.npu.count()",
                        "import torch_npu",
                        f"x = helper(probe({number}), torch.npu.count())",
                    )
                )
                return Compound((("try", (use, *body)), ("except (AttributeError, ImportError)", other)))

    def absent(self, body: Block, other: Block, orelse: tuple[tuple[str, Block], ...], number: int) -> Compound:
        random = self.random
        load = random.choice(
            (
                "import aiter",
                "from aiter.ops import gemm",
                "import torch_npu as x",
                "import sglang.loud as noisy, aiter",
            )
        )
        caught = random.choice(("ImportError", "(ImportError, AttributeError)", "ModuleNotFoundError", "Exception"))
        name = random.choice(("", "", " as error"))
        final = (("finally", (f"probe({number})",)),) * (random.random() < 0.4)
        seen = ("probe(sys.exc_info()[0] is None)",) * (random.random() < 0.2)
        seen += ("probe(str(error))",) * bool(name and random.random() < 0.4)
        return Compound((("try", (load, *body)), (f"except {caught}{name}", (*other, *seen)), *orelse, *final))

    def class_(self, test: str) -> Compound:
        inner = replace(self.deeper, loop=False, function=False)
        flag = self.random.choice(FLAG_VALUES)
        one, two = Compound((("def g(self)", ("return 1",)),)), Compound((("def g(self)", ("return 2",)),))
        members: list[str | Compound] = [
            f"flag = {flag}",
            Compound(((f"if {inner.condition()}", (one,)), ("else", ("wide = 2", two)))),
            f"value = {test}",
            "early = 1 if derived and not _is_hip else 2",
            f"derived = {inner.condition()}",
            "late = [1 if derived and not _is_hip else 2 for _ in (1,)]",
            Compound((("def h(self, x=flag)", ("seen = ()", f"return ({inner.condition()}, x)")),)),
        ]
        use = "x = (Local.value, Local().g(), Local().h(), Local.early, Local.late)"
        return together(Compound((("class Local", tuple(members)),)), use)


@dataclass(frozen=True, slots=True)
class Parts:
    """A program before it is written down, to be made smaller when it shows a defect."""

    flags: Block
    module: Block
    parts: Block
    """Functions that the others call."""
    bodies: tuple[Block, ...]
    """Of each function: an example. They share the modules around them, whose folding costs more than theirs."""
    style: Style
    rebinding: bool


def _compiling(maker: _Maker, style: Style, most: int) -> Block:
    """A block without an assignment expression where there may be none: in a comprehension of a class body, say."""
    while True:
        block = maker.block(most)
        text = write(
            (Compound((("def f(a, b, device, thing)", (*_LOCALS, *block)),)),) if maker.function else block, style
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            try:
                compile(text, "block", "exec", dont_inherit=True)
            except SyntaxError:
                continue
        return block


def make(seed: int, functions: int = 1) -> Parts:
    """The program of a seed.

    Args:
        seed: decides everything.
        functions: how many examples it holds.
    """
    random = Random(seed)
    style = Style(
        indent=random.choice(("    ", "    ", "  ", "\t")),
        one_line=random.random() < 0.3,
        semicolons=random.random() < 0.3,
        comments=random.random() < 0.3,
        blank_lines=random.random() < 0.3,
        continued=random.random() < 0.3,
    )
    module = _compiling(_Maker(random, 1, function=False), style, 2) if random.random() < 0.5 else ()
    bodies = tuple(_compiling(_Maker(random, 3), style, 4) for _ in range(functions))
    asked = (*part_calls(random, "part0"), *part_calls(random, "part1"))
    bodies = tuple((*asked[n::functions], *body) for n, body in enumerate(bodies))
    parts = (part(random, "part0"), part(random, "part1"))
    return Parts(flag_module(random), module, parts, bodies, style, random.random() < 0.3)


def files(parts: Parts) -> dict[str, str]:
    """Files of a tree whose `sglang.main` has ``f0(a, b, device, thing)``, ``f1`` and so on."""
    functions = tuple(
        Compound(((f"def f{n}(a, b, device, thing)", (*_LOCALS, *body, "return (x, y, v, w, seen)")),))
        for n, body in enumerate(parts.bodies)
    )
    main = write(parts.module, parts.style) + "\n\n" + write((*parts.parts, *functions), parts.style)
    more = {
        "python/sglang/main.py": main + ("\n\nflags.enable()\n" if parts.rebinding else ""),
        "python/sglang/flags.py": "\n\n" + write(parts.flags, Style()),
    }
    return AROUND | {path: AROUND[path] + text for path, text in more.items()}
