"""After folding: imports and flags whose every read was folded away.

Only names whose reads this run removed are considered: what upstream left unused stays. What other modules may use is
judged by all of upstream, but for the names that a refinement round found unused by the kept modules.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable

from shrinker.facts.bindings import absolute
from shrinker.facts.effects import is_pure
from shrinker.facts.lattice import Known, Ref
from shrinker.facts.scopes import ModuleScope
from shrinker.facts.walk import statements, walk
from shrinker.fold.context import Context, extent, span
from shrinker.fold.exports import Exports, is_export
from shrinker.values.edits import DropAlias, Literal, Span

_WORDS = re.compile(r"\w+")
_READ_ALL_LOCALS = frozenset({"locals", "vars", "eval", "exec"})


def drop_unused(tree: ast.Module, context: Context) -> None:
    """Remove module-level flags with an exact value that nobody reads, then imports of predicates."""
    exports = Exports(tree, context)
    reads = _Reads(tree)
    kept = [s for s in tree.body if not _is_dead_flag(s, context, reads, exports)]
    if len(kept) < len(tree.body):
        # A flag may have been the last to read a predicate, or another flag that stands above it.
        reads.keep(kept)
        tree.body = [s for s in kept if not _is_dead_flag(s, context, reads, exports)]
        reads.keep(tree.body)
    tree.body = [s for s in tree.body if keep_import(s, context, lambda name: _is_used(name, context, reads, exports))]
    for name in context.dropped:
        exports.drop(name)
    exports.finish()
    drop_unused_locals(tree, context)
    context.settle()


class _Reads:
    """Names that a module's statements read, counted once a statement."""

    def __init__(self, tree: ast.Module) -> None:
        self._by_statement = {id(s): reads_in(s) for s in tree.body if not is_export(s)}
        self._all: set[str] = set().union(*self._by_statement.values())

    def __contains__(self, name: str) -> bool:
        return name in self._all

    def keep(self, body: list[ast.stmt]) -> None:
        """Only these statements are left."""
        self._all = set().union(*(self._by_statement.get(id(s), ()) for s in body))


def reads_in(tree: ast.AST) -> set[str]:
    """Names that the code below a node reads, or may read through a string."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Global):
            found.update(node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            # A string may be an annotation, or name the flag to `getattr` or a patch.
            found.update(_WORDS.findall(node.value))
    return found


def _is_used(name: str, context: Context, reads: _Reads, exports: Exports) -> bool:
    """True when the module itself reads the name, or another module may."""
    if name in context.unused:
        # Its entry in `__all__` goes with it.
        return name in reads or exports.holds(name)
    if name in reads or name in exports.names:
        return True
    environment = context.environment
    return (context.module, name) in environment.imported or context.module in environment.starred


def _is_dead_flag(node: ast.stmt, context: Context, reads: _Reads, exports: Exports) -> bool:
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return False
    name = node.targets[0].id
    if _is_used(name, context, reads, exports) or name in context.environment.shown:
        return False
    value = context.environment.resolve(context.module, name)
    if not (isinstance(value, Known) and value.rules):
        return False
    if isinstance(node.value, ast.Constant) and value.exact:
        if not isinstance(node.value.value, bool):
            return False  # A number or a text is a setting, not a flag.
    else:
        # Reads of an exact constant have all become literals. Of another one only the tests are gone:
        # none may be left here or elsewhere, and asking must have no effect.
        if (name in context.environment.read and name not in context.unused) or not is_pure(
            node.value, ModuleScope(context.environment, context.module)
        ):
            return False
        context.forget(node.value)
    exports.drop(name)
    context.sweep(node)
    context.decide(node, "flag", value.rules, "removed", extent([node]))
    return True


def keep_import(node: ast.stmt, context: Context, is_used: Callable[[str], bool]) -> bool:
    """Drop the names of an import whose every use was folded away; False when the whole statement goes.

    Args:
        node: any statement; only `from … import` is looked at.
        is_used: whether a name bound by the import is used, wherever it can be.
    """
    if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
        return True
    source = absolute(node.module, node.level, context.package)
    gone: list[tuple[ast.alias, frozenset[str]]] = []
    for alias in node.names:
        name = alias.asname or alias.name
        if (name not in context.touched and name not in context.unused) or is_used(name):
            continue
        rules = _decided_by(source, alias.name, context)
        # What is read as `module.name` elsewhere stays, unless every such read is folded too.
        lost = name in context.touched and name not in context.environment.read
        if rules or lost or name in context.unused:
            gone.append((alias, rules))
    if len(gone) == len(node.names):
        # Without any name left the import itself would go, and with it what importing the module does:
        # only a module that is imported for its predicates, or that a round found to be loaded anyway, may be dropped.
        gone = [
            (alias, rules or frozenset({"unused"})) for alias, rules in gone if rules or alias.name in context.unloaded
        ]
    if not gone:
        return True
    for alias, _ in gone:
        context.forget(alias)
        context.dropped.add(alias.asname or alias.name)
    if len(gone) == len(node.names):
        context.sweep(node)
        context.decide(node, "import", frozenset().union(*(r for _, r in gone)), "removed", extent([node]))
        return False
    for alias, rules in gone:
        context.edits.append(DropAlias(span(alias)))
        context.decide(alias, "import", rules or {"unused"}, "removed", 0)
    dropped = {id(a) for a, _ in gone}
    node.names = [a for a in node.names if id(a) not in dropped]
    return True


def _decided_by(source: str, name: str, context: Context) -> frozenset[str]:
    """Rules that make every use of an imported name foldable: a predicate or a flag."""
    value = ModuleScope(context.environment, source).environment.resolve(source, name)
    if isinstance(value, Known) and value.exact:
        return value.rules
    if isinstance(value, Ref):
        called = context.environment.called(value.name)
        if called is not None:
            return called.rules
    return frozenset()


def drop_unused_locals(tree: ast.Module, context: Context) -> None:
    """In functions, too: imports of predicates, and flags that became a literal, when nothing reads them any more."""
    literals = {e.span for e in context.edits if isinstance(e, Literal)}
    lines = sorted(e.span.line for e in context.edits)
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = bisect.bisect_left(lines, node.lineno)
            if first < len(lines) and lines[first] <= (node.end_lineno or node.lineno):
                _clean_function(node, context, literals)
        else:
            stack.extend(c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt | ast.ExceptHandler))


def _clean_function(function: ast.FunctionDef | ast.AsyncFunctionDef, context: Context, literals: set[Span]) -> None:
    reads = reads_in(function)
    if reads & _READ_ALL_LOCALS:
        return
    reads |= {n for s in statements(function) if isinstance(s, ast.Nonlocal) for n in s.names}

    def is_dead(node: ast.stmt) -> bool:
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            return not keep_import(node, context, lambda name: name in reads)
        name = node.targets[0].id
        if name in reads or name not in context.touched or span(node.value) not in literals:
            return False
        context.sweep(node)
        context.decide(node, "flag", {"unused"}, "removed", extent([node]))
        return True

    stack: list[ast.AST] = [function]
    while stack:
        node = stack.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            body = getattr(node, field, None)
            if body.__class__ is not list:
                continue
            stack.extend(body)
            if isinstance(node, ast.ClassDef) or field in ("handlers", "cases"):
                continue
            kept: list[ast.stmt] = []
            for index, statement in enumerate(body):
                # A block is never emptied: its last statement stays when it is the only one left.
                if (index == len(body) - 1 and not kept) or not is_dead(statement):
                    kept.append(statement)
            setattr(node, field, kept)
