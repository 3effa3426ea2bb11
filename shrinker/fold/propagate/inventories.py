"""Registries that are only asked for names (`[[inventory]]`): rows that no kept code asks for.

A row is filed by a statement of the module level, or by a loop of such statements over spelled out rows. What kept code asks for
is collected from all of it: a name in words is one ask, anything else (the function handed on, a computed name) may ask for any.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from shrinker.facts.walk import walk
from shrinker.fold.accesses import imported_names
from shrinker.fold.context import Context, extent, span
from shrinker.fold.definitions import dotted
from shrinker.fold.propagate.world import World
from shrinker.fold.reading import Reading
from shrinker.fold.unroll import OF_TEXTS, Bound, Display, Loop, Spelled, bind, combinations, tables_of, text_of
from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models import Inventory
from shrinker.values.edits import DropElement, DropStatement
from shrinker.values.folded import DynamicSite
from shrinker.values.usage import words_in

ANY = "*"
"""Stands for any key."""
_OF_CACHES = frozenset({"cache_clear", "cache_info", "cache_parameters"})
_MADE = frozenset({"frozenset", "set", "tuple", "list", "dict"})
_DESCRIBING = (
    ast.Constant | ast.Name | ast.Attribute | ast.JoinedStr | ast.FormattedValue | ast.BinOp | ast.operator | ast.IfExp
) | (ast.Compare | ast.cmpop | ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Call | ast.keyword | ast.expr_context)


@dataclass(slots=True)
class InventoryUses:
    """What a module has to do with inventories."""

    asks: set[str] = field(default_factory=set)
    """``inventory=key`` of what it asks for, `ANY` for what cannot be told."""
    filed: set[str] = field(default_factory=set)
    """``inventory=key`` of the rows that it files and that could go."""
    computed: list[DynamicSite] = field(default_factory=list)
    """Where it asks for what cannot be told."""


class _Names:
    """What the names of a module are, as far as its imports say so."""

    def __init__(self, reading: Reading, module: str, package: str) -> None:
        self._targets, self._stars = imported_names(reading, package)
        self._module = module

    def is_one(self, node: ast.expr, patterns: tuple[str, ...]) -> bool:
        """True for an expression that may be one of these functions."""
        name = dotted(node)
        root, _, rest = name.partition(".")
        last = node.attr if isinstance(node, ast.Attribute) else name
        if root in self._targets:
            found = {".".join(filter(None, (target, rest))) for target in self._targets[root]}
            return any(any_name_matches(patterns, each) for each in found)
        if not any(pattern.rpartition(".")[2] == last for pattern in patterns):
            return False
        if isinstance(node, ast.Attribute):
            # Of an object of which nothing is known: a function of the same name, but for a private one.
            return not last.startswith("_")
        return bool(self._stars) or any_name_matches(patterns, f"{self._module}.{name}")


def inventory_uses(reading: Reading, context: Context) -> InventoryUses:
    """What a folded module asks for and files.

    Args:
        reading: the folded module.
        context: of its folding.
    """
    found = InventoryUses()
    rules = [r for r in context.environment.rules.inventories if not context.words.isdisjoint(_last_names(r))]
    if not rules:
        return found
    names = _Names(reading, context.module, context.package)
    spelled = Spelled(reading, context.module, context.package)
    tables = tables_of(reading.tree)
    for rule in rules:
        for line, text, keys in _asked(reading, rule, names, spelled, context.module):
            found.asks.update(f"{rule.id}={key}" for key in keys)
            if ANY in keys:
                found.computed.append(DynamicSite(line, "inventory", text[:120], None))
        for filing in _filings(reading.tree, rule, names):
            for bound in combinations(filing.loops, tables):
                found.filed.update(
                    f"{rule.id}={key}" for key in filing.keys(bound, context) if key is not None and _is_word(key)
                )
    return found


def _last_names(rule: Inventory) -> set[str]:
    return {pattern.rpartition(".")[2] for pattern in (*rule.registers, *rule.asked_by)}


def _is_word(key: str) -> bool:
    return bool(key) and key != ANY and not any(c.isspace() for c in key)


# What is asked for


def _asked(
    reading: Reading, rule: Inventory, names: _Names, spelled: Spelled, module: str
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Line, text and keys of each place that asks, or that hands on who asks."""
    lasts = {pattern.rpartition(".")[2] for pattern in rule.asked_by}
    forwarded = set(_forwarded(reading, rule, module))
    called = {
        # `get.cache_clear()` asks for nothing.
        id(a.value)
        for expressions in (reading.plain, reading.typing)
        for a in expressions.attributes
        if a.attr in _OF_CACHES
    }
    for expressions in (reading.plain, reading.typing):
        for call in expressions.calls:
            if names.is_one(call.func, rule.asked_by):
                called.add(id(call.func))
                if id(call) not in forwarded:
                    yield call.lineno, ast.unparse(call), _keys(call, spelled)
    for expressions in (reading.plain, reading.typing):
        read: list[ast.Name | ast.Attribute] = [*expressions.names, *expressions.attributes]
        for node in read:
            if id(node) not in called and isinstance(node.ctx, ast.Load) and names.is_one(node, rule.asked_by):
                yield node.lineno, ast.unparse(node), (ANY,)
        for text in expressions.texts:
            if str(text.value).replace(":", ".").rpartition(".")[2] in lasts:
                yield text.lineno, repr(text.value), (ANY,)
    for statement, _, _ in reading.imports:
        for alias in statement.names:
            if alias.name.rpartition(".")[2] in lasts and alias.asname not in (None, alias.name):
                # Who imports it from here writes another name.
                yield statement.lineno, ast.unparse(statement), (ANY,)


