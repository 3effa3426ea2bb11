"""Import statements of a folded module, as far as refinement rounds judge them: what each loads, what it binds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from shrinker.facts.bindings import absolute
from shrinker.facts.scopes import catches_import_error, is_type_checking
from shrinker.facts.walk import statements, walk

Import = ast.Import | ast.ImportFrom

_WORDS = re.compile(r"\w+")
CERTAIN, PERHAPS, NEVER = "certain", "perhaps", "never"
"""Whether importing the module runs an import: always, in a branch, or only for a type checker."""


def bound_name(node: Import, alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


def loads(node: Import, package: str) -> list[tuple[str, ...]]:
    """What each name of an import loads: the module, and after a ``?`` what may be a module in it."""
    if isinstance(node, ast.Import):
        return [(alias.name,) for alias in node.names]
    source = absolute(node.module, node.level, package)
    return [(source,) if alias.name == "*" else (source, f"?{source}.{alias.name}") for alias in node.names]


def module_imports(body: list[ast.stmt], runs: str = CERTAIN) -> Iterator[tuple[Import, str]]:
    """Imports of the module level and of its branches, but for those whose failure a handler waits for."""
    for node in body:
        match node:
            case ast.ImportFrom(module="__future__"):
                pass
            case ast.Import() | ast.ImportFrom():
                yield node, runs
            case ast.If(test=test):
                branch = NEVER if is_type_checking(test) else PERHAPS
                yield from module_imports(node.body, max(runs, branch, key=(CERTAIN, PERHAPS, NEVER).index))
                yield from module_imports(node.orelse, max(runs, PERHAPS, key=(CERTAIN, PERHAPS, NEVER).index))
            case ast.Try() if not any(catches_import_error(h) for h in node.handlers):
                yield from module_imports(node.body, max(runs, PERHAPS, key=(CERTAIN, PERHAPS, NEVER).index))


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


def reads_in(tree: ast.AST) -> set[str]:
    """Names that the code below a node reads, or may read through a string."""
    found: set[str] = set()
    texts: set[int] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Global):
            found.update(node.names)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            # A docstring; parents come before what is in them.
            texts.add(id(node.value))
        elif isinstance(node, ast.Constant) and _may_name(node, texts):
            found.update(_WORDS.findall(str(node.value)))
    return found


def _may_name(node: ast.Constant, docstrings: set[int]) -> bool:
    """True for a string that may be an annotation, or name the flag to `getattr` or a patch."""
    return isinstance(node.value, str) and len(node.value) < 200 and id(node) not in docstrings
