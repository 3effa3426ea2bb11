"""Tokens of a syntax tree of C++ or CUDA, and what the shape of a few of them in a row says.

They are there even where macros keep the grammar from understanding what stands around them.
"""

from collections.abc import Collection, Iterator, Sequence

import tree_sitter

NAMES = frozenset({"identifier", "type_identifier", "field_identifier", "namespace_identifier", "statement_identifier"})
_BETWEEN = frozenset(["const", "volatile", "override", "final", "&", "&&", "::", "comment"])
"""What may stand between parameters and a body, besides names of macros."""
_WORDS = """
if for while switch catch return sizeof decltype alignas defined constexpr operator static_cast reinterpret_cast const_cast
dynamic_cast static_assert __align__ __launch_bounds__ __attribute__
"""
_KEYWORDS = frozenset(_WORDS.split())
"""Where the parser understood nothing, they look like names."""
_LONGEST = 400
"""Tokens of the template arguments of one name."""


def text_of(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def leaves(node: tree_sitter.Node, apart: Collection[int] = ()) -> Iterator[tree_sitter.Node]:
    """Tokens in their order, those below `apart` left out."""
    stack = [node]
    while stack:
        each = stack.pop()
        if each.id in apart:
            continue
        if each.child_count == 0:
            yield each
        else:
            stack.extend(reversed(each.children))


def defined_names(tokens: Sequence[tree_sitter.Node]) -> tuple[frozenset[str], frozenset[str]]:
    """Names that stand before parentheses and a body; and those of them with a class before them."""
    kinds = [token.type for token in tokens]
    closing = _closing(kinds)
    defined: set[str] = set()
    methods: set[str] = set()
    for at, kind in enumerate(kinds):
        if kind not in NAMES:
            continue
        closed = closing.get(_past_arguments(kinds, at + 1))
        name = text_of(tokens[at])
        if closed is None or name in _KEYWORDS or not _has_body(kinds, closed + 1):
            continue
        defined.add(name)
        owner = _owner(kinds, at)
        if owner >= 0:
            methods.add(f"{text_of(tokens[owner])}::{name}")
    return frozenset(defined), frozenset(methods)


def _closing(kinds: Sequence[str]) -> dict[int, int]:
    """Place of the parenthesis that closes each one."""
    found: dict[int, int] = {}
    stack: list[int] = []
    for at, kind in enumerate(kinds):
        if kind == "(":
            stack.append(at)
        elif kind == ")" and stack:
            found[stack.pop()] = at
    return found


def _past_arguments(kinds: Sequence[str], at: int) -> int:
    """The place after the template arguments that start here, if any do."""
    if at >= len(kinds) or kinds[at] != "<":
        return at
    depth, here = 0, at
    while here < min(len(kinds), at + _LONGEST):
        depth += {"<": 1, ">": -1, ">>": -2}.get(kinds[here], 0)
        if kinds[here] in (";", "{", "}"):
            return at
        here += 1
        if depth <= 0:
            return here
    return at


def _has_body(kinds: Sequence[str], at: int) -> bool:
    """True when a body follows a list of parameters, or the initialisers of a constructor."""
    trailing = False
    while at < len(kinds):
        kind = kinds[at]
        if kind in ("{", "try") or (kind == ":" and not trailing):
            return True
        trailing = trailing or kind in ("->", "requires", "noexcept")
        if kind in (";", "=", "}") or not (trailing or kind in _BETWEEN or kind in NAMES):
            return False
        at += 1
    return False


def _owner(kinds: Sequence[str], at: int) -> int:
    """The place of the class that a name is qualified with; -1 where it has none."""
    if at < 2 or kinds[at - 1] != "::":
        return -1
    at -= 2
    if kinds[at] == ">":
        depth = 0
        while at > 0:
            depth += {">": 1, ">>": 2, "<": -1}.get(kinds[at], 0)
            at -= 1
            if depth == 0:
                break
    return at if kinds[at] in NAMES else -1


def extern_names(tokens: Sequence[tree_sitter.Node]) -> Iterator[str]:
    """Variables that are declared after ``extern``."""
    for at, token in enumerate(tokens):
        if token.type != "extern":
            continue
        name = ""
        for each in tokens[at + 1 :]:
            if text_of(each) == "__shared__":
                # Memory of the kernel itself.
                break
            if each.type in (";", "=", "[", ",") and name:
                yield name
            if each.type in ("(", "{", "<", ";", "=", "["):
                break
            name = text_of(each) if each.type in NAMES else name
