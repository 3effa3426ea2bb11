"""Compound statements in which a fold engine goes wrong: scopes, rebinding, loops, exceptions, early exits, `match`."""

from collections.abc import Callable

from tests.fold.callables import calls, family, imports, stores, task
from tests.fold.layout import DECIDED, DECIDED_LOCALLY, Block, Compound, Item, Maker, one, together

_MATCHES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("device", ('case "npu"', 'case "npu" | "xpu"', 'case "cuda" | "npu"', 'case "cpu"')),
    ("backend", ("case Backend.GONE", "case Backend.TRITON", "case Backend.CUTLASS | Backend.GONE")),
    ("method", ("case Method.MLA_NPU", "case Method.MLA")),
    ("(a, device)", ('case (0, "npu")', 'case (0, "cuda")', "case (_, name)")),
    ("a", ("case 0 | 1", "case None", "case str() as name", "case _ if _is_hip", "case name if not name")),
    ('{"at": device}', ('case {"at": "npu"}', 'case {"at": "cpu", **other}', 'case {"at": name}', "case {}")),
    ("[device, a]", ('case ["npu", *_]', 'case ["npu" | "xpu", 1]', "case [name, 0 | None]", "case [*others]")),
    ("thing", ('case Thing(kind="npu")', "case Thing(is_npu=True)", 'case object(kind="cpu")')),
    ("(backend, a)", ("case (Backend.GONE, _)", "case (Backend.CUTLASS | Backend.GONE, 1)", "case (_, 0)")),
)


def match(maker: Maker) -> Compound:
    """A `match` over texts, members, sequences, mappings and classes, with guards."""
    random = maker.random
    body, other = maker.block(), maker.block(2)
    subject, cases = random.choice(_MATCHES)
    guard = f" if {maker.condition()}" if random.random() < 0.3 else ""
    chosen = random.sample(cases, random.randint(1, len(cases)))
    where = random.randint(0, len(chosen) - 1)
    clauses = [
        (case + (guard if n == where and " if " not in case else ""), body if n % 2 else other)
        for n, case in enumerate(chosen)
    ]
    clauses += [("case _", body)] * random.randint(0, 1)
    return Compound(((f"match {subject}", tuple(Compound((clause,)) for clause in clauses)),))


Way = Callable[[str, str], Item]