def _keys(call: ast.Call, spelled: Spelled) -> tuple[str, ...]:
    if not call.args:
        return (ANY,)
    key = call.args[0]
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        texts: tuple[str, ...] | None = (key.value,)
    else:
        texts = spelled.texts(key)
    return (ANY,) if texts is None or not all(map(_is_word, texts)) else texts


def _forwarded(reading: Reading, rule: Inventory, module: str) -> Iterator[int]:
    """Calls of a function that asks, within another one, for what this was asked for: whoever calls that one asks."""
    for node, _ in reading.definitions:
        if isinstance(node, ast.ClassDef) or not any_name_matches(rule.asked_by, f"{module}.{node.name}"):
            continue
        taken = [*node.args.posonlyargs, *node.args.args]
        if not taken or any(
            isinstance(n, ast.Name) and n.id == taken[0].arg and isinstance(n.ctx, ast.Store) for n in walk(node)
        ):
            continue
        for part in walk(node):
            match part:
                case ast.Call(args=[ast.Name(id=name), *_]) if name == taken[0].arg:
                    yield id(part)


# What is filed


@dataclass(frozen=True, slots=True)
class _Filing:
    """A statement of the module level that files rows and does nothing else."""

    statement: ast.Expr | ast.For
    loops: tuple[Loop, ...]
    rows: tuple[ast.expr, ...]
    """The expressions that are the keys, of each call in it."""

    def keys(self, bound: Bound, context: Context) -> list[str | None]:
        """The keys of one row of the loops; None for one that is not known."""
        return [text_of(row, bound, context.module, context.package) for row in self.rows]


def _filings(tree: ast.Module, rule: Inventory, names: _Names) -> Iterator[_Filing]:
    for node in tree.body:
        loops: list[Loop] = []
        body: list[ast.stmt] = [node]
        while len(body) == 1 and isinstance(body[0], ast.For) and not body[0].orelse:
            loops.append((body[0].target, body[0].iter))
            body = body[0].body
        rows = [_row(statement, rule, names) for statement in body]
        if isinstance(node, ast.Expr | ast.For) and rows and all(row is not None for row in rows):
            yield _Filing(node, tuple(loops), tuple(row for row in rows if row is not None))


def _row(node: ast.stmt, rule: Inventory, names: _Names) -> ast.expr | None:
    """The key under which a statement files a row; None for a statement that does anything else."""
    match node:
        case ast.Expr(value=ast.Call(func=function, args=[ast.Call(keywords=keywords) as row], keywords=[])):
            if names.is_one(function, rule.registers) and _describes(row):
                return next((k.value for k in keywords if k.arg == rule.key), None)
    return None


def _describes(row: ast.Call) -> bool:
    """True for a row that is made of names, texts and classes (`Requirement.of(…)`): no function runs that may do more."""
    for node in walk(row):
        if not isinstance(node, _DESCRIBING):
            return False
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            if isinstance(node.func, ast.Attribute) and node.func.attr in OF_TEXTS:
                continue
            if name not in _MADE and not name.lstrip("_")[:1].isupper():
                return False
    return True


