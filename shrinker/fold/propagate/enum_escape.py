"""What one folded module does with members of enumerations: asks for them, or hands them out.

Comparing with a member, matching it and looking it up in a table say nothing of whether a value is ever that member.
Everything else may hand it out, and a class that is used as a value (called, indexed, iterated, passed on) may hand out
any of its members.
"""

from __future__ import annotations

import ast
import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from shrinker.fold.context import Context
from shrinker.fold.reading import Reading
from shrinker.syntax.control import is_counted, runs_something
from shrinker.syntax.imports import absolute
from shrinker.syntax.ranges import first_line
from shrinker.syntax.side_effects import hands_back
from shrinker.syntax.walk import BLOCKS, Function, statements, walk

_PLAIN = frozenset({"Enum", "enum.Enum"})
_NUMBERS = frozenset({"IntEnum", "enum.IntEnum"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EQUAL = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
_HOLDS = (ast.In, ast.NotIn)
_POSITIONS = frozenset([ast.Compare, ast.Match, *_FUNCTIONS, ast.Call, ast.Attribute, ast.Assign])
"""Nodes that `_positions` has a case for; most have none."""
_USES = frozenset(
    [ast.Attribute, ast.Name, ast.Constant, ast.arg, *_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom]
)
"""The same for `_use`."""
_GIVES = frozenset([ast.Assign, ast.AnnAssign, ast.AugAssign])


def member_uses(reading: Reading, context: Context) -> set[str]:
    """Uses of the tree's enumerations in a folded module.

    Only statements whose text holds the name of one or of a member are walked: the others use none.

    Args:
        reading: the folded module.
        context: of the module.

    Returns:
        ``Class.MEMBER``, the class by its last name, that it may hand out, ``Class?MEMBER`` that it names in any way,
        and ``Class!`` for a class of which it may hand out any member; ``Class%`` for one that it defines and whose
        members are numbers, ``Class=name`` for what it compares with members, and ``#name`` for what it gives another
        number.
    """
    environment = context.environment
    told = (word for word in context.words if word != word.lower() or word in environment.uncapped)
    asked = environment.enumerated(" ".join(sorted(told)))
    lines = context.lines_holding({*asked, *(member for members in asked.values() for member in members)})
    return _Uses(reading, context, asked, lines).found if lines else set()


class _Uses:
    def __init__(
        self, reading: Reading, context: Context, asked: Mapping[str, frozenset[str]], lines: list[int]
    ) -> None:
        tree = reading.tree
        self.found: set[str] = set()
        self._context = context
        self._owners: dict[str, set[str]] = {}
        for owner, members in asked.items():
            for member in members:
                self._owners.setdefault(member, set()).add(owner)
        self._classes = frozenset(asked)
        self._lines = lines
        nodes = list(self._near(tree.body))
        all_ = list(statements(tree))
        self._others = _named_classes(all_) - self._classes
        self._asked: set[int] = set()
        self._free: set[int] = set()
        self._variables(tree.body)
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef) and statement.name in self._classes:
                self._definition(statement)
        for node in nodes:
            if node.__class__ in _POSITIONS:
                self._positions(node)
        if any(node.__class__ is ast.Dict and self._has_member_key(node) for node in nodes):
            self._tables(tree)
        for node in nodes:
            if node.__class__ in _USES:
                self._use(node, tree)
        self._equal_numbers(all_)
        for call in chain(reading.plain.calls, reading.typing.calls):
            self.found.update(f"#{k.arg}" for k in call.keywords if k.arg is not None and _is_number(k.value))

    def _near(self, body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
        """What stands in the statements that hold one of the words, of a class only the members that do."""
        for node in body:
            if not self._holds(node):
                continue
            if isinstance(node, ast.ClassDef) and node.name not in self._classes:
                yield node
                for part in (*node.decorator_list, *node.bases, *node.keywords):
                    yield from walk(part)
                yield from self._near(node.body)
            else:
                yield from walk(node)

    def _holds(self, node: ast.stmt) -> bool:
        index = bisect.bisect_left(self._lines, first_line(node))
        return index < len(self._lines) and self._lines[index] <= (node.end_lineno or node.lineno)

    def _has_member_key(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Dict) and any(
            isinstance(key, ast.Attribute) and key.attr in self._owners for key in node.keys
        )

    # Positions in which a member or its class is only asked for

    def _positions(self, node: ast.AST) -> None:
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                if isinstance(operator, _EQUAL):
                    for own, other in ((left, right), (right, left)):
                        self._ask(own, other)
                elif isinstance(operator, _HOLDS):
                    self._ask(left, None)
                    for item in right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else ():
                        self._ask(item, left)
            case ast.Match(subject=subject, cases=cases):
                for case in cases:
                    for part in walk(case.pattern):
                        if isinstance(part, ast.MatchValue):
                            self._ask(part.value, subject)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if all(map(hands_back, node.decorator_list)):
                for annotation in (node.returns, *(a.annotation for a in walk(node.args) if isinstance(a, ast.arg))):
                    self._annotation(annotation)
                self._variables(node.body)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes], keywords=[]):
                self._annotation(classes)
            case ast.Attribute(value=base) if node.attr.isupper() and not node.attr.startswith("_"):
                self._free.add(id(base))
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                self._annotation(value)

    def _variables(self, body: Iterable[ast.AST]) -> None:
        """Annotations of variables, but for the fields of classes, which something may make values by."""
        for node in body:
            if isinstance(node, ast.AnnAssign):
                self._annotation(node.annotation)
            elif not isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
                for block in BLOCKS:
                    self._variables(getattr(node, block, ()))

    def _annotation(self, node: ast.expr | None) -> None:
        if node is not None:
            self._free.update(map(id, walk(node)))

    def _ask(self, node: ast.expr, other: ast.expr | None) -> None:
        """A member stands where it is compared with `other`."""
        if not isinstance(node, ast.Attribute) or node.attr not in self._owners:
            return
        match other:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if name == "value":
                    return
                self.found.update(f"{owner}={name}" for owner in self._owners[node.attr])
            case ast.Call() | ast.Subscript() | ast.Await() if not _is_number(other):
                pass
            case None:
                pass
            case _:
                return
        self._asked.add(id(node))

    def _tables(self, tree: ast.Module) -> None:
        """Keys of dictionaries that are only asked for a key."""
        for body, outer in _scopes(tree):
            if not any(map(self._holds, body)):
                continue
            for table in _only_asked(body, self._is_shared if outer else lambda name: False):
                for key, value in zip(table.keys, table.values, strict=True):
                    if isinstance(key, ast.Attribute) and not runs_something(value):
                        self._asked.add(id(key))

    def _is_shared(self, name: str) -> bool:
        """True when another module may read a name of the module level."""
        context, environment = self._context, self._context.environment
        return (
            (context.module, name) in environment.imported
            or context.module in environment.starred
            or name in environment.read
        )

    # The other uses

    def _use(self, node: ast.AST, tree: ast.Module) -> None:
        match node:
            case ast.Attribute() if node.attr in self._classes and id(node) not in self._free:
                self.found.add(f"{node.attr}!")
            case ast.Attribute(attr=name) if name in self._owners:
                self._member(node, name)
            case ast.Name(id=name) if name in self._classes:
                if id(node) not in self._free or not isinstance(node.ctx, ast.Load):
                    self.found.add(f"{name}!")
            case ast.Constant(value=str() as text) if text in self._classes and id(node) not in self._free:
                self.found.add(f"{text}!")
            case ast.arg(arg=name) if name in self._classes:
                self.found.add(f"{name}!")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in self._classes:
                self.found.add(f"{name}!")
            case ast.ClassDef(name=name) if name in self._classes and node not in tree.body:
                self.found.add(f"{name}!")
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                source = ""
                if isinstance(node, ast.ImportFrom):
                    source = absolute(node.module, node.level, self._context.package)
                own = source.partition(".")[0] == self._context.module.partition(".")[0]
                for alias in names:
                    for name in self._classes & {alias.name.rpartition(".")[2], alias.asname or ""}:
                        if not own or alias.asname not in (None, alias.name):
                            self.found.add(f"{name}!")

    def _member(self, node: ast.Attribute, name: str) -> None:
        base = node.value
        written = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
        if written in self._others:
            return
        for owner in self._owners[name]:
            if written == owner:
                self.found.add(f"{owner}?{name}")
            if written not in self._classes or (
                written == owner and (id(node) not in self._asked or not isinstance(node.ctx, ast.Load))
            ):
                self.found.update((f"{owner}?{name}", f"{owner}.{name}"))

    # The class itself

    def _definition(self, node: ast.ClassDef) -> None:
        """Any member may come out of a class that does more than list members that differ."""
        if not _is_plain(node, node.name):
            self.found.add(f"{node.name}!")
        if any(ast.unparse(base) in _NUMBERS for base in node.bases):
            self.found.add(f"{node.name}%")
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id in self._owners:
                self.found.update((f"{node.name}.{part.id}", f"{node.name}?{part.id}"))

    def _equal_numbers(self, nodes: Iterable[ast.AST]) -> None:
        """A number that is given to what is compared with members may equal one of them."""
        for node in nodes:
            if node.__class__ not in _GIVES:
                continue
            match node:
                case ast.Assign(targets=targets, value=value) if _is_number(value):
                    given = targets
                case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_number(value):
                    given = [target]
                case ast.AugAssign(target=target):
                    given = [target]
                case _:
                    continue
            self.found.update(
                f"#{t.id if isinstance(t, ast.Name) else t.attr}"
                for t in given
                if isinstance(t, ast.Name | ast.Attribute)
            )


