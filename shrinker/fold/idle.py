"""Import statements of a folded module, as far as refinement rounds judge them: what each loads, what it binds."""

from __future__ import annotations

import ast

from shrinker.syntax.imports import CERTAIN, bound_name, loads, module_imports
from shrinker.syntax.names import reads_in
from shrinker.syntax.walk import statements


def described(tree: ast.Module, package: str, idle: set[str]) -> set[str]:
    """The module level's imports: all that certainly run, and others when a name of them is idle.

    Returns:
        Of each statement ``number:runs:name=module,name=module+?perhaps.module``.
    """
    found: set[str] = set()
    for number, (node, runs) in enumerate(module_imports(tree.body)):
        names = [bound_name(node, alias) for alias in node.names]
        if runs != CERTAIN and idle.isdisjoint(names):
            continue
        pairs = ",".join(
            f"{name}={'+'.join(modules)}" for name, modules in zip(names, loads(node, package), strict=True)
        )
        found.add(f"{number}:{runs}:{pairs}")
    return found


def idle_locals(tree: ast.Module, package: str, lost: set[str]) -> set[str]:
    """Modules that imports inside functions name of which no name is read any more; ``a+?a.b`` for `from a import b`."""
    found: set[str] = set()
    if not lost:
        return found
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            stack.extend(c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt | ast.ExceptHandler))
            continue
        imports = [s for s in statements(node) if isinstance(s, ast.Import | ast.ImportFrom)]
        imports = [s for s in imports if not lost.isdisjoint(bound_name(s, a) for a in s.names)]
        reads = reads_in(node) if imports else set()
        for statement in imports:
            for alias, modules in zip(statement.names, loads(statement, package), strict=True):
                name = bound_name(statement, alias)
                if name in lost and name not in reads:
                    found.add("+".join(modules))
    return found
