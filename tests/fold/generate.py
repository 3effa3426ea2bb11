"""Programs over the facts, made by hypothesis: flags, nesting, boolean values, early exits, try, loops, probes.

Every call of `probe(n)` leaves a mark, so that a dropped, doubled or reordered evaluation shows in the trace.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

_DECIDED = (
    "is_hip()",
    "is_npu()",
    "is_cuda()",
    "_is_hip",
    "_is_cuda",
    "_use_aiter",
    "_off",
    "local_hip",
    'os.getenv("SGLANG_USE_AITER", "0") == "1"',
    "not _is_hip",
)
_OPEN = ("a", "b", "not a", "a is None", "probe(1)", "probe(0)", "b == 1", "isinstance(a, str)", "(a, b)[0]", "x")

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class _Limits:
    depth: int
    loop: bool


def _conditions(depth: int) -> st.SearchStrategy[str]:
    leaves = st.one_of(st.sampled_from(_DECIDED), st.sampled_from(_OPEN))
    if depth == 0:
        return leaves
    inner = _conditions(depth - 1)
    pairs = st.lists(inner, min_size=2, max_size=4)
    return st.one_of(
        leaves,
        pairs.map(lambda items: "(" + " and ".join(items) + ")"),
        pairs.map(lambda items: "(" + " or ".join(items) + ")"),
        inner.map(lambda text: f"(not {text})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        inner.map(lambda text: f"[{text} for k in (1, 2) if {text}]"),
    )


CONDITIONS = _conditions(2)


def _indent(lines: list[str]) -> list[str]:
    return [_INDENT + line for line in lines]


@st.composite
def _block(draw: st.DrawFn, limits: _Limits) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(_statement(limits))
    return lines


@st.composite
def _statement(draw: st.DrawFn, limits: _Limits) -> list[str]:
    simple = ["assign", "probe", "return", "value", "raise", "assert"] + (["break", "continue"] if limits.loop else [])
    nested = (
        ["if", "if", "if", "ifelse", "elif", "elif", "for", "while", "try", "absent", "def"] if limits.depth else []
    )
    kind = draw(st.sampled_from(simple + nested))
    deeper = _Limits(limits.depth - 1, limits.loop)
    condition = draw(CONDITIONS)
    number = draw(st.integers(2, 99))
    match kind:
        case "assign":
            return [f"x = {number}"]
        case "probe":
            return [f"probe({number})"]
        case "return":
            return [f"return {condition}"]
        case "value":
            return [f"x = {condition}"]
        case "raise":
            return [f"raise ValueError({number})"]
        case "assert":
            return [f"assert {condition}, {number}"]
        case "break" | "continue":
            return [kind]
        case "if":
            return [f"if {condition}:", *_indent(draw(_block(deeper)))]
        case "ifelse":
            return [f"if {condition}:", *_indent(draw(_block(deeper))), "else:", *_indent(draw(_block(deeper)))]
        case "elif":
            second = draw(CONDITIONS)
            lines = [
                f"if {condition}:",
                *_indent(draw(_block(deeper))),
                f"elif {second}:",
                *_indent(draw(_block(deeper))),
            ]
            if draw(st.booleans()):
                lines += [f"elif {draw(CONDITIONS)}:", *_indent(draw(_block(deeper)))]
            if draw(st.booleans()):
                lines += ["else:", *_indent(draw(_block(deeper)))]
            return lines
        case "for":
            body = draw(_block(_Limits(limits.depth - 1, True)))
            lines = ["for x in (1, 2):", *_indent(body)]
            if draw(st.booleans()):
                lines += ["else:", *_indent(draw(_block(deeper)))]
            return lines
        case "while":
            body = draw(_block(_Limits(limits.depth - 1, True)))
            return [f"while tick() and {condition}:", *_indent(body)]
        case "try":
            lines = ["try:", *_indent(draw(_block(deeper))), "except ValueError:", *_indent(draw(_block(deeper)))]
            if draw(st.booleans()):
                lines += ["finally:", *_indent([f"probe({number})"])]
            return lines
        case "absent":
            lines = ["try:", *_indent(["import aiter", f"x = {number}"]), "except ImportError:"]
            return lines + _indent(draw(_block(deeper)))
        case _:
            body = draw(_block(_Limits(limits.depth - 1, False)))
            return ["def inner(x=x):", *_indent(body), "x = inner()"]


HEADER = """import os

from sglang.srt.utils import get_bool_env_var, is_cuda, is_hip, is_npu

_is_cuda = is_cuda()
_is_hip = is_hip()
_use_aiter = get_bool_env_var("SGLANG_USE_AITER") and _is_hip
_off = _use_aiter or is_npu()
"""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Source of a module that defines ``f(a, b, probe, tick)``."""
    body = draw(_block(_Limits(3, False)))
    parameters = "a, b, probe, tick"
    lines = [f"def f({parameters}):", *_indent(["x = 0", "local_hip = is_hip()", *body, "return x"])]
    return HEADER + "\n\n" + "\n".join(lines) + "\n"
