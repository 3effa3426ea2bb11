"""Conditional groups of the preprocessor, and which lines of them no build reads in which some
macros are not defined.

Only whole lines go, so that a group whose first open test is an ``#elif`` keeps the arms before it.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import tree_sitter
import tree_sitter_cuda

from shrinker.syntax.native.tokens import Lines, field, leaves, text_of

_OPENS = frozenset({"#if", "#ifdef", "#ifndef"})
_CONTINUES = frozenset({"#elif", "#elifdef", "#elifndef", "#else"})
_CLOSES = "#endif"


@cache
def native_parser() -> tree_sitter.Parser:
    """Return the parser of C, C++ and CUDA."""
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


class Refuted(NamedTuple):
    """Lines that no build reads, or that say nothing once others went."""

    lines: Lines
    macros: frozenset[str]
    """By which this is known."""


class _Arm(NamedTuple):
    directive: Lines
    verdict: bool | None
    """None where more than the macros decides."""
    macros: frozenset[str]


def refuted_lines(data: bytes, undefined: Collection[str]) -> tuple[Refuted, ...]:
    """Return lines that go of a C, C++ or CUDA file, in the order of the groups' ends; the lines of
    an inner group may lie within an outer one's.

    The `undefined` macros, which no build defines, are 0 where a test reads them.
    """
    return (
        _refuted(data, frozenset(undefined))
        if any(name.encode() in data for name in undefined)
        else ()
    )


@lru_cache(maxsize=256)
def _refuted(data: bytes, undefined: frozenset[str]) -> tuple[Refuted, ...]:
    # Kept: each round of the graph follows the includes of all sources.
    found: list[Refuted] = []
    open_groups: list[list[_Arm]] = []
    rows = data.split(b"\n")
    for leaf in leaves(native_parser().parse(data).root_node):
        if leaf.type in _OPENS:
            open_groups.append([])
        # The parser closes at the end what is not closed.
        if not open_groups or leaf.is_missing or leaf.type not in (_OPENS | _CONTINUES | {_CLOSES}):
            continue
        directive = _directive(rows, leaf.start_point[0])
        if leaf.type == _CLOSES:
            group = open_groups.pop()
            macros = frozenset().union(*(arm.macros for arm in group))
            found += [Refuted(lines, macros) for lines in _going(group, directive) if macros]
        else:
            open_groups[-1].append(_Arm(directive, *_verdict(rows, leaf, directive, undefined)))
    return () if open_groups else tuple(found)


def without_refuted(data: bytes, undefined: Collection[str]) -> bytes:
    """Return the file with these lines blank, so that all others keep their numbers."""
    rows = data.split(b"\n")
    for each in refuted_lines(data, undefined):
        for line in range(each.lines.first, each.lines.last + 1):
            rows[line - 1] = b""
    return b"\n".join(rows)


def _directive(rows: Sequence[bytes], row: int) -> Lines:
    last = row
    while rows[last].rstrip().endswith(b"\\") and last + 1 < len(rows):
        last += 1
    return Lines(row + 1, last + 1)


def _going(arms: Sequence[_Arm], end: Lines) -> Iterator[Lines]:
    """Yield lines of one group that go."""
    starts = [arm.directive.first for arm in arms] + [end.first]
    first = next((at for at, arm in enumerate(arms) if arm.verdict is not False), None)
    if first is None:
        yield Lines(starts[0], end.last)
    elif arms[first].verdict:
        # What is left needs no test any more.
        yield Lines(starts[0], arms[first].directive.last)
        yield Lines(starts[first + 1], end.last)
    else:
        taken = False
        for at, arm in enumerate(arms[first + 1 :], first + 1):
            if taken or arm.verdict is False:
                yield Lines(starts[at], starts[at + 1] - 1)
            taken = taken or arm.verdict is True


def _verdict(
    rows: Sequence[bytes], leaf: tree_sitter.Node, directive: Lines, undefined: Collection[str]
) -> tuple[bool | None, frozenset[str]]:
    """Return what a test says, and by which of the macros."""
    if leaf.type == "#else":
        return True, frozenset()
    test = b"\n".join(
        [rows[directive.first - 1][leaf.end_point[1] :], *rows[directive.first : directive.last]]
    )
    if leaf.type.endswith("def"):
        negated = b"!" if leaf.type.endswith("ndef") else b""
        test = b" %sdefined(%s)" % (negated, (test.split() or [b""])[0])
    root = native_parser().parse(b"#if" + test + b"\n#endif\n").root_node
    condition = field(root.named_children[0], "condition") if root.named_children else None
    if condition is None or condition.has_error:
        return None, frozenset()
    value = _value(condition, undefined)
    macros = frozenset(map(text_of, leaves(condition))).intersection(undefined)
    # What stands there without these macros is not asked: `#if 0` is upstream's.
    return (value, macros) if value is not None and macros else (None, frozenset())


def _value(node: tree_sitter.Node, undefined: Collection[str]) -> bool | None:
    """Return what a condition is; None where it is open."""
    inner, sign = node.named_children, text_of(field(node, "operator"))
    match node.type:
        case "identifier" | "preproc_defined":
            return (
                False
                if text_of(node if node.type == "identifier" else inner[0]) in undefined
                else None
            )
        case "number_literal":
            return bool(int(text_of(node))) if text_of(node).isdecimal() else None
        case "parenthesized_expression" if len(inner) == 1:
            return _value(inner[0], undefined)
        case "unary_expression" if sign == "!":
            value = _value(inner[0], undefined)
            return None if value is None else not value
        case "binary_expression" if sign in ("&&", "||"):
            sides = {_value(each, undefined) for each in (inner[0], inner[-1])}
            if (sign == "||") in sides:
                return sign == "||"
            return None if None in sides else sign == "&&"
    return None
