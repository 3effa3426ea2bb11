"""Which definitions nothing but their name can reach, and words of code that goes."""

from __future__ import annotations

import ast

from shrinker.facts.walk import walk

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_WRAPPERS = frozenset(
    {
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "abstractmethod",
        "lru_cache",
        "cache",
        "overload",
        "override",
        "final",
        "wraps",
        "contextmanager",
        "asynccontextmanager",
        "dataclass",
        "total_ordering",
        "runtime_checkable",
        "no_grad",
        "inference_mode",
        "torch.compile",
        "triton.jit",
        "triton.autotune",
        "triton.heuristics",
        "tilelang.jit",
        "torch.jit.script",
        "torch.jit.unused",
    }
)
"""Decorators that hand the definition back and tell nobody else of it; a dotted name must match its end."""


def is_free(node: Definition) -> bool:
    """True when only its name leads to a definition: no decorator may have registered it, no protocol calls it."""
    if node.name.startswith("__") and node.name.endswith("__"):
        return False
    return all(only_wraps(d) for d in node.decorator_list)


def only_wraps(decorator: ast.expr) -> bool:
    """True for a decorator that hands the definition back and tells nobody else of it."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = dotted(target)
    return any(name == w or (name.endswith("." + w) and name.count(".") <= 2) for w in _WRAPPERS)


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def words_of(node: ast.AST) -> tuple[set[str], set[str], set[str]]:
    """Names, all words, and attributes of the object itself, in code that goes.

    Returns:
        Names; names, attributes and strings that are an identifier; attributes of `self`, `cls` and `super()`.
    """
    names: set[str] = set()
    others: set[str] = set()
    own: set[str] = set()
    for part in walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            others.add(part.attr)
            base = part.value
            if isinstance(base, ast.Call):
                base = base.func
            if isinstance(base, ast.Name) and base.id in ("self", "cls", "super"):
                own.add(part.attr)
        elif isinstance(part, ast.Constant):
            if isinstance(part.value, str) and part.value.isidentifier():
                others.add(part.value)
        elif isinstance(part, ast.alias):
            others.add(part.name.rpartition(".")[2])
    return names, names | others, own
