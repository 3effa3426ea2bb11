"""What functions of upstream give always, by the rules: flags reach other modules through them.

Only functions without parameters whose bodies ask and return, and nothing else; each is read in its own module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from shrinker.cache import Cache, pack
from shrinker.check.condition_evaluator import ConditionEvaluator
from shrinker.check.rule_index import RuleIndex
from shrinker.check.tokens import split
from shrinker.check.workers import map_cached
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.scopes import arguments_of
from shrinker.values.upstream import module_name

_LINES = 12
"""A longer body does more than to ask and return."""
_FUNCTION = re.compile(rf"^def \w+\(\)[^\n]*:\n((?:[ \t][^\n]*\n|\n){{1,{_LINES}}})(?=\S|\Z)", re.MULTILINE)
_ASKS = re.compile(r"\b(?:if|and|or|not)\b")
_REMEMBERS = frozenset({"lru_cache", "cache"})


def constant_functions(
    root: Path, hashes: Mapping[str, str], index: RuleIndex, *, jobs: int, cache: Cache
) -> dict[str, bool]:
    """Truth of what functions give, by their full names."""
    layer = cache.layer("constant functions", repr(index))
    keys = {path: layer.key(path, sha256) for path, sha256 in hashes.items()}
    found: dict[str, bool] = {}
    call = partial(_of_file, root, index)
    for one in map_cached(call, layer, keys, lambda path: (root / path).stat().st_size, jobs=jobs).values():
        found |= one
    return found


def _of_file(root: Path, index: RuleIndex, path: str) -> bytes:
    return pack(constant_functions_of((root / path).read_bytes(), path, index))


def constant_functions_of(source: bytes, path: str, index: RuleIndex) -> dict[str, bool]:
    """The same of one file; nothing of one that cannot be read."""
    module = module_name(path)
    try:
        text = source.decode("utf-8-sig")
        if module is None or not any(_ASKS.search(match[1]) for match in _FUNCTION.finditer(text)):
            return {}
        tree = parsed(source, path)
        if tree is None:
            return {}
        evaluator = ConditionEvaluator(tree, split(text), module, index)
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
    for at, node in enumerate(body):
        match node:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Return(value=ast.expr() as value):
                return evaluator.truth(value)
            case ast.If(test=test):
                truth = evaluator.truth(test)
                if truth is None:
                    return None
                return _given([*(node.body if truth else node.orelse), *body[at + 1 :]], evaluator)
            case _:
                return None
    return None