def _is_plain(node: ast.ClassDef, name: str) -> bool:
    """True for an enumeration whose members differ, and that makes and looks up none by itself."""
    if (
        len(node.bases) != 1
        or node.keywords
        or any(ast.unparse(d) not in ("unique", "enum.unique") for d in node.decorator_list)
    ):
        return False
    if ast.unparse(node.bases[0]) not in _PLAIN | _NUMBERS:
        return False
    values: list[object] = []
    counted: list[bool] = []
    for statement in node.body:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=int() | str() as value)):
                values.append(value)
                counted.append(False)
            case ast.Assign(targets=[ast.Name()], value=value) if is_counted(value):
                counted.append(True)
            case ast.FunctionDef() if not statement.name.startswith("_"):
                if not _asks_only(statement):
                    return False
            case _:
                return False
    return len(set(values)) == len(values) and (all(counted) or not any(counted))


def _asks_only(method: ast.FunctionDef) -> bool:
    """True for a method that does not make or look up members by way of its own class."""
    own = {a.arg for a in (*method.args.posonlyargs, *method.args.args)[:1]}
    is_class = any(ast.unparse(d) == "classmethod" for d in method.decorator_list)
    bases = {id(n.value) for n in walk(method) if isinstance(n, ast.Attribute) and n.attr.isupper()}
    for part in walk(method):
        if isinstance(part, ast.Name):
            if part.id in ("type", "super", "__class__") or (is_class and part.id in own and id(part) not in bases):
                return False
        elif isinstance(part, ast.Attribute) and part.attr.startswith("__"):
            return False
    return True


