"""After folding: imports of predicates, and names of constants, in functions that read them no more."""

import ast

from shrinker.fold.cleanup import keep_import
from shrinker.fold.context import Context
from shrinker.syntax.control import READ_ALL_LOCALS
from shrinker.syntax.imports import catches_import_error, loads, with_packages
from shrinker.syntax.names import reads_in
from shrinker.syntax.ranges import span
from shrinker.syntax.walk import BLOCKS_OF, functions, statements
from shrinker.values.edits import Span


def drop_unused_locals(tree: ast.Module, context: Context) -> None:
    """In functions, too: imports of predicates, and names of constants, when nothing reads them any more."""
    literals, loaded = context.literals(), _loaded(tree, context.package)
    for node in functions(tree):
        if context.is_edited(node):
            _clean_function(node, context, literals, loaded)


def _loaded(tree: ast.Module, package: str) -> frozenset[str]:
    """Modules that are loaded before any function of the module runs, with the packages around them."""
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    loaded = [each for node in imports for names in loads(node, package) for each in names]
    return with_packages((package, *(each.module for each in loaded if not each.perhaps)))


class _LocalReads:
    """Names that a function may read; any name where it may read all of its own."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._function = function
        self._names: set[str] | None = None

    def __contains__(self, name: str) -> bool:
        if self._names is None:
            self._names = reads_in(self._function)
            for statement in statements(self._function):
                if isinstance(statement, ast.Nonlocal):
                    self._names.update(statement.names)
                elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                    self._names.add(statement.target.id)
        return name in self._names or not READ_ALL_LOCALS.isdisjoint(self._names)


def _clean_function(
    function: ast.FunctionDef | ast.AsyncFunctionDef, context: Context, literals: set[Span], loaded: frozenset[str]
) -> None:
    reads = _LocalReads(function)

    def is_dead(node: ast.stmt, last: bool) -> bool:
        if isinstance(node, ast.Import | ast.ImportFrom):
            return not keep_import(node, context, lambda name: name in reads, loaded=loaded, last=last)
        if last or not (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ):
            return False
        name = node.targets[0].id
        is_constant = isinstance(node.value, ast.Constant) or span(node.value) in literals
        if name not in context.touched or not is_constant or name in reads:
            return False
        context.sweep(node, "flag", {"unused"})
        return True

    stack: list[ast.AST] = [function]
    while stack:
        node = stack.pop()
        for field in BLOCKS_OF[node.__class__]:
            body = getattr(node, field)
            if isinstance(node, ast.Try) and field == "body" and any(catches_import_error(h) for h in node.handlers):
                # The handler tells whether the import works.
                continue
            stack.extend(body)
            if isinstance(node, ast.ClassDef) or field in ("handlers", "cases"):
                continue
            kept: list[ast.stmt] = []
            for index, statement in enumerate(body):
                # A block is never emptied: its last statement stays when it is the only one left.
                if not is_dead(statement, last=index == len(body) - 1 and not kept):
                    kept.append(statement)
            setattr(node, field, kept)
