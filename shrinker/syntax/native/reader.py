"""C++ and CUDA, as far as it matters which source needs which: what a file defines, declares,
mentions and registers.

Names are read from tokens. Only what may be deleted, a registration, a declaration or a definition,
is asked of the tree itself.
"""

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import pairwise

import tree_sitter

from shrinker.syntax.native.conditionals import native_parser
from shrinker.syntax.native.tokens import (
    BRANCHES,
    NAMES,
    NAMESPACES,
    Definition,
    Lines,
    NativeSource,
    Registration,
    defined_names,
    extern_names,
    field,
    function_of,
    leaves,
    nodes,
    text_of,
    within,
)

_BLOCK = re.compile(r"(TORCH_LIBRARY|STABLE_TORCH_LIBRARY)\w*|PYBIND11_MODULE|NB_MODULE")
"""Macros whose block registers what the library offers."""
_EXPORT = re.compile(r"TVM_FFI_\w*EXPORT\w*")
"""Macros that each register one function."""
_REGISTERS = frozenset({"def", "impl"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_PASTED = re.compile(r"([A-Za-z_]\w*)?[ \t]*##[ \t]*([A-Za-z_]\w*)?")
_SPOKEN = re.compile(r"[A-Za-z_]\w*::([A-Za-z_]\w*)")
_TYPE = re.compile(
    r"(primitive|template|dependent)_type|(type|qualified)_identifier|sized_type_specifier"
)
_HEAD = re.compile(r"__(device|host|global|forceinline)__|launch_bounds|comment|;")
_SPECIFIER = re.compile(r"static|inline|const|constexpr")
_AFTER = re.compile(r"identifier|parameter_list|noexcept|trailing_return_type|comment")
_CLASS = re.compile(
    r"struct|class|type_identifier|base_class_clause|field_declaration_list|comment"
)
_LASTING = re.compile(r"preproc_(def|function_def|include|call)")
"""What a body may hold that counts after it, too."""
_CALLED_BY_OTHERS = frozenset(
    {"main", "swap", "begin", "end", "size", "data", "get", "print", "to_string", "hash_value"}
)
"""A template of a third party finds these by the types of what it is given."""
_Whole = Callable[[tree_sitter.Node], Lines]


def read_native(data: bytes) -> NativeSource:
    """Read one C, C++ or CUDA file."""
    root, whole = native_parser().parse(data).root_node, partial(_whole, data.split(b"\n"))
    registrations: dict[int, Registration] = {}
    declarations: list[Definition] = []
    # By their nodes, like registrations.
    declared: dict[int, str] = {}
    acts = False
    for node in within(root, NAMESPACES | {"linkage_specification"}):
        block, exported = _block(node), _exported(node)
        acts = acts or exported is not None or block is not None
        offers = [(node, exported)] if exported is not None else []
        if block is not None:
            offers = [
                (each, offer)
                for each in within(block, BRANCHES)
                if (offer := _registered(each)) is not None
            ]
        for each, (name, functions) in offers:
            registrations[each.id] = Registration(
                name, functions, each.start_point[0] + 1, whole(each)
            )
        for each in node.children if node.type == "template_declaration" else [node]:
            if (stands := _declared(each)) is not None:
                declared[stands.id] = text_of(stands)
                if each is node:
                    declarations.append(Definition(declared[stands.id], whole(node)))
    definitions, outside = _definitions(root, registrations, whole)
    words, pasted, spoken = _mentions(root, {*declared, *registrations})
    tokens = [*leaves(root)]
    defined, methods = defined_names(tokens)
    return NativeSource(
        words=words,
        defined=defined,
        methods=methods,
        members=frozenset(_members(root)),
        promised=frozenset((*declared.values(), *extern_names(tokens))),
        pasted=pasted,
        spoken=spoken,
        registrations=tuple(registrations.values()),
        declarations=tuple(declarations),
        definitions=definitions,
        outside=outside,
        acts=acts,
    )


def _whole(rows: list[bytes], node: tree_sitter.Node) -> Lines:
    """Return the lines of a node, where nothing but a comment stands beside it and the parser
    understood all of it.
    """
    (first, column), (last, end) = node.start_point, node.end_point
    after = rows[last][end:].strip()
    if node.has_error or rows[first][:column].strip() or (after and not after.startswith(b"//")):
        return Lines(0, 0)
    return Lines(first + 1, last + 1)


def _block(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the body of a block of registrations."""
    name = text_of(field(node, "declarator", "declarator"))
    return (
        field(node, "body")
        if node.type == "function_definition" and _BLOCK.fullmatch(name)
        else None
    )


def _call(node: tree_sitter.Node) -> tuple[tree_sitter.Node | None, tree_sitter.Node | None]:
    """Return the function and the arguments of a statement that calls; of any other nothing."""
    call = (
        node.named_children[0]
        if node.type == "expression_statement" and node.named_children
        else None
    )
    if call is None or call.type != "call_expression":
        return None, None
    return field(call, "function"), field(call, "arguments")


def _exported(node: tree_sitter.Node) -> tuple[str, tuple[str, ...]] | None:
    """Name and functions of a statement that exports one."""
    function, arguments = _call(node)
    if arguments is None or not _EXPORT.fullmatch(text_of(function)):
        return None
    names = [text_of(leaf) for leaf in leaves(arguments) if leaf.type in NAMES]
    return (names[0], tuple(names[1:])) if names else None


def _registered(node: tree_sitter.Node) -> tuple[str, tuple[str, ...]] | None:
    """Name and functions of a statement that only registers: ``m.def("name(…) -> …",
    &function);``.
    """
    function, arguments = _call(node)
    receiver = field(function, "argument")
    if arguments is None or receiver is None or receiver.type != "identifier":
        return None
    if (
        function is None
        or function.type != "field_expression"
        or text_of(field(function, "field")) not in _REGISTERS
    ):
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    schema = (
        next((text_of(leaf) for leaf in leaves(given[0]) if leaf.type == "string_content"), "")
        if given
        else ""
    )
    name = schema.partition("(")[0].rpartition("::")[2].strip()
    if not name.isidentifier() or given[0].type not in ("string_literal", "concatenated_string"):
        return None
    return name, tuple(
        text_of(leaf) for each in given[1:] for leaf in leaves(each) if leaf.type in NAMES
    )


def _mentions(
    root: tree_sitter.Node, apart: Collection[int]
) -> tuple[frozenset[str], frozenset[tuple[str, str]], frozenset[str]]:
    """Return words, parts of names that macros put together, and names in texts."""
    words: set[str] = set()
    pasted: set[tuple[str, str]] = set()
    spoken: set[str] = set()
    for leaf in leaves(root, apart):
        text = text_of(leaf)
        if leaf.type in NAMES:
            words.add(text)
        elif leaf.type in ("preproc_arg", "ERROR"):
            words.update(_WORD.findall(text))
            around = field(leaf.parent, "parameters")
            given = {text_of(each) for each in leaves(around)} if around is not None else set()
            # A parameter may be anything.
            pasted.update(
                (a * (a not in given), b * (b not in given)) for a, b in _PASTED.findall(text)
            )
            spoken.update(_SPOKEN.findall(text))
        elif leaf.type in ("string_content", "raw_string_content"):
            spoken.update(_SPOKEN.findall(text))
    return frozenset(words), frozenset(pasted), frozenset(spoken)


def _declared(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the name of the function that a statement declares and does nothing else."""
    declarators = node.children_by_field_name("declarator")
    if node.type != "declaration" or node.has_error or len(declarators) != 1:
        return None
    name = field(function_of(declarators[0]), "declarator")
    return name if name is not None and name.type == "identifier" else None


def _members(root: tree_sitter.Node) -> Iterator[str]:
    """Yield methods that classes only declare."""
    for node in nodes(root):
        if node.type not in ("class_specifier", "struct_specifier"):
            continue
        owner, body = field(node, "name"), field(node, "body")
        if owner is None or body is None:
            continue
        name = next((text_of(leaf) for leaf in leaves(owner) if leaf.type in NAMES), "")
        for member in body.named_children if name else ():
            inner = member.named_children[-1] if member.type == "template_declaration" else member
            if inner.type in ("field_declaration", "declaration"):
                for token, following in pairwise(leaves(inner)):
                    if token.type in NAMES and following.type == "(":
                        yield f"{name}::{text_of(token)}"


# What may go as a whole when nothing names it: free functions, constants and templates of classes
# that the parser understood. What could be asked for by something else than its name is none of
# them: linkage of C, attributes, members, specialisations.


def _definitions(
    root: tree_sitter.Node, apart: Collection[int], whole: _Whole
) -> tuple[tuple[Definition, ...], frozenset[str]]:
    """Return definitions and declarations of a file that may go, and all words outside of them and
    of what is read by itself (`apart`: registrations). `whole` gives the lines of a node, see
    `Lines`.
    """
    found: dict[int, Definition] = {}
    for node in within(root, NAMESPACES, understood=True):
        name, lines = _name(node), whole(node)
        if name and lines.first and name not in _CALLED_BY_OTHERS:
            found[node.id] = Definition(
                name, Lines(_first(node, lines.first, whole), lines.last), _words(node)
            )
    return tuple(found.values()), _words(root, {*apart, *found})


def _name(node: tree_sitter.Node) -> str:
    """Return the name of what may go; empty for anything else."""
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
    if (
        stands is None
        or kind is None
        or head.type != ("function_definition" if defined else "declaration")
    ):
        return ""
    rest = [
        child
        for child in head.children
        if child not in (kind, stands, body) and not _HEAD.fullmatch(child.type)
    ]
    if not (_TYPE.fullmatch(kind.type) or text_of(kind) == "auto") or not all(
        _SPECIFIER.fullmatch(text_of(child)) or (not defined and text_of(child) == "extern")
        for child in rest
    ):
        return ""
    if stands.type == "init_declarator":
        # A constant does nothing when it is made.
        constant = any(text_of(child) == "constexpr" for child in rest)
        return _named(stands, "declarator", "identifier") if constant else ""
    function = function_of(stands)
    return _named(function, "declarator", "identifier", _AFTER) if function is not None else ""


def _named(
    node: tree_sitter.Node, where: str, kind: str, plain: re.Pattern[str] | None = None
) -> str:
    """Return the text of a field, where that is a plain name, and nothing but what is expected
    stands beside it.
    """
    name = field(node, where)
    usual = plain is None or all(plain.fullmatch(child.type) for child in node.children)
    return text_of(name) if name is not None and name.type == kind and usual else ""


def _lasts(node: tree_sitter.Node) -> bool:
    """True for a directive that counts after what it stands in."""
    return bool(_LASTING.fullmatch(node.type)) and text_of(node).split()[:2] != [
        "#pragma",
        "unroll",
    ]


def _first(node: tree_sitter.Node, first: int, whole: _Whole) -> int:
    """Return the first line of a definition, with comments directly above; what the file begins
    with speaks of all of it.
    """
    above = node.prev_sibling if node.type != "declaration" else None
    while (
        above is not None and above.type == "comment" and b"clang-format" not in (above.text or b"")
    ):
        lines = whole(above)
        if lines.first < 2 or lines.last != first - 1:
            break
        first, above = lines.first, above.prev_sibling
    return first


def _words(node: tree_sitter.Node, apart: Collection[int] = ()) -> frozenset[str]:
    """Return all words but those of comments."""
    told = (leaf for leaf in leaves(node, apart) if leaf.type != "comment")
    return frozenset(word for leaf in told for word in _WORD.findall(text_of(leaf)))
