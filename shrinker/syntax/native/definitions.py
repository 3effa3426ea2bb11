"""What may go as a whole when nothing names it: free functions, constants and templates of classes that the parser understood.

What could be asked for by something else than its name is none of them: linkage of C, attributes, members, specialisations.
"""

import re
from collections.abc import Callable, Collection, Iterator

import tree_sitter

from shrinker.syntax.native.source import Definition, Lines
from shrinker.syntax.native.tokens import leaves, text_of

_WORD = re.compile(r"[A-Za-z_]\w*")
_AROUND = re.compile(r"translation_unit|namespace_definition|declaration_list|preproc_(if|ifdef|else|elif|elifdef)")
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
    """Definitions and declarations that may go, and all words outside of them.

    Args:
        root: of a file.
        apart: nodes that are read by themselves: registrations.
        whole: gives the lines of a node, see `Lines`.
    """
    found: dict[int, Definition] = {}
    for node in _free(root):
        name, lines = _name(node), whole(node)
        if name and lines.first and name not in _CALLED_BY_OTHERS:
            found[node.id] = Definition(name, Lines(_first(node, lines.first, whole), lines.last), _words(node))
    return tuple(found.values()), _words(root, {*apart, *found})


def _free(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """What stands at the level of namespaces for certain: the parser understood all that is around it."""
    if any(child.is_error or child.is_missing for child in node.children):
        return
    for child in node.children:
        if _AROUND.fullmatch(child.type):
            yield from _free(child)
        else:
            yield child


def _name(node: tree_sitter.Node) -> str:
    """The name of what may go; empty for anything else."""
    head, parameters = node, node.child_by_field_name("parameters")
    if node.type == "template_declaration" and parameters is not None and parameters.named_children:
        # Without parameters it is a specialisation.
        head = node.named_children[-1]
    if _lasts(node):
        return ""
    if head.type in ("struct_specifier", "class_specifier"):
        return _named(head, "name", "type_identifier", _CLASS) if head.child_by_field_name("body") else ""
    body, stands = head.child_by_field_name("body"), head.child_by_field_name("declarator")
    kind = head.child_by_field_name("type")
    defined = body is not None and body.type == "compound_statement"
    if stands is None or kind is None or head.type != ("function_definition" if defined else "declaration"):
        return ""
    said = {text_of(child) for child in head.children}
    rest = (child for child in head.children if child not in (kind, stands, body) and not _HEAD.fullmatch(child.type))
    if not (_TYPE.fullmatch(kind.type) or text_of(kind) == "auto") or not all(
        _SPECIFIER.fullmatch(text_of(child)) or (not defined and text_of(child) == "extern") for child in rest
    ):
        return ""
    if stands.type == "init_declarator":
        # A constant does nothing when it is made.
        return _named(stands, "declarator", "identifier") if "constexpr" in said else ""
    while stands.type in ("pointer_declarator", "reference_declarator"):
        stands = next((child for child in stands.named_children if "declarator" in child.type), stands.children[0])
    return _named(stands, "declarator", "identifier", _AFTER) if stands.type == "function_declarator" else ""


def _named(node: tree_sitter.Node, field: str, kind: str, plain: re.Pattern[str] | None = None) -> str:
    """The text of a field, where that is a plain name, and nothing but what is expected stands beside it."""
    name = node.child_by_field_name(field)
    usual = plain is None or all(plain.fullmatch(child.type) for child in node.children)
    return text_of(name) if name is not None and name.type == kind and usual else ""


def _lasts(node: tree_sitter.Node) -> bool:
    """True when a directive in it counts after it."""
    stack = [node]
    while stack:
        each = stack.pop()
        if _LASTING.fullmatch(each.type) and text_of(each).split()[:2] != ["#pragma", "unroll"]:
            return True
        stack += each.children
    return False


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