_REBOUND: tuple[Way, ...] = (
    lambda f, v: one(f"for {f} in (0, {v})", f"probe({f})"),
    lambda f, v: Compound(((f"for k, {f} in ((1, {v}), (2, 4))", (f"seen += (1 if {f} else k,)",)),)),
    lambda f, v: one(f"with Scope({v}) as {f}", "pass"),
    lambda f, v: one(f"with Scope(({v}, 1)) as ({f}, other)", "pass"),
    lambda f, v: f"probe(bool(({f} := {v})))",
    lambda f, v: f"{f} = {f} or {v}",
    lambda f, v: f"{f} |= bool({v})",
    lambda f, v: f"{f}, other = {v}, 1",
    lambda f, v: f"[*{f}, other] = ({v}, 1)",
    lambda f, v: f"other = {f} = {v}",
    lambda f, v: f"{f}: object = {v}",
    lambda f, v: one(f"match {v}", one(f"case {f}", "pass")),
    lambda f, v: one(f"match ({v}, 2, 3)", one(f"case ({f}, *other)", "pass")),
    lambda f, v: one(f"def {f}()", f"return {v}"),
    lambda f, v: one(f"class {f}", f"value = {v}"),
    lambda f, v: f"import json as {f}",
    lambda f, v: f"from sglang.flags import enable as {f}",
    lambda f, v: one(f"if {v}", f"{f} = {v}"),
    lambda f, v: one("while tick()", f"seen += (1 if {f} else 2,)", f"{f} = {v}"),
    lambda f, v: together(f"del {f}", f"{f} = {v}"),
    lambda f, v: Compound(
        (
            ("try", (f"raise ValueError({v})",)),
            (f"except ValueError as {f}", (f"seen += (1 if {f} else 2,)",)),
            ("finally", (f"{f} = 0",)),
        )
    ),
)
_SHADOWED: tuple[Way, ...] = (
    lambda f, v: f"seen += ([1 if {f} else 2 for {f} in (0, {v})],)",
    lambda f, v: f"seen += ([1 if {f} else 2 for k in (1, 2) for {f} in (0, {v}) if {f} or k],)",
    lambda f, v: f"seen += ((lambda {f}: 1 if {f} else 2)({v}),)",
    lambda f, v: f"seen += ((lambda *{f}: 1 if {f} else 2)({v}),)",
)
_REBOUND_INSIDE: tuple[Way, ...] = (
    lambda f, v: together(
        one("def put()", "global level", one(f"if {v} is None", "level = _is_hip"), "return 1 if level else 2"),
        "seen += (put(),)",
    ),
    lambda f, v: together(
        f"{f} = 4",
        one("def put()", f"nonlocal {f}", one(f"if {v} is None", f"{f} = _is_hip"), f"return 1 if {f} else 2"),
        "seen += (put(),)",
    ),
    lambda f, v: together(one("def put()", f"nonlocal {f}", f"{f} = {v}"), "put()"),
    lambda f, v: together(one(f"def put({f})", f"return 1 if {f} else 2"), f"seen += (put({v}),)"),
    lambda f, v: together(one(f"def put(*, {f}={f}, **other)", f"return 1 if {f} else 2"), f"seen += (put({f}={v}),)"),
    lambda f, v: together(one(f"def put(*{f})", f"return 1 if {f} else 2"), f"seen += (put({v}),)"),
    lambda f, v: together(
        f"{f} = {v}",
        one("class Held", f"{f} = _is_hip", one("def read(self)", f"return 1 if {f} else 2")),
        "seen += (Held().read(),)",
    ),
    lambda f, v: together(
        one("class Held", f"{f} = {v}", one("def read(self)", f"return 1 if {f} else 2")), "seen += (Held().read(),)"
    ),
    lambda f, v: together(
        one("class Held", f"{f} = {v}", f"read = (1 if {f} else 2, [1 if {f} else 2 for k in (1,)])"),
        "seen += (Held.read,)",
    ),
)


def rebinding(maker: Maker) -> Compound:
    """Flags that something binds again: what was known of them holds no more."""
    random, c = maker.random, maker.condition
    block: list[Item] = []
    for _ in range(random.randint(2, 4)):
        f = f"flag{random.randint(2, 99)}"
        reads: tuple[Item, ...] = (
            f"seen += (1 if {f} else 2,)",
            f"seen += (1 if {f} else 2,)",
            one(f"if {f}", f"probe({random.randint(2, 99)})"),
            one(f"if not {f}", f"probe({random.randint(2, 99)})"),
            f"x = {f} and {c()}",
            f"x = {c()} if not {f} else 4",
        )
        block.append(f"{f} = {random.choice((*DECIDED, '_is_hip or is_npu()', c()))}")
        if random.random() < 0.3:
            block.append(random.choice(reads))
        ways = (*_REBOUND, *_SHADOWED, *_REBOUND_INSIDE) if maker.function else (*_REBOUND, *_SHADOWED)
        block += [random.choice(ways)(f, random.choice((c(), "1", "probe(9)", "4"))), random.choice(reads)]
    return together(*block)


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
    body: Block = (*maker.block(2), random.choice((f"raise KeyError({c()})", out, f"x = {c()}", one(f"if {c()}", out))))
    handlers = (
        ("except ValueError as error", ("probe(str(error))", *maker.block(1))),
        ("except LookupError", maker.block(1)),
        ("except (KeyError, IndexError)", maker.block(1)),
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
