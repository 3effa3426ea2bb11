"""Compound statements in which a fold engine goes wrong: scopes, rebinding, loops, exceptions, early exits."""

from __future__ import annotations

from collections.abc import Callable

from tests.fold.callables import calls, family, imports, stores, task
from tests.fold.layout import Block, Compound
from tests.fold.making import DECIDED, DECIDED_LOCALLY, Item, Maker, one, together
from tests.fold.matches import match


def rebinding(maker: Maker) -> Compound:
    """A flag that something binds again: what was known of it holds no more."""
    random, c = maker.random, maker.condition
    ways: list[Callable[[], Item]] = [
        lambda: one(f"for flag in (0, {c()})", "probe(flag)"),
        lambda: one(f"with Scope({c()}) as flag", "pass"),
        lambda: one(f"with Scope(({c()}, 1)) as (flag, other)", "pass"),
        lambda: f"probe(bool((flag := {c()})))",
        lambda: f"flag = flag or {c()}",
        lambda: f"flag |= bool({c()})",
        lambda: f"flag, other = {c()}, 1",
        lambda: f"[*flag, other] = ({c()}, 1)",
        lambda: f"other = flag = {c()}",
        lambda: f"flag: object = {c()}",
        lambda: one(f"match {c()}", one("case flag", "pass")),
        lambda: one(f"match ({c()}, 2, 3)", one("case (flag, *other)", "pass")),
        lambda: one("def flag()", f"return {c()}"),
        lambda: one("class flag", "pass"),
        lambda: "import json as flag",
        lambda: "from sglang.flags import enable as flag",
        lambda: one(f"if {c()}", f"flag = {c()}"),
        lambda: one("while tick()", "seen += (1 if flag else 2,)", f"flag = {c()}"),
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
            lambda: together(one("def put()", "nonlocal flag", f"flag = {c()}"), "put()"),
            lambda: together(one("def put(flag)", "return 1 if flag else 2"), f"seen += (put({c()}),)"),
            lambda: together(one("def put(*, flag=flag, **other)", "return 1 if flag else 2"), "seen += (put(),)"),
            lambda: together(one("def put(*flag)", "return 1 if flag else 2"), f"seen += (put({c()}),)"),
        ]
    reads: tuple[Item, ...] = (
        "seen += (1 if flag else 2,)",
        one("if flag", f"probe({random.randint(2, 99)})"),
        f"x = flag and {c()}",
        f"x = {c()} if not flag else 4",
        "seen += ([1 if flag else k for k in (5, 6) if not flag],)",
        one("if not flag", "probe(11)", *maker.block(1)),
    )
    flag = random.choice((*DECIDED, "_is_hip or is_npu()", c()))
    early = (random.choice(reads),) if random.random() < 0.4 else ()
    return together(f"flag = {flag}", *early, random.choice(ways)(), random.choice(reads))


def decided_loop(maker: Maker) -> Compound:
    """A loop whose condition the facts decide, with and without `else`."""
    random = maker.random
    orelse = (("else", maker.block(2)),) * (random.random() < 0.6)
    never = random.choice(DECIDED_LOCALLY if maker.function else DECIDED)
    if random.random() < 0.6:
        return Compound(((f"while {never}", maker.block(2)), *orelse))
    head = random.choice(("while is_cuda()", "while _is_cuda and not _is_hip", f"while not {DECIDED[0]}"))
    return Compound(((head, (one("if not tick()", "break"), *maker.block(2))), *orelse))


def attempt(maker: Maker) -> Compound:
    """Exceptions: raised, caught, raised again, with clean-up and early exits."""
    random, c = maker.random, maker.condition
    out = maker.leaving() if maker.function else f"raise ValueError({c()})"
    body: Block = (
        *maker.block(2),
        random.choice((f"raise KeyError({c()})", out, f"x = {c()}", one(f"if {c()}", out))),
    )
    handlers = (
        ("except ValueError as error", ("probe(str(error))", *maker.block(1))),
        ("except (KeyError, TypeError)", (one(f"if {c()}", "raise"), *maker.block(1))),
        ("except KeyError as error", (f"raise ValueError({c()}) from error",)),
        (f"except (ValueError if {c()} else KeyError)", maker.block(1)),
        ("except Exception", (random.choice(("pass", "probe(sys.exc_info()[0].__name__)")),)),
    )
    count = random.randint(0, 2)
    chosen = [handlers[i] for i in sorted(random.sample(range(len(handlers)), count))]
    orelse = [("else", maker.block(1))] * (bool(chosen) and random.random() < 0.4)
    ends: tuple[Block, ...] = ((f"probe({random.randint(2, 99)})",), (one(f"if {c()}", "probe(12)"),), maker.block(2))
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
    body = random.choice(((one(f"if {c()}", out), *maker.block(1)), (*maker.block(1), out)))
    return together(Compound(((head, body),)), *maker.block(1))


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
    "match": match,
}
"""By the name that `generate` chooses."""

ANYWHERE = ("rebinding", "decided-loop", "attempt", "held", "family", "stores", "imports")
"""Those that may also stand outside of functions."""
