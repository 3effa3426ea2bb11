"""What is read of one file of C, C++ or CUDA, and the tokens of its syntax tree: what the shape of
a few of them in a row says.

They are there even where macros keep the grammar from understanding what stands around them.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import tree_sitter

NAMES = frozenset(
    {
        "identifier",
        "type_identifier",
        "field_identifier",
        "namespace_identifier",
        "statement_identifier",
    }
)
_BETWEEN = frozenset(["const", "volatile", "override", "final", "&", "&&", "::", "comment"])
"""What may stand between parameters and a body, besides names of macros."""
_WORDS = """
if for while switch catch return sizeof decltype alignas defined constexpr operator static_cast reinterpret_cast const_cast
dynamic_cast static_assert __align__ __launch_bounds__ __attribute__
"""
_KEYWORDS = frozenset(_WORDS.split())
"""Where the parser understood nothing, they look like names."""
BRANCHES = frozenset(
    {"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"}
)
NAMESPACES = BRANCHES | {"namespace_definition", "declaration_list", "translation_unit"}
"""What statements of a file stand in, besides those of C's linkage."""
_LONGEST = 400
"""Tokens of the template arguments of one name."""


class Lines(NamedTuple):
    """Whole lines of a file, from 1; the first is 0 for what shares its lines with
    something else.
    """

    first: int
    last: int


class Registration(NamedTuple):
    """A statement by which a source offers a function under a name."""

    name: str
    functions: tuple[str, ...]
    """Names in it of what may be the function."""
    line: int
    lines: Lines


class Definition(NamedTuple):
    """What may go as a whole when nothing names it; a declaration of a function, too."""

    name: str
    lines: Lines
    """With the comment directly above a definition."""
    words: frozenset[str] = frozenset()
    """All that it says; not asked of what is only declared."""


class NativeSource(NamedTuple):
    """One file."""

    words: frozenset[str]
    """Names that it mentions outside of registrations, but for those that it only declares."""
    defined: frozenset[str]
    """Names that it may define as a function."""
    methods: frozenset[str]
    """Of these, those that are defined outside of their class: ``Class::name``."""
    promised: frozenset[str]
    """Names of namespaces that it declares and does not define there: functions, and variables of
    other sources.
    """
    members: frozenset[str]
    """The same of classes: ``Class::name``."""
    pasted: frozenset[tuple[str, str]]
    """What stands before and after the computed part of a name that a macro puts together."""
    spoken: frozenset[str]
    """Names in its texts after a namespace: ``sgl::name``."""
    registrations: tuple[Registration, ...]
    declarations: tuple[Definition, ...]
    """Functions that it only declares."""
    definitions: tuple[Definition, ...]
    outside: frozenset[str]
    """All words outside of these and of registrations, those of texts, too."""
    acts: bool
    """True when the library may need it for what happens when it is loaded."""


def text_of(node: tree_sitter.Node | None) -> str:
    """Return what is written there; empty for nothing."""
    return ((node.text if node is not None else None) or b"").decode("utf-8", "replace")


def field(node: tree_sitter.Node | None, *names: str) -> tree_sitter.Node | None:
    """Return what a node holds in a field, what that holds in the next one, and so on; None where
    one is not there.
    """
    for name in names:
        node = node.child_by_field_name(name) if node is not None else None
    return node


def nodes(node: tree_sitter.Node, apart: Collection[int] = ()) -> Iterator[tree_sitter.Node]:
    """Yield the node and all below it in their order, those `apart` and what is below them left
    out.
    """
    stack = [node]
    while stack:
        each = stack.pop()
        if each.id not in apart:
            yield each
            stack.extend(reversed(each.children))


def leaves(node: tree_sitter.Node, apart: Collection[int] = ()) -> Iterator[tree_sitter.Node]:
    """Tokens in their order, those below `apart` left out."""
    return (each for each in nodes(node, apart) if not each.child_count)


def within(
    node: tree_sitter.Node, around: Collection[str], *, understood: bool = False
) -> Iterator[tree_sitter.Node]:
    """Yield what stands in a node, and in nodes of the kinds `around` in it; if it is to be
    `understood`, nothing beside what the parser did not understand.
    """
    if understood and any(child.is_error or child.is_missing for child in node.children):
        return
    for child in node.children:
        if child.type in around:
            yield from within(child, around, understood=understood)
        else:
            yield child


def function_of(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """Return the declarator of a function, also within those of what it gives: a pointer or a
    reference; None for any other.
    """
    while node is not None and node.type in ("pointer_declarator", "reference_declarator"):
        node = next((child for child in node.named_children if "declarator" in child.type), None)
    return node if node is not None and node.type == "function_declarator" else None


def defined_names(tokens: Sequence[tree_sitter.Node]) -> tuple[frozenset[str], frozenset[str]]:
    """Return names that stand before parentheses and a body; and those of them with a class before
    them.
    """
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
    """Return the place after the template arguments that start here, if any do."""
    depth = 0
    for here, kind in enumerate(kinds[at : at + _LONGEST], at):
        depth += {"<": 1, ">": -1, ">>": -2}.get(kind, 0)
        if kind in (";", "{", "}"):
            break
        if depth <= 0:
            return here + 1 if here > at else at
    return at


def _has_body(kinds: Sequence[str], at: int) -> bool:
    """Tell whether a body follows a list of parameters, or the initialisers of a constructor."""
    trailing = False
    for kind in kinds[at:]:
        if kind in ("{", "try") or (kind == ":" and not trailing):
            return True
        trailing = trailing or kind in ("->", "requires", "noexcept")
        if kind in (";", "=", "}") or not (trailing or kind in _BETWEEN or kind in NAMES):
            return False
    return False


def _owner(kinds: Sequence[str], at: int) -> int:
    """Return the place of the class that a name is qualified with; -1 where it has none."""
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
