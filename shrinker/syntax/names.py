"""What expressions are called, and which names code reads."""

import ast
import re
from typing import TypeGuard

from shrinker.syntax.walk import walk

_WORDS = re.compile(r"\w+")
_LONGEST = 200
"""Characters: a longer string is no annotation and names nothing."""


def is_special(name: str) -> bool:
    """True for a name that Python itself looks up."""
    return name.startswith("__") and name.endswith("__")


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def written(node: ast.expr) -> str:
    """A name as it is written: ``self.device``; only its end where it hangs on something else than a name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = written(node.value)
        return f"{base}.{node.attr}" if base else node.attr
    return ""


def last_name(node: ast.expr) -> str:
    """Last name of a dotted expression, its subscripts left out; empty for any other."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def first_name(node: ast.expr) -> str:
    """First name of a dotted expression, its subscripts left out; empty for any other."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def assigned(node: ast.stmt) -> tuple[ast.expr, ast.expr] | tuple[None, None]:
    """The target of an assignment that has one alone, and what it gets; of any other statement nothing."""
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            return target, value
    return None, None


def words_of(node: ast.AST) -> tuple[set[str], set[str]]:
    """Names in some code; and names, attributes and strings that are an identifier."""
    names: set[str] = set()
    others: set[str] = set()
    for part in walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            others.add(part.attr)
        elif isinstance(part, ast.Constant):
            if isinstance(part.value, str) and part.value.isidentifier():
                others.add(part.value)
        elif isinstance(part, ast.alias):
            others.add(part.name.rpartition(".")[2])
    return names, names | others


def reads_in(tree: ast.AST) -> set[str]:
    """Names that the code below a node reads, or may read through a string: an annotation, an argument of `getattr`."""
    found: set[str] = set()
    documentation: set[int] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Global):
            found.update(node.names)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            # Parents come before what is in them.
            documentation.add(id(node.value))
        elif _is_text(node) and id(node) not in documentation:
            found.update(_WORDS.findall(str(node.value)))
    return found


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < _LONGEST
