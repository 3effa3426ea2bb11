"""After folding: imports and flags whose every read was folded away.

Only names whose reads this run removed are considered: what upstream left unused stays.
"""

from __future__ import annotations

import ast
import re

from shrinker.facts.bindings import absolute
from shrinker.facts.effects import is_pure
from shrinker.facts.lattice import Known, Ref
from shrinker.facts.scopes import ModuleScope
from shrinker.facts.walk import walk
from shrinker.fold.context import Context, extent, span
from shrinker.values.edits import DropAlias, DropStatement

_WORDS = re.compile(r"\w+")


def drop_unused(tree: ast.Module, context: Context) -> None:
    """Remove module-level flags with an exact value that nobody reads, then imports of predicates."""
    exported = _exported(tree)
    reads = _reads(tree)
    kept = [s for s in tree.body if not _is_dead_flag(s, context, reads, exported)]
    if len(kept) < len(tree.body):
        # A flag may have been the last to read a predicate, or another flag that stands above it.
        tree.body = kept
        reads = _reads(tree)
        tree.body = [s for s in tree.body if not _is_dead_flag(s, context, reads, exported)]
        reads = _reads(tree)
    tree.body = [s for s in tree.body if _keep_import(s, context, reads, exported)]


def _reads(tree: ast.Module) -> set[str]:
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


def _exported(tree: ast.Module) -> set[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return {c.value for c in ast.walk(node.value) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return set()


def _is_dead_flag(node: ast.stmt, context: Context, reads: set[str], exported: set[str]) -> bool:
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return False
    name = node.targets[0].id
    if (context.module, name) in context.environment.imported or context.module in context.environment.starred:
        return False
    if name in reads or name in exported:
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
        if name in context.environment.read or not is_pure(
            node.value, ModuleScope(context.environment, context.module)
        ):
            return False
        context.touched.update(n.id for n in walk(node.value) if isinstance(n, ast.Name))
    context.edits.append(DropStatement(span(node)))
    context.decide(node, "flag", value.rules, "removed", extent([node]))
    return True


def _keep_import(node: ast.stmt, context: Context, reads: set[str], exported: set[str]) -> bool:
    if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
        return True
    source = absolute(node.module, node.level, context.package)
    gone: list[tuple[ast.alias, frozenset[str]]] = []
    for alias in node.names:
        name = alias.asname or alias.name
        if name in reads or name in exported or name not in context.touched:
            continue
        if (context.module, name) in context.environment.imported or context.module in context.environment.starred:
            continue
        rules = _decided_by(source, alias.name, context)
        if rules or name not in context.environment.read:
            # What is read as `module.name` elsewhere stays, unless every such read is folded too.
            gone.append((alias, rules))
    if len(gone) == len(node.names):
        # Without any name left the import itself would go, and with it what importing the module does:
        # only a module that is imported for its predicates may be dropped.
        gone = [(alias, rules) for alias, rules in gone if rules]
    if not gone:
        return True
    if len(gone) == len(node.names):
        context.edits.append(DropStatement(span(node)))
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