def find_unasked(world: World) -> dict[str, frozenset[str]]:
    """Rows that no kept code asks for, by path of the module that files them: ``inventory=key``."""
    rules = world.environment.rules.inventories
    if not rules:
        return {}
    asked = {each for module in world.modules for each in words_in(module.usage.asks)}
    closed = {
        rule.id
        for rule in rules
        if f"{rule.id}={ANY}" not in asked and not any(_named_outside(world, pattern) for pattern in rule.asked_by)
    }
    found: dict[str, frozenset[str]] = {}
    for module in world.modules:
        unasked = {f for f in words_in(module.usage.filed) - asked if f.partition("=")[0] in closed}
        if unasked:
            found[module.path] = frozenset(unasked)
    return found


def _named_outside(world: World, pattern: str) -> bool:
    """True when a file that is no module may ask by this function; a private one is asked by its module alone."""
    name = pattern.rpartition(".")[2]
    return not name.startswith("_") and world.is_imported_outside(pattern, name)


# What goes


def drop_unasked(tree: ast.Module, context: Context, unasked: Collection[str]) -> None:
    """Delete the rows under these keys from a module, before it is folded.

    Args:
        tree: the module, which is changed.
        context: takes the edits and decisions.
        unasked: ``inventory=key``.
    """
    if not unasked:
        return
    names = _Names(Reading(tree), context.module, context.package)
    for rule in context.environment.rules.inventories:
        tables = tables_of(tree)
        for filing in list(_filings(tree, rule, names)):
            _drop(tree, context, rule, filing, tables, unasked)


def _drop(
    tree: ast.Module,
    context: Context,
    rule: Inventory,
    filing: _Filing,
    tables: dict[str, Display],
    unasked: Collection[str],
) -> None:
    def goes(start: Bound, loops: tuple[Loop, ...]) -> bool:
        return all(
            f"{rule.id}={key}" in unasked
            for bound in combinations(loops, tables, start)
            for key in filing.keys(bound, context)
        )

    statement = filing.statement
    if goes({}, filing.loops):
        _drop_statement(tree, context, rule, statement)
        return
    if not isinstance(statement, ast.For):
        return
    iterated = statement.iter
    display = tables.get(iterated.id) if isinstance(iterated, ast.Name) else iterated
    if not isinstance(display, Display) or (isinstance(iterated, ast.Name) and _reads(tree, iterated.id) > 1):
        return
    gone: list[ast.expr] = []
    for row in display.elts:
        bound: Bound = {}
        bind(statement.target, row, bound)
        if not isinstance(row, ast.Starred) and goes(bound, filing.loops[1:]):
            gone.append(row)
    for row in gone:
        context.forget(row)
        context.edits.append(DropElement(span(row), type(display).__name__))
        context.decide(row, "inventory", {rule.id}, "removed", 0)
    display.elts = [row for row in display.elts if row not in gone]


def _drop_statement(tree: ast.Module, context: Context, rule: Inventory, statement: ast.Expr | ast.For) -> None:
    """With a loop goes the `del` of its names behind it."""
    at = tree.body.index(statement)
    gone: list[ast.stmt] = [statement]
    if isinstance(statement, ast.For):
        bound = {n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        after = tree.body[at + 1] if at + 1 < len(tree.body) else None
        if isinstance(after, ast.Delete) and all(isinstance(t, ast.Name) and t.id in bound for t in after.targets):
            gone.append(after)
            bound -= {t.id for t in after.targets if isinstance(t, ast.Name)}
        if bound & _read_elsewhere(tree, gone):
            return
    for node in gone:
        context.forget(node)
        context.edits.append(DropStatement(span(node)))
        context.decide(node, "inventory", {rule.id}, "removed", extent([node]))
    tree.body = [node for node in tree.body if not any(node is g for g in gone)]


def _read_elsewhere(tree: ast.Module, gone: list[ast.stmt]) -> set[str]:
    """Names that the rest of the module reads or deletes, but for what a loop there binds itself."""
    found: set[str] = set()
    for node in tree.body:
        if any(node is g for g in gone):
            continue
        used = {n.id for n in walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
        own = {n.id for n in walk(node.target) if isinstance(n, ast.Name)} if isinstance(node, ast.For) else set()
        found |= used - own
    return found


def _reads(tree: ast.Module, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(tree))