def _is_number(node: ast.expr) -> bool:
    """True for what may be a number that nobody took from the enumeration."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp() | ast.UnaryOp():
            return True
        case ast.Call(func=ast.Name(id="int" | "len" | "max" | "min" | "sum" | "round" | "ord")):
            return True
        case ast.Call(func=ast.Attribute(attr="item" | "index" | "count")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _is_number(body) or _is_number(orelse)
    return False


def _named_classes(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Capitalised names that the module imports or defines as a class: never the enumeration under another name."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found.update(a.name for a in node.names if a.asname in (None, a.name))
    return frozenset(name for name in found if name[:1].isupper() and not name.isupper())


def _scopes(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The bodies of the module, which is the outer one, and of its functions."""
    yield tree.body, True
    for node in statements(tree):
        if isinstance(node, Function):
            yield node.body, False


def _only_asked(body: list[ast.stmt], is_shared: Callable[[str], bool]) -> list[ast.Dict]:
    """Dictionary displays below a body that nothing reads but by a key."""
    found: list[ast.Dict] = []
    bound: dict[str, list[ast.expr | None]] = {}
    loads: Counter[str] = Counter()
    lookups: Counter[str] = Counter()
    fields: set[int] = set()
    for statement in body:
        for node in walk(statement):
            match node:
                case ast.ClassDef(body=own):
                    fields.update(map(id, own))
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    bound.setdefault(name, []).append(None if id(node) in fields else value)
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    bound.setdefault(name, []).append(None if id(node) in fields else value)
                case ast.Name(id=name):
                    loads[name] += 1
                case ast.arg(arg=name):
                    bound.setdefault(name, []).append(None)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    for name in names:
                        bound.setdefault(name, []).append(None)
            table = _looked_up(node)
            if isinstance(table, ast.Dict):
                found.append(table)
            elif isinstance(table, ast.Name):
                lookups[table.id] += 1
    for name, (value, *others) in bound.items():
        # Its definition is the one mention that is no lookup.
        if isinstance(value, ast.Dict) and not others and loads[name] == lookups[name] + 1 and not is_shared(name):
            found.append(value)
    return found


def _looked_up(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Subscript(value=table, ctx=ast.Load()):
            return table
        case ast.Call(func=ast.Attribute(value=table, attr="get")):
            return table
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[table]):
            return table
    return None
