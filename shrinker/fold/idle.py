"""Import statements of a folded module, as far as refinement rounds judge them: what each loads, what it binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shrinker.syntax.imports import CERTAIN, bound_name, loads, module_imports
from shrinker.syntax.names import reads_in
from shrinker.syntax.walk import functions, statements
from shrinker.values.summary import ImportStatement, Loaded


def import_statements(tree: ast.Module, package: str, idle: set[str]) -> Iterator[ImportStatement]:
    """The module level's imports: all that certainly run, and others when a name of them is idle."""
    for node, runs in module_imports(tree.body):
        names = [bound_name(node, alias) for alias in node.names]
        if runs == CERTAIN or not idle.isdisjoint(names):
            yield ImportStatement(runs, tuple(zip(names, loads(node, package), strict=True)))


def idle_locals(tree: ast.Module, package: str, lost: set[str]) -> set[tuple[Loaded, ...]]:
    """What imports inside functions load of which no name is read any more."""
    found: set[tuple[Loaded, ...]] = set()
    if not lost:
        return found
    for node in functions(tree):
        imports = [s for s in statements(node) if isinstance(s, ast.Import | ast.ImportFrom)]
        imports = [s for s in imports if not lost.isdisjoint(bound_name(s, a) for a in s.names)]
        reads = reads_in(node) if imports else set()
        for statement in imports:
            for alias, modules in zip(statement.names, loads(statement, package), strict=True):
                name = bound_name(statement, alias)
                if name in lost and name not in reads:
                    found.add(modules)
    return found
