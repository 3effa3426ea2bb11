"""The closed list of what may have been executed in upstream and not stand in the generated tree.

Each kind says when it applies; whatever else was executed and is missing is a finding. None of them
asks how the tree was
made: they look at the missing line, at what is left of its function, and at the names that the
    generated tree still says.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from equivalence.trace.source import Line, Names
from shrinker.syntax.names import last_name
from shrinker.syntax.walk import Definition

CONDITION = "header of a decided condition"
"""`if`, `elif`, `while`, `assert`, `case`: its value was decided.

What ran under it is asked for line by line.
"""
FRAME = "frame of a decided try"
"""`try`, `except`, `else`, `finally`: the lines within are asked for."""
IMPORT = "import of names that are not used"
"""In a function that reads none of them any more."""
ASSIGNMENT = "assignment that nothing reads"
"""To names that the function does not read any more, or to attributes that no file of the tree
reads.
"""
DEFINITION = "definition that nothing names"
"""Of a function or class within a function that does not read its name any more."""
CALL = "call of a function without effect"
"""As a statement.

No file of the tree reads the function's name, and what ran of it had no effect; or all functions of
the name that the tree has do nothing.
"""
FUNCTION = "function without effect that nothing names"
"""Gone as a whole; no file of the tree reads its name (or its class's, when that is gone, too), and
what ran of it had no effect, or a rule says that it only answers.
"""
STATED = "function whose result a rule states"
"""Gone as a whole; a fact of the profile names it, with the reason why, or all that ran and said
its name is such a function.
"""
REMOVED = "function that a rule removes, or its module"
"""It is gone, nothing names it, and a rule names it, or its module, which is gone, too.

What called it is asked for line by line.
"""
IMPORTING = "function that ran only while modules were imported, gone as a whole"
REGISTRATION = "registration of a refused value"
"""A call in the body of a kept module that says, as a string, what the interface lists as refused,
or that files what a rule says nothing asks for, or nothing but what the tree neither defines nor
names.
"""
BOUND = "name of a module or class that is gone"
"""Definitions, imports, assignments in the body of a kept module or class.

Whether something needs them is what the levels references and imports ask.
"""
MODULE = "body of a module that is gone"
"""What an import executed of it; no function of it ran later."""

KINDS = (
    *(CONDITION, FRAME, IMPORT, ASSIGNMENT, DEFINITION, CALL, FUNCTION, STATED, REMOVED),
    *(IMPORTING, REGISTRATION, BOUND, MODULE),
)

_CONDITIONS = frozenset({"if", "elif", "while", "assert", "match", "case"})
_FRAMES = frozenset({"try", "except", "else", "finally"})
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


@dataclass(frozen=True, slots=True)
class Around:
    """What is left around a missing line."""

    here: Names
    """What the rest of the outermost function around it reads."""
    tree: Names
    idle: Callable[[str], bool]
    """Whether all functions of a name are gone, and what ran of them had no effect."""


def reason(line: Line, around: Around) -> str | None:
    """Return why a line that was executed may be missing; None when nothing says so."""
    first, node = line.tokens[0], line.statement
    if first in _CONDITIONS:
        return CONDITION
    if first in _FRAMES:
        return FRAME
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        bound = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        return None if bound & around.here.plain else IMPORT
    if isinstance(node, _ASSIGNMENTS):
        return ASSIGNMENT if all(_unread(target, around) for target in _targets(node)) else None
    if isinstance(node, Definition):
        return None if node.name in around.here.plain else DEFINITION
    if isinstance(node, ast.Expr):
        name = called(node)
        gone = name not in around.tree.plain | around.tree.attributes and around.idle(name)
        return CALL if name and (gone or name in around.tree.empty) else None
    return None


def _unread(target: ast.expr, around: Around) -> bool:
    if isinstance(target, ast.Name):
        return target.id not in around.here.plain
    return isinstance(target, ast.Attribute) and target.attr not in around.tree.attributes


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[ast.expr]:
    waiting = list(node.targets if isinstance(node, ast.Assign) else [node.target])
    while waiting:
        match waiting.pop():
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                waiting += parts
            case ast.Starred(value=target) | target:
                yield target


def called(node: ast.Expr) -> str:
    """Return last name of the function that a statement calls; empty when it is no call of
    a name.
    """
    value = node.value.value if isinstance(node.value, ast.Await) else node.value
    return last_name(value.func) if isinstance(value, ast.Call) else ""


def without_effect(line: Line, around: Around) -> bool:
    """Tell whether a line of a function that is gone does nothing but find out what is returned."""
    node = line.statement
    plain = isinstance(node, _ASSIGNMENTS) and all(
        isinstance(target, ast.Name) for target in _targets(node)
    )
    return (
        plain
        or isinstance(node, (ast.Return, ast.Pass, ast.For))
        or reason(line, around) is not None
    )
