"""Compound statements in which a fold engine goes wrong: scopes, rebinding, early exits, classes, calls."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from tests.fold.layout import Block, Compound

Item = str | Compound

_FALSE = ("_is_hip", "is_npu()", "not is_cuda()", "_off", "derived and _is_hip", "thing.is_npu", 'device == "npu"')
_EVERYWHERE = 5
"""How many of `_FALSE` may stand outside of functions."""


class Maker(Protocol):
    """What shapes are made with."""

    random: Random
    function: bool

    def condition(self) -> str:
        """An expression."""

    def block(self, most: int = 3) -> Block:
        """A body."""

    def leaving(self) -> str:
        """A statement after which nothing comes."""


def together(*block: Item) -> Compound:
    """Several statements where one is asked for."""
    return Compound((("if True", block),))


def _one(header: str, *body: Item) -> Compound:
    return Compound(((header, body),))


def rebinding(maker: Maker) -> Compound:
    """A flag that something binds again: what was known of it holds no more."""
    random, c = maker.random, maker.condition
    ways: list[Callable[[], Item]] = [
        lambda: _one(f"for flag in (0, {c()})", "probe(flag)"),
        lambda: _one(f"with Scope({c()}) as flag", "pass"),
        lambda: _one(f"with Scope(({c()}, 1)) as (flag, other)", "pass"),
        lambda: f"probe(bool((flag := {c()})))",
        lambda: f"flag = flag or {c()}",
        lambda: f"flag |= bool({c()})",
        lambda: f"flag, other = {c()}, 1",
        lambda: f"[*flag, other] = ({c()}, 1)",
        lambda: f"other = flag = {c()}",
        lambda: f"flag: object = {c()}",
        lambda: _one(f"match {c()}", _one("case flag", "pass")),
        lambda: _one(f"match ({c()}, 2, 3)", _one("case (flag, *other)", "pass")),
        lambda: _one("def flag()", f"return {c()}"),
        lambda: _one("class flag", "pass"),
        lambda: "import json as flag",
        lambda: "from sglang.flags import enable as flag",
        lambda: _one(f"if {c()}", f"flag = {c()}"),
        lambda: _one("while tick()", "seen += (1 if flag else 2,)", f"flag = {c()}"),
        lambda: f"seen += ([1 if flag else 2 for flag in (0, {c()})],)",
        lambda: f"seen += ((lambda flag: 1 if flag else 2)({c()}),)",
        lambda: f"seen += ((lambda *flag: 1 if flag else 2)({c()}),)",
        lambda: together("del flag", f"flag = {c()}"),
        lambda: Compound(
            (
                ("try", (f"raise ValueError({c()})",)),
                ("except ValueError as flag", ("seen += (1 if flag else 2,)",)),
                ("finally", ("flag = 0",)),
            )
        ),
    ]
    if maker.function:
        ways += [
            lambda: together(_one("def put()", "nonlocal flag", f"flag = {c()}"), "put()"),
            lambda: together(_one("def put(flag)", "return 1 if flag else 2"), f"seen += (put({c()}),)"),
            lambda: together(_one("def put(*, flag=flag, **other)", "return 1 if flag else 2"), "seen += (put(),)"),
            lambda: together(_one("def put(*flag)", "return 1 if flag else 2"), f"seen += (put({c()}),)"),
        ]
    reads: tuple[Item, ...] = (
        "seen += (1 if flag else 2,)",
        _one("if flag", f"probe({random.randint(2, 99)})"),
        f"x = flag and {c()}",
        f"x = {c()} if not flag else 4",
        "seen += ([1 if flag else k for k in (5, 6) if not flag],)",
        _one("if not flag", "probe(11)", *maker.block(1)),
    )
    flag = random.choice((*_FALSE[:_EVERYWHERE], "_is_hip or is_npu()", c()))
    early = (random.choice(reads),) if random.random() < 0.4 else ()
    return together(f"flag = {flag}", *early, random.choice(ways)(), random.choice(reads))


def decided_loop(maker: Maker) -> Compound:
    """A loop whose condition the facts decide, with and without `else`."""
    random = maker.random
    orelse = (("else", maker.block(2)),) * (random.random() < 0.6)
    never = random.choice(_FALSE if maker.function else _FALSE[:_EVERYWHERE])
    if random.random() < 0.6:
        return Compound(((f"while {never}", maker.block(2)), *orelse))
    head = random.choice(("while is_cuda()", "while _is_cuda and not _is_hip", f"while not {_FALSE[0]}"))
    return Compound(((head, (_one("if not tick()", "break"), *maker.block(2))), *orelse))


def attempt(maker: Maker) -> Compound:
    """Exceptions: raised, caught, raised again, with clean-up and early exits."""
    random, c = maker.random, maker.condition
    out = maker.leaving() if maker.function else f"raise ValueError({c()})"
    body: Block = (
        *maker.block(2),
        random.choice((f"raise KeyError({c()})", out, f"x = {c()}", _one(f"if {c()}", out))),
    )
    handlers = (
        ("except ValueError as error", ("probe(str(error))", *maker.block(1))),
        ("except (KeyError, TypeError)", (_one(f"if {c()}", "raise"), *maker.block(1))),
        ("except KeyError as error", (f"raise ValueError({c()}) from error",)),
        (f"except (ValueError if {c()} else KeyError)", maker.block(1)),
        ("except Exception", (random.choice(("pass", "probe(sys.exc_info()[0].__name__)")),)),
    )
    count = random.randint(0, 2)
    chosen = [handlers[i] for i in sorted(random.sample(range(len(handlers)), count))]
    orelse = [("else", maker.block(1))] * (bool(chosen) and random.random() < 0.4)
    ends: tuple[Block, ...] = ((f"probe({random.randint(2, 99)})",), (_one(f"if {c()}", "probe(12)"),), maker.block(2))
    final = [("finally", random.choice(ends))] * (not chosen or random.random() < 0.5)
    return Compound((("try", body), *chosen, *orelse, *final))


def held(maker: Maker) -> Compound:
    """A `with` block that is left early, or that swallows what is raised in it."""
    random, c = maker.random, maker.condition
    head = random.choice(
        (
            f"with Scope({c()}) as held, Scope({c()})",
            f"with Scope(1 if {c()} else 2)",
            f"with suppress(ValueError if {c()} else KeyError)",
            "with suppress(Exception)",
        )
    )
    out = maker.leaving() if maker.function else "raise ValueError(3)"
    body = random.choice(((_one(f"if {c()}", out), *maker.block(1)), (*maker.block(1), out)))
    return together(Compound(((head, body),)), *maker.block(1))


def family(maker: Maker) -> Compound:
    """Classes: flags as attributes, properties, what a subclass overrides, what is set from outside."""
    random, c = maker.random, maker.condition
    flag = random.choice(_FALSE[:_EVERYWHERE])
    wide = Compound(
        (("def wide(self)", (_one("if self.fused", "return 1"), "return self.hip or self.value")),), ("property",)
    )
    make = Compound(
        (("def make(cls, *values)", (_one("if cls.fused", "probe(5)"), "return cls(*values)")),), ("classmethod",)
    )
    still = Compound((("def still(x=1)", (f"return 1 if {flag} else x",)),), ("staticmethod",))
    base = _one(
        "class Base",
        f"fused = {flag}",
        _one("def __init__(self, value)", "self.value = value", f"self.hip = {random.choice(_FALSE[:_EVERYWHERE])}"),
        random.choice((wide, make, still)),
        _one("def run(self, mode=1)", _one("if self.hip", "return self.only_hip(mode)"), "return (self.value, mode)"),
        _one("def only_hip(self, mode)", f"return ({mode_read(random)}, self.hip)"),
    )
    override = random.choice((f"fused = {c()}", "fused = True", "hip = 3", f"label = {c()}"))
    run = random.choice(
        (
            _one("def run(self, *modes)", "return ('derived', super().run(*modes))"),
            _one("def only_hip(self, mode)", "return ('derived', mode)"),
            _one("def __getattr__(self, name)", "return name"),
            "other = 1",
        )
    )
    derived = Compound(
        ((random.choice(("class Derived(Base)", "class Derived(Base if _is_cuda else object)")), (override, run)),)
    )
    outside = random.choice((f"made.hip = {c()}", f"Base.fused = {c()}", 'setattr(made, "hip", 2)', "made.other = 1"))
    asked = random.choice(("made.run()", "(made.fused, made.run(2))", "made.run(mode=3)", "(made.hip, Base.fused)"))
    return together(base, derived, f"made = {random.choice(('Base', 'Derived'))}({c()})", outside, f"x = {asked}")


def mode_read(random: Random) -> str:
    """How a parameter is read."""
    return random.choice(("mode", "mode is None", "1 if mode else 2", "probe(mode)"))


def calls(maker: Maker) -> Compound:
    """Defaults, decorators and arguments: evaluated once, in their order."""
    random, c = maker.random, maker.condition
    wraps = tuple(
        random.choice((f"wrap({c()}, disable={c()})", f"wrap({n})", f"(wrap(1) if {c()} else wrap(2))"))
        for n in range(random.randint(0, 2))
    )
    head = f"def inner(p, q={c()}, *r, s=probe({random.randint(2, 99)}), **t)"
    made = Compound(((head, ("seen = ()", *maker.block(1), "return (p, q, r, s, t)")),), wraps)
    use = random.choice(
        (
            f"inner({c()})",
            f"inner(*({c()}, {c()}), s={c()})",
            f"inner({c()}, {c()}, {c()}, u={c()})",
            f'inner(**{{"p": {c()}, "q": {c()}}})',
            f"inner(p={c()})",
        )
    )
    return together(made, f"x = {use}")


def task(maker: Maker) -> Compound:
    """A coroutine."""
    random, c = maker.random, maker.condition
    leaf = Compound(
        (
            (
                "async def leaf(value)",
                (_one(f"if {random.choice(_FALSE[:_EVERYWHERE])}", "await leaf(2)"), "return value"),
            ),
        )
    )
    root = _one(
        "async def root()",
        _one(f"if {c()}", f"return await leaf({random.randint(2, 99)})"),
        random.choice(
            (f"return (await leaf({c()}) if {c()} else 3)", f"return {c()} and await leaf(4)", "return await leaf(5)")
        ),
    )
    return together(leaf, root, "x = finish(root())")


def stores(maker: Maker) -> Compound:
    """Places that are written: evaluated in their order, and what is read afterwards is what was written."""
    c = maker.condition
    texts = (
        f"box = {{}}; box[{c()}, 1] = {c()}; x = list(box.values())",
        f"box = [{c()}, {c()}, {c()}]; x = box[1:3]; x = box[-1]",
        f"box = [1, 2, 3]; box[0 if {c()} else 1] += 5; x = box",
        f"(p, q), *r = ({c()}, {c()}), {c()}; x = (p, q, r)",
        f"box = [(k, j) for k in ({c()}, 2) if {c()} for j in (1, 2) if {c()}]; x = box",
        f"x = {{k: {c()} for k in ('p', 'q')}} if {c()} else {{{c()}}}",
        f"x = list(k for k in (1, 2) if {c()})",
        f"x = ({c()}, *({c()}, 3), *[])",
        f"x = [*({c()},)] or {c()}",
    )
    return together(*maker.random.choice(texts).split("; "))


def imports(maker: Maker) -> Compound:
    """Flags under other names, imported where they are used."""
    random, c = maker.random, maker.condition
    load, name = random.choice(
        (
            ("from sglang.flags import derived as near", "near"),
            ("from sglang.again import hip as near", "near"),
            ("import sglang.flags as near", "near.derived"),
            ("import sglang.flags as near", "near._is_hip"),
            ("from sglang import flags as near", "near.has_aiter"),
            ("from sglang.flags import open_derived as near", "near"),
            ("from sglang.flags import rebound as near", "near"),
            ("from sglang.srt.utils import is_hip as near", "near()"),
            ("from sglang.srt.utils import is_cuda as near", "(not near())"),
        )
    )
    use = random.choice(
        (f"x = 1 if {name} else {c()}", f"x = {c()} or {name}", f"x = {name} or {c()}", f"x = not {name}")
    )
    return together(load, use, _one(f"if {name}", *maker.block(1)))


def part(random: Random, name: str) -> Compound:
    """A function of the module that is always asked in the same way, or nearly."""
    tests = (
        "hip",
        "not hip",
        "wide",
        "hip or wide",
        "hip and value",
        "wide is None",
        "value",
        "mode == Mode.WIDE",
        "_is_hip",
    )
    body: list[Item] = []
    for number in range(random.randint(1, 3)):
        test = random.choice(tests)
        done = random.choice(
            (f"return probe({number + 2})", f"probe({number + 2})", f"value = (value, {number})", f"hip = {test}")
        )
        body.append(_one(f"if {test}", done))
    ends = (
        "return (value, wide)",
        "return value if not hip else only_hip(value)",
        "return not hip",
        "return wide and value",
    )
    return _one(f"def {name}(value, hip, wide=False, *, mode=Mode.PLAIN)", *body, random.choice(ends))


SHAPES: dict[str, Callable[[Maker], Compound]] = {
    "rebinding": rebinding,
    "decided-loop": decided_loop,
    "attempt": attempt,
    "held": held,
    "family": family,
    "calls": calls,
    "task": task,
    "stores": stores,
    "imports": imports,
}
"""By the name that `generate` chooses."""

ANYWHERE = ("rebinding", "decided-loop", "attempt", "held", "family", "stores", "imports")
"""Those that may also stand outside of functions."""
