"""After folding: imports and flags whose every read was folded away.

Only names whose reads this run removed are considered: what upstream left unused stays. What other modules may use is
judged by all of upstream. What only the kept modules as a whole show to be unused goes with the search of symbols.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace

from shrinker.facts.effects import is_pure
from shrinker.facts.lattice import Known, Ref
from shrinker.facts.scopes import ModuleScope
from shrinker.fold.context import Context
from shrinker.fold.exports import exported, is_export
from shrinker.syntax.imports import absolute, bound_name, catches_import_error, is_type_checking, loads
from shrinker.syntax.names import reads_in
from shrinker.syntax.ranges import meets, span
from shrinker.values.edits import DropElement


def drop_unused(tree: ast.Module, context: Context) -> None:
    """Remove module-level flags with an exact value that nobody reads, then imports of predicates."""
    exports, reads, environment = exported(tree), _Reads(tree, context), context.environment

    def is_used(name: str) -> bool:
        """True when the module itself reads the name, or another module may."""
        if name in reads or name in exports:
            return True
        return (context.module, name) in environment.imported or context.module in environment.starred

    def is_dead_flag(node: ast.stmt, around: _Around, last: bool) -> bool:
        # Where a handler waits only what raises nothing goes.
        quiet = not around.handlers or isinstance(getattr(node, "value", None), ast.Constant)
        return quiet and not last and _is_dead_flag(node, context, is_used)

    def is_dead_import(node: ast.stmt, around: _Around, last: bool) -> bool:
        if not isinstance(node, ast.Import | ast.ImportFrom) or any(map(catches_import_error, around.handlers)):
            return False
        return not keep_import(node, context, is_used, runs=not around.typing, last=last)

    edits = len(context.edits)
    kept = _without(tree.body, is_dead_flag)
    if len(context.edits) > edits:
        # A flag may have been the last to read a predicate, or another flag that stands above it.
        reads.keep(kept)
        tree.body = _without(kept, is_dead_flag)
        reads.keep(tree.body)
    tree.body = _without(tree.body, is_dead_import)


class _Reads:
    """Names that a module's statements read, as far as they are asked for.

    Few names are, and a statement that folding has not touched reads none that its text does not hold.
    """

    def __init__(self, tree: ast.Module, context: Context) -> None:
        self._context = context
        self._body = [s for s in tree.body if not is_export(s)]
        self._known: dict[int, set[str]] = {}
        self._edited = {id(s) for s in self._body if context.is_edited(s)}

    def __contains__(self, name: str) -> bool:
        lines = self._context.source.holding((name,))
        return any(
            name in self._of(node)
            for node in self._body
            if id(node) in self._edited or id(node) in self._known or meets(lines, node)
        )

    def _of(self, node: ast.stmt) -> set[str]:
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = reads_in(node)
        return found

    def keep(self, body: list[ast.stmt]) -> None:
        """Only these statements are left, blocks with what is left in them."""
        for node in body:
            if isinstance(node, ast.If | ast.Try):
                self._known[id(node)] = reads_in(node)
        left = {id(s) for s in body}
        self._body = [s for s in self._body if id(s) in left]


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a statement of the module level."""

    branch: bool = False
    """True in a branch, which is never emptied."""
    typing: bool = False
    """True for what only a type checker runs."""
    handlers: tuple[ast.ExceptHandler, ...] = ()
    """What waits for an error of it."""


def _without(
    body: list[ast.stmt], is_dead: Callable[[ast.stmt, _Around, bool], bool], around: _Around = _Around()
) -> list[ast.stmt]:
    """What is left of a block of the module level; `is_dead` is told of the last statement that is left of a branch."""
    kept: list[ast.stmt] = []
    for index, node in enumerate(body):
        last = around.branch and index == len(body) - 1 and not kept
        if isinstance(node, ast.If):
            inner = replace(around, branch=True)
            typed = replace(inner, typing=around.typing or is_type_checking(node.test))
            node.body, node.orelse = _without(node.body, is_dead, typed), _without(node.orelse, is_dead, inner)
        elif isinstance(node, ast.Try):
            inner = replace(around, branch=True, handlers=(*around.handlers, *node.handlers))
            node.body = _without(node.body, is_dead, inner)
        elif is_dead(node, around, last):
            continue
        kept.append(node)
    return kept


def keep_import(
    node: ast.Import | ast.ImportFrom,
    context: Context,
    is_used: Callable[[str], bool],
    *,
    runs: bool = True,
    loaded: frozenset[str] | None = None,
    last: bool = False,
) -> bool:
    """Drop the names of an import whose every use was folded away; False when the whole statement goes.

    Args:
        node: the import.
        is_used: whether a name bound by the import is used, wherever it can be.
        runs: False for what only a type checker runs.
        loaded: inside a function, what the module level loads before.
        last: True for the only statement that is left of a block.
    """
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    source = absolute(node.module, node.level, context.package) if isinstance(node, ast.ImportFrom) else ""
    gone: list[tuple[ast.alias, frozenset[str], bool]] = []
    for alias, modules in zip(node.names, loads(node, context.package), strict=True):
        name = bound_name(node, alias)
        if name not in context.touched or is_used(name):
            continue
        rules = _decided_by(source, alias.name, context) if source else frozenset()
        # What is read as `module.name` elsewhere stays, unless every such read is folded too.
        lost = loaded is not None or name not in context.environment.read
        # The import is gone with what importing does, unless that is done anyway.
        parts = {m.module for m in modules if m.perhaps and m.module in context.environment.modules}
        # Of a module of the tree it is certain that any other name is no module.
        outside = {m.module for m in modules if m.module.partition(".")[0] not in context.environment.packages}
        asked = {m.module for m in modules if not m.perhaps} | parts | outside
        idle = not runs or asked <= (loaded or frozenset())
        may_go = idle or (isinstance(node, ast.ImportFrom) and parts <= (loaded or frozenset()))
        if may_go and (rules or lost):
            gone.append((alias, rules, idle))
    if len(gone) == len(node.names):
        # A module that is imported for its predicates only needs no proof.
        stays = [alias for alias, rules, idle in gone if not (rules or idle)]
        if not stays and source in context.needed:
            stays = [alias for alias, _, _ in gone[:1]]
        gone = [(alias, rules or frozenset({"unused"}), idle) for alias, rules, idle in gone if alias not in stays]
        if last and len(gone) == len(node.names):
            gone.pop()
    if not gone:
        return True
    context.forget(*(alias for alias, _, _ in gone))
    if len(gone) == len(node.names):
        if runs and source in context.environment.modules and not all(idle for _, _, idle in gone):
            context.unproven_imports.add(source)
        whole = span(node)
        # Some of its names may have gone before.
        context.edits = [e for e in context.edits if not (isinstance(e, DropElement) and whole < e.span < whole.after)]
        context.sweep(node, "import", frozenset().union(*(r for _, r, _ in gone)))
        return False
    context.drop_aliases(node, [(alias, rules or {"unused"}) for alias, rules, _ in gone])
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


def _is_dead_flag(node: ast.stmt, context: Context, is_used: Callable[[str], bool]) -> bool:
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return False
    name = node.targets[0].id
    if is_used(name) or name in context.environment.shown:
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
            node.value, ModuleScope(context.environment, context.module, context.decided)
        ):
            return False
        context.forget(node.value)
    context.sweep(node, "flag", value.rules)
    return True
