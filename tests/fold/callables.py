"""Classes, functions and what is asked of them, in which a fold engine goes wrong."""

from random import Random

from tests.fold.layout import DECIDED, Compound, Item, Maker, one, together


def family(maker: Maker) -> Compound:
    """Classes: flags as attributes, properties, what a subclass overrides, what is set from outside."""
    random, c = maker.random, maker.condition
    flag = random.choice(DECIDED)
    wide = Compound(
        (("def wide(self)", (one("if self.fused", "return 1"), "return self.hip or self.value")),), ("property",)
    )
    make = Compound(
        (("def make(cls, *values)", (one("if cls.fused", "probe(5)"), "return cls(*values)")),), ("classmethod",)
    )
    still = Compound((("def still(x=1)", (f"return 1 if {flag} else x",)),), ("staticmethod",))
    base = one(
        "class Base",
        f"fused = {flag}",
        one("def __init__(self, value)", "self.value = value", f"self.hip = {random.choice(DECIDED)}"),
        random.choice((wide, make, still)),
        one("def run(self, mode=1)", one("if self.hip", "return self.only_hip(mode)"), "return (self.value, mode)"),
        one("def only_hip(self, mode)", f"return ({_read(random)}, self.hip)"),
    )
    override = random.choice((f"fused = {c()}", "fused = True", "hip = 3", f"label = {c()}"))
    run = random.choice(
        (
            one("def run(self, *modes)", "return ('derived', super().run(*modes))"),
            one("def only_hip(self, mode)", "return ('derived', mode)"),
            one("def __getattr__(self, name)", "return name"),
            "other = 1",
        )
    )
    derived = Compound(
        ((random.choice(("class Derived(Base)", "class Derived(Base if _is_cuda else object)")), (override, run)),)
    )
    outside = random.choice((f"made.hip = {c()}", f"Base.fused = {c()}", 'setattr(made, "hip", 2)', "made.other = 1"))
    asked = random.choice(("made.run()", "(made.fused, made.run(2))", "made.run(mode=3)", "(made.hip, Base.fused)"))
    return together(base, derived, f"made = {random.choice(('Base', 'Derived'))}({c()})", outside, f"x = {asked}")


def _read(random: Random) -> str:
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
                (one(f"if {random.choice(DECIDED)}", "await leaf(2)"), "return value"),
            ),
        )
    )
    root = one(
        "async def root()",
        one(f"if {c()}", f"return await leaf({random.randint(2, 99)})"),
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
    return together(load, use, one(f"if {name}", *maker.block(1)))


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
        body.append(one(f"if {test}", done))
    ends = (
        "return (value, wide)",
        "return value if not hip else only_hip(value)",
        "return not hip",
        "return wide and value",
    )
    return one(f"def {name}(value, hip, wide=False, *, mode=Mode.PLAIN)", *body, random.choice(ends))


def part_calls(random: Random, name: str) -> list[str]:
    """How one program asks a part: in most, every call gives the same constants."""
    hip = random.choice(("_is_hip", "False", "is_npu()", "_off"))
    wide = random.choice(("", "", ", None", ", wide=None", ", wide=_is_hip", ", wide=False"))
    calls = [f"{name}(a, {hip}{wide})", f"{name}(b, {hip}{wide})", f"{name}(x, hip={random.choice((hip, 'False'))})"]
    odd = (
        f"{name}(a, True)",
        f"{name}(b, a)",
        f"{name}(b, hip=is_cuda())",
        f"{name}(a, False, True)",
        f"{name}(b, False, a)",
    )
    if random.random() < 0.5:
        calls.append(random.choice(odd))
    return [f"seen += ({call},)" for call in random.sample(calls, random.randint(2, len(calls)))]
