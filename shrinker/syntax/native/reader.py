"""C++ and CUDA, as far as it matters which source needs which: what a file defines, declares, mentions and registers.

Names are read from tokens. Only what may be deleted, a registration or a declaration, is asked of the tree itself.
"""

import re
from collections.abc import Iterator

import tree_sitter

from shrinker.syntax.native.conditionals import native_parser
from shrinker.syntax.native.definitions import definitions_of
from shrinker.syntax.native.source import Declaration, Lines, NativeSource, Registration
from shrinker.syntax.native.tokens import NAMES, defined_names, extern_names, leaves, text_of

_BLOCK = re.compile(r"^(TORCH_LIBRARY\w*|PYBIND11_MODULE|STABLE_TORCH_LIBRARY\w*|NB_MODULE)$")
"""Macros whose block registers what the library offers."""
_EXPORT = re.compile(r"^TVM_FFI_\w*EXPORT\w*$")
"""Macros that each register one function."""
_REGISTERS = frozenset({"def", "impl"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_PASTED = re.compile(r"([A-Za-z_]\w*)?[ \t]*##[ \t]*([A-Za-z_]\w*)?")
_SPOKEN = re.compile(r"[A-Za-z_]\w*::([A-Za-z_]\w*)")
_BRANCHES = frozenset({"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef"})
_AROUND = _BRANCHES | {"namespace_definition", "declaration_list", "linkage_specification", "translation_unit"}


def read_native(data: bytes) -> NativeSource:
    """Read one C, C++ or CUDA file."""
    return _Reader(data).read()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._rows = data.split(b"\n")
        self._root = native_parser().parse(data).root_node
        self._registrations: list[Registration] = []
        self._declarations: list[Declaration] = []
        self._registering: set[int] = set()
        self._templates: set[str] = set()
        self._acts = False

    def read(self) -> NativeSource:
        apart: set[int] = set()
        for node in self._statements(self._root):
            if node.type == "function_definition":
                self._block(node)
            elif node.type == "expression_statement":
                self._export(node)
            elif node.type == "template_declaration":
                found = [name for child in node.children if (name := _declared(child)) is not None]
                self._templates.update(map(text_of, found))
                apart.update(name.id for name in found)
            elif (name := _declared(node)) is not None:
                self._declarations.append(Declaration(text_of(name), self._whole(node)))
                apart.add(name.id)
        definitions, outside = definitions_of(self._root, self._registering, self._whole)
        words, pasted, spoken = self._mentions(apart | self._registering)
        tokens = [*leaves(self._root)]
        defined, methods = defined_names(tokens)
        return NativeSource(
            words=frozenset(words),
            defined=defined,
            methods=methods,
            members=frozenset(_members(self._root)),
            promised=frozenset((*(each.name for each in self._declarations), *self._templates, *extern_names(tokens))),
            pasted=frozenset(pasted),
            spoken=frozenset(spoken),
            registrations=tuple(self._registrations),
            declarations=tuple(self._declarations),
            definitions=definitions,
            outside=outside,
            acts=self._acts,
        )

    def _statements(self, node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
        """What stands at the level of namespaces."""
        for child in node.children:
            if child.type in _AROUND:
                yield from self._statements(child)
            else:
                yield child

    def _block(self, node: tree_sitter.Node) -> None:
        declarator = node.child_by_field_name("declarator")
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        body = node.child_by_field_name("body")
        if name is None or body is None or not _BLOCK.match(text_of(name)):
            return
        self._acts = True
        for statement in _each(body):
            found = _registration(statement)
            if found is not None:
                self._registrations.append(Registration(*found, statement.start_point[0] + 1, self._whole(statement)))
                self._registering.add(statement.id)

    def _export(self, node: tree_sitter.Node) -> None:
        call = node.named_children[0] if node.named_children else None
        function = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
        arguments = call.child_by_field_name("arguments") if call is not None and function is not None else None
        if function is None or arguments is None or not _EXPORT.match(text_of(function)):
            return
        names = [text_of(leaf) for leaf in leaves(arguments) if leaf.type in NAMES]
        if names:
            self._acts = True
            self._registrations.append(
                Registration(names[0], tuple(names[1:]), node.start_point[0] + 1, self._whole(node))
            )
            self._registering.add(node.id)

    def _whole(self, node: tree_sitter.Node) -> Lines:
        """The lines of a node, where nothing but a comment stands beside it and the parser understood all of it."""
        (first, column), (last, end) = node.start_point, node.end_point
        after = self._rows[last][end:].strip()
        if node.has_error or self._rows[first][:column].strip() or (after and not after.startswith(b"//")):
            return Lines(0, 0)
        return Lines(first + 1, last + 1)

    def _mentions(self, apart: set[int]) -> tuple[set[str], set[tuple[str, str]], set[str]]:
        words: set[str] = set()
        pasted: set[tuple[str, str]] = set()
        spoken: set[str] = set()
        for leaf in leaves(self._root, apart):
            if leaf.type in NAMES:
                words.add(text_of(leaf))
            elif leaf.type in ("preproc_arg", "ERROR"):
                text = text_of(leaf)
                words.update(_WORD.findall(text))
                around = leaf.parent.child_by_field_name("parameters") if leaf.parent is not None else None
                given = {text_of(each) for each in leaves(around)} if around is not None else set()
                # A parameter may be anything.
                pasted.update((a * (a not in given), b * (b not in given)) for a, b in _PASTED.findall(text))
                spoken.update(_SPOKEN.findall(text))
            elif leaf.type in ("string_content", "raw_string_content"):
                spoken.update(_SPOKEN.findall(text_of(leaf)))
        return words, pasted, spoken


def _each(body: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Statements of a block, also those in branches of the preprocessor."""
    for child in body.named_children:
        if child.type in _BRANCHES:
            yield from _each(child)
        else:
            yield child


def _declared(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name of the function that a statement declares and does nothing else."""
    if node.type != "declaration" or node.has_error:
        return None
    declarators = node.children_by_field_name("declarator")
    found = declarators[0] if len(declarators) == 1 else None
    while found is not None and found.type in ("pointer_declarator", "reference_declarator"):
        inner = found.child_by_field_name("declarator")
        found = inner if inner is not None else next((c for c in found.named_children if "declarator" in c.type), None)
    if found is None or found.type != "function_declarator":
        return None
    name = found.child_by_field_name("declarator")
    return name if name is not None and name.type == "identifier" else None


def _registration(statement: tree_sitter.Node) -> tuple[str, tuple[str, ...]] | None:
    """Name and functions of a statement that only registers: ``m.def("name(…) -> …", &function);``."""
    call = (
        statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
    )
    if call is None or call.type != "call_expression":
        return None
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or function.type != "field_expression":
        return None
    method, receiver = function.child_by_field_name("field"), function.child_by_field_name("argument")
    if method is None or receiver is None or receiver.type != "identifier" or text_of(method) not in _REGISTERS:
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    schema = next((text_of(leaf) for leaf in leaves(given[0]) if leaf.type == "string_content"), "") if given else ""
    name = schema.partition("(")[0].rpartition("::")[2].strip()
    if not name.isidentifier() or given[0].type not in ("string_literal", "concatenated_string"):
        return None
    return name, tuple(text_of(leaf) for each in given[1:] for leaf in leaves(each) if leaf.type in NAMES)


def _members(root: tree_sitter.Node) -> Iterator[str]:
    """Methods that classes only declare."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.named_children)
        if node.type not in ("class_specifier", "struct_specifier"):
            continue
        owner, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if owner is None or body is None:
            continue
        name = next((leaf for leaf in leaves(owner) if leaf.type in NAMES), None)
        for member in body.named_children:
            inner = member.named_children[-1] if member.type == "template_declaration" else member
            if name is not None and inner.type in ("field_declaration", "declaration"):
                tokens = [*leaves(inner)]
                for at, token in enumerate(tokens[:-1]):
                    if token.type in NAMES and tokens[at + 1].type == "(":
                        yield f"{text_of(name)}::{text_of(token)}"
