"""What a name can mean, judged by the name alone: shared by the refinement mechanisms."""

from __future__ import annotations

import ast

from shrinker.facts.environment import Environment
from shrinker.facts.hierarchy import CALLED_BY_TORCH

LITERALS: dict[str, bool | None] = {"True": True, "False": False, "None": None}
_OWN_WORDS = 3
"""A method name of so many words that no base outside the tree has is the tree's own."""


def literal_of(node: ast.expr | None) -> str | None:
    """``True``, ``False`` or ``None`` of such a literal; None for anything else."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
        return repr(node.value)
    return None


def is_own_name(name: str) -> bool:
    """True for a method name so specific that objects from outside the tree do not have it."""
    words = [word for word in name.split("_") if word]
    return len(words) >= _OWN_WORDS and name not in CALLED_BY_TORCH and not name.startswith("__")


def own_parameter(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """``self`` or ``cls`` of a method that never gives it another value; empty when there is none."""
    if not method.args.args or any(getattr(d, "id", "") == "staticmethod" for d in method.decorator_list):
        return ""
    first = method.args.args[0]
    if first.arg not in ("self", "cls", "mcs"):
        return ""
    for part in ast.walk(method):
        if isinstance(part, ast.Name) and part.id == first.arg and not isinstance(part.ctx, ast.Load):
            return ""
        if isinstance(part, ast.arg) and part.arg == first.arg and part is not first:
            return ""
    return first.arg


def roots_outside(tree: ast.Module, module: str, environment: Environment) -> set[str]:
    """Names that an import anywhere in a module binds to something outside the tree."""
    found: set[str] = set()
    for source, _, bound in environment.outlines[module].aliases:
        if source.partition(".")[0] not in environment.packages:
            found.add(bound)
    return found
