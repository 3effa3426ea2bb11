"""Decide a test of upstream again, by the rules, the names that it writes, and what functions always give: nothing else is propagated.

Flags reach other modules through functions. Only those without parameters whose bodies ask and return, and nothing else, are read; each in
its own module.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from shrinker.cache import Cache
from shrinker.check.rule_index import RuleIndex
from shrinker.check.tokens import Tokens, split
from shrinker.check.workers import map_cached
from shrinker.syntax.imports import bound_name
from shrinker.syntax.names import dotted, last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.scopes import arguments_of
from shrinker.syntax.walk import statements
from shrinker.values.upstream import module_name

_SWITCHES = frozenset({"get_bool_env_var", "getenv", "get_env"})
_BINDING = frozenset({"def", "async", "class", "for", "global", "nonlocal"})
_ASSIGNING = frozenset({"=", ":", ",", "+=", "|=", "&="})
_DEPTH = 8
Arm = tuple[ast.If, list[ast.stmt]]
"""A test, and its statements that never run."""
_FUNCTION = re.compile(r"^def \w+\(\)[^\n]*:\n((?:[ \t][^\n]*\n|\n){1,12})(?=\S|\Z)", re.MULTILINE)
"""A body of more than a dozen lines does more than to ask and return."""
_ASKS = re.compile(r"\b(?:if|and|or|not)\b")
_REMEMBERS = frozenset({"lru_cache", "cache"})


class ConditionEvaluator:
    """Decides tests of one module of upstream."""

    def __init__(self, tree: ast.Module, lines: Iterable[Tokens], module: str, index: RuleIndex) -> None:
        self._module = module
        self._index = index
        self._imported: dict[str, str] = {}
        self._ambiguous: set[str] = set()
        # How often the text seems to bind a name otherwise than by an import: rather too often than too seldom.
        self._bound: Counter[str] = Counter()
        for tokens in lines:
            if tokens[0] in _BINDING:
                self._bound.update(tokens)
            elif len(tokens) > 1 and tokens[1] in _ASSIGNING:
                self._bound[tokens[0]] += 1
        self._depth = 0
        self._flags = {
            node.targets[0].id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        }
        self.tests: list[ast.If] = []
        for node in sorted(statements(tree), key=lambda node: (node.lineno, node.col_offset)):
            if isinstance(node, ast.If):
                self.tests.append(node)
            elif isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module and not node.level):
                for alias in node.names:
                    name = bound_name(node, alias)
                    whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
                    what = whole if alias.asname or isinstance(node, ast.ImportFrom) else name
                    if self._imported.setdefault(name, what) != what:
                        self._ambiguous.add(name)

    def binds_once(self, name: str) -> bool:
        """True when the module binds a name once and imports it nowhere."""
        return self._bound[name] == 1 and name not in self._imported

    def truth(self, node: ast.expr) -> bool | None:
        """Whether a test holds; None when the rules do not say so by themselves."""
        match node:
            case ast.Constant(value=bool() as value):
                return value
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found = self.truth(operand)
                return None if found is None else not found
            case ast.BoolOp(op=op, values=values):
                decisive = isinstance(op, ast.Or)
                each = [self.truth(value) for value in values]
                return decisive if decisive in each else (None if None in each else not decisive)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(left, op, right)
        return None

    def _name(self, node: ast.Name) -> bool | None:
        said = self._index.name(f"{self._module}.{node.id}")
        if said is not None or node.id not in self._flags or self._depth > _DEPTH:
            return said
        if node.id in self._imported or self._bound[node.id] != 1:
            return None
        self._depth += 1
        try:
            return self.truth(self._flags[node.id])
        finally:
            self._depth -= 1

    def _attribute(self, node: ast.Attribute) -> bool | None:
        written = dotted(node)
        if not written:
            return None
        if written.partition(".")[0] in self._imported:
            return self._index.name(self._full(written))
        said = self._index.name(f"{self._module}.{written}")
        return self._index.attribute(node.attr) if said is None else said

    def _call(self, node: ast.Call) -> bool | None:
        written, function = dotted(node.func), node.func
        match function:
            case ast.Attribute(attr="get", value=ast.Attribute(attr=variable)):
                if (said := self._index.environment(variable)) is not None:
                    return said
        root, last = written.partition(".")[0], written.rpartition(".")[2]
        if last in _SWITCHES and node.args and isinstance(node.args[0], ast.Constant):
            return self._index.environment(str(node.args[0].value))
        if written == "bool" and len(node.args) == 1:
            return self.truth(node.args[0])
        if root in self._imported:
            return None if root in self._ambiguous or self._bound[root] else self._index.call(self._full(written))
        if isinstance(function, ast.Attribute):
            return self._index.method(function.attr)
        return self._index.call(f"{self._module}.{written}") if written and self._bound[root] == 1 else None

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        written = dotted(left)
        match op, right:
            case ast.Eq() | ast.NotEq(), ast.Constant():
                items: list[ast.expr] = [right]
            case ast.In() | ast.NotIn(), ast.List() | ast.Tuple() | ast.Set():
                items = right.elts
            case _:
                return None
        texts = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        if not written or len(texts) < len(items):
            return None
        never = all(self._index.never(f"{self._module}.{written}", text) for text in texts)
        return isinstance(op, ast.NotEq | ast.NotIn) if never else None

    def _full(self, written: str) -> str:
        root, dot, rest = written.partition(".")
        return f"{self._imported[root]}{dot}{rest}"

    def refuted(self) -> Iterator[Arm]:
        """Every `if` that can be decided, and its statements that never run."""
        for node in self.tests:
            truth = self.truth(node.test)
            if truth is not None and (dead := node.orelse if truth else node.body):
                yield node, dead


def constant_functions(
    root: Path, hashes: Mapping[str, str], index: RuleIndex, *, jobs: int, cache: Cache
) -> dict[str, bool]:
    """Truth of what functions give, by their full names."""
    layer = cache.layer("constant functions", repr(index))
    read = map_cached(partial(_of_file, root, index), layer, hashes, root, jobs=jobs)
    return {name: given for one in read.values() for name, given in one.items()}


def _of_file(root: Path, index: RuleIndex, path: str) -> dict[str, bool]:
    """The same of one file; nothing of one that cannot be read."""
    source, module = (root / path).read_bytes(), module_name(path)
    try:
        text = source.decode("utf-8-sig")
        asks = module is not None and any(_ASKS.search(match[1]) for match in _FUNCTION.finditer(text))
        tree = (parsed(source, path) if asks else None) or ast.Module([], [])
        evaluator = ConditionEvaluator(tree, split(text) if asks else [], module or "", index)
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, bool] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and evaluator.binds_once(node.name) and _is_plain(node):
            given = _given(node.body, evaluator)
            if given is not None:
                found[f"{module}.{node.name}"] = given
    return found


def _is_plain(node: ast.FunctionDef) -> bool:
    decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return not arguments_of(node.args) and all(last_name(d) in _REMEMBERS for d in decorators)


def _given(body: Sequence[ast.stmt], evaluator: ConditionEvaluator) -> bool | None:
    """Truth of what these statements return; None when it is not known, or they may end without a `return`."""
    match body:
        case [ast.Expr(value=ast.Constant()), *rest]:
            return _given(rest, evaluator)
        case [ast.Return(value=ast.expr() as value), *_]:
            return evaluator.truth(value)
        case [ast.If() as node, *rest] if (truth := evaluator.truth(node.test)) is not None:
            return _given([*(node.body if truth else node.orelse), *rest], evaluator)
    return None
