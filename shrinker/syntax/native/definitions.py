"""What may go as a whole when nothing names it: free functions, constants and templates of classes that the parser understood.

What could be asked for by something else than its name is none of them: linkage of C, attributes, members, specialisations.
"""

import re
from collections.abc import Callable, Collection

import tree_sitter

from shrinker.syntax.native.tokens import (
    NAMESPACES,
    Definition,
    Lines,
    field,
    function_of,
    leaves,
    nodes,
    text_of,
    within,
)

_WORD = re.compile(r"[A-Za-z_]\w*")
_TYPE = re.compile(r"(primitive|template|dependent)_type|(type|qualified)_identifier|sized_type_specifier")
_HEAD = re.compile(r"__(device|host|global|forceinline)__|launch_bounds|comment|;")
_SPECIFIER = re.compile(r"static|inline|const|constexpr")
_AFTER = re.compile(r"identifier|parameter_list|noexcept|trailing_return_type|comment")
_CLASS = re.compile(r"struct|class|type_identifier|base_class_clause|field_declaration_list|comment")
_LASTING = re.compile(r"preproc_(def|function_def|include|call)")
"""What a body may hold that counts after it, too."""
_CALLED_BY_OTHERS = frozenset(
    {"main", "swap", "begin", "end", "size", "data", "get", "print", "to_string", "hash_value"}
)
"""A template of a third party finds these by the types of what it is given."""
_Whole = Callable[[tree_sitter.Node], Lines]


def definitions_of(
    root: tree_sitter.Node, apart: Collection[int], whole: _Whole
) -> tuple[tuple[Definition, ...], frozenset[str]]:
    """Definitions and declarations of a file that may go, and all words outside of them and of what is read by itself (`apart`:
    registrations). `whole` gives the lines of a node, see `Lines`."""
    found: dict[int, Definition] = {}
    for node in within(root, NAMESPACES, understood=True):
        name, lines = _name(node), whole(node)
        if name and lines.first and name not in _CALLED_BY_OTHERS:
            found[node.id] = Definition(name, Lines(_first(node, lines.first, whole), lines.last), _words(node))
    return tuple(found.values()), _words(root, {*apart, *found})


def _name(node: tree_sitter.Node) -> str:
    """The name of what may go; empty for anything else."""
    head, parameters = node, field(node, "parameters")
    if node.type == "template_declaration" and parameters is not None and parameters.named_children:
        # Without parameters it is a specialisation.
        head = node.named_children[-1]
    if any(map(_lasts, nodes(node))):
        return ""
    body, stands, kind = field(head, "body"), field(head, "declarator"), field(head, "type")
    if head.type in ("struct_specifier", "class_specifier"):
        return _named(head, "name", "type_identifier", _CLASS) if body is not None else ""
    defined = body is not None and body.type == "compound_statement"
    if stands is None or kind is None or head.type != ("function_definition" if defined else "declaration"):
        return ""
    rest = [child for child in head.children if child not in (kind, stands, body) and not _HEAD.fullmatch(child.type)]
    if not (_TYPE.fullmatch(kind.type) or text_of(kind) == "auto") or not all(
        _SPECIFIER.fullmatch(text_of(child)) or (not defined and text_of(child) == "extern") for child in rest
    ):
        return ""
    if stands.type == "init_declarator":
        # A constant does nothing when it is made.
        constant = any(text_of(child) == "constexpr" for child in rest)
        return _named(stands, "declarator", "identifier") if constant else ""
    function = function_of(stands)
    return _named(function, "declarator", "identifier", _AFTER) if function is not None else ""


def _named(node: tree_sitter.Node, where: str, kind: str, plain: re.Pattern[str] | None = None) -> str:
    """The text of a field, where that is a plain name, and nothing but what is expected stands beside it."""
    name = field(node, where)
    usual = plain is None or all(plain.fullmatch(child.type) for child in node.children)
    return text_of(name) if name is not None and name.type == kind and usual else ""


def _lasts(node: tree_sitter.Node) -> bool:
    """True for a directive that counts after what it stands in."""
    return bool(_LASTING.fullmatch(node.type)) and text_of(node).split()[:2] != ["#pragma", "unroll"]


def _first(node: tree_sitter.Node, first: int, whole: _Whole) -> int:
    """The first line of a definition, with comments directly above; what the file begins with speaks of all of it."""
    above = node.prev_sibling if node.type != "declaration" else None
    while above is not None and above.type == "comment" and b"clang-format" not in (above.text or b""):
        lines = whole(above)
        if lines.first < 2 or lines.last != first - 1:
            break
        first, above = lines.first, above.prev_sibling
    return first


def _words(node: tree_sitter.Node, apart: Collection[int] = ()) -> frozenset[str]:
    """All words but those of comments."""
    told = (leaf for leaf in leaves(node, apart) if leaf.type != "comment")
    return frozenset(word for leaf in told for word in _WORD.findall(text_of(leaf)))
