"""Registries that are only asked for names (`[[inventory]]`): a row may go where nothing in the generated tree asks for it.

Read from both trees: the rows that modules file when they are loaded, and every place of the generated tree that asks. Whoever asks
for what is not a text in that place may ask for any row.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shrinker.check.parsing import parsed
from shrinker.check.rule_index import Claims
from shrinker.check.unroll import passes, tables_of, text_of
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models import Inventory
from shrinker.values.outcome import Finding
from shrinker.values.upstream import module_name

_OF_CACHES = frozenset({"cache_clear", "cache_info", "cache_parameters"})
"""What `functools` gives a function that remembers, which asks for nothing."""

Place = tuple[str, int]
"""Module and line."""


@dataclass(frozen=True, slots=True)
class Inventoried:
    """What was found of all inventories."""

    rows: int = 0
    """How many upstream has."""
    findings: tuple[Finding, ...] = ()
    unasked: frozenset[Place] = frozenset()
    """Statements of upstream that file nothing but rows which the generated tree does not ask for."""


def judge_inventories(
    upstream: Path, paths: Iterable[str], out: Path, kept: Iterable[str], rules: Ruleset, claims: Claims
) -> Inventoried:
    """Compare the rows of both trees, and ask who asks for those that are gone.

    Args:
        upstream: its tree.
        paths: of its files.
        out: the generated tree.
        kept: paths of its files.
        rules: by which it was made.
        claims: what they say; rows of a module that they remove are gone with it.
    """
    if not rules.inventories:
        return Inventoried()
    words = {pattern.rpartition(".")[2].encode() for r in rules.inventories for pattern in r.registers}
    theirs = list(_files(upstream, paths, words))
    filed = {rule.id: [(p, found) for p, file in theirs if (found := _rows(file, rule))] for rule in rules.inventories}
    if not any(filed.values()):
        # An upstream before its time: nobody needs to be asked.
        return Inventoried()
    words |= {pattern.rpartition(".")[2].encode() for r in rules.inventories for pattern in r.asked_by}
    ours = dict(_files(out, kept, words))
    rows = 0
    findings: list[Finding] = []
    unasked: set[Place] = set()
    for rule in rules.inventories:
        asked = {key for file in ours.values() for key in _asked(file, rule)}
        for path, before in filed[rule.id]:
            module = module_name(path) or ""
            after = (
                Counter(key for key, _ in _rows(ours[path], rule).elements()) if path in ours else Counter[str | None]()
            )
            there = Counter(key for key, _ in before.elements())
            rows += there.total()
            for key in (there - after) if not claims.removes_module(module) else ():
                if key is None or key in asked or None in asked:
                    what = "a row of a computed name" if key is None else f"{key!r}"
                    message = f"{what} is not filed any more, and kept code may ask for it (rule {rule.id})"
                    findings.append(Finding("inventories", path, 0, message))
            if None not in asked:
                lines: dict[int, set[str | None]] = {}
                for key, line in before:
                    lines.setdefault(line, set()).add(key)
                unasked.update((module, line) for line, keys in lines.items() if None not in keys and not keys & asked)
    return Inventoried(rows, tuple(findings), frozenset(unasked))


@dataclass(frozen=True, slots=True)
class _File:
    """A Python file, and what its names are as far as imports say so."""

    tree: ast.Module
    module: str
    package: str
    origins: dict[str, set[str]]
    starred: bool

    def may_be(self, node: ast.expr, patterns: tuple[str, ...]) -> bool:
        """Whether an expression may be one of these functions."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        written = ast.unparse(node)
        root, _, rest = written.partition(".")
        if root in self.origins:
            return any(any_name_matches(patterns, f"{o}.{rest}".rstrip(".")) for o in self.origins[root])
        last = written.rpartition(".")[2]
        if last not in {pattern.rpartition(".")[2] for pattern in patterns}:
            return False
        if isinstance(node, ast.Attribute):
            return not last.startswith("_")
        return self.starred or any_name_matches(patterns, f"{self.module}.{last}")


def _files(root: Path, paths: Iterable[str], words: set[bytes]) -> Iterator[tuple[str, _File]]:
    for path in paths:
        if not path.endswith(".py") or not (root / path).is_file():
            continue
        # A program beside the package may ask, too.
        module = module_name(path) or ""
        data = (root / path).read_bytes()
        # One that is no Python is said by the levels that need it.
        tree = parsed(data, path) if any(word in data for word in words) else None
        if tree is not None:
            package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
            yield path, _File(tree, module, package, *_origins(tree, package))


def _origins(tree: ast.Module, package: str) -> tuple[dict[str, set[str]], bool]:
    origins: dict[str, set[str]] = {}
    starred = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                origins.setdefault(alias.asname or first, set()).add(alias.name if alias.asname else first)
        elif isinstance(node, ast.ImportFrom):
            around = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*around, *([node.module] if node.module else [])])
            for alias in node.names:
                starred = starred or alias.name == "*"
                origins.setdefault(alias.asname or alias.name, set()).add(f"{source}.{alias.name}")
    return origins, starred


def _rows(file: _File, rule: Inventory) -> Counter[tuple[str | None, int]]:
    """Keys of the rows that a file files when it is loaded, None for one that is not known, with their lines."""
    tables = tables_of(file.tree)
    found: Counter[tuple[str | None, int]] = Counter()
    for call, loops in _calls(file.tree.body, ()):
        if not file.may_be(call.func, rule.registers):
            continue
        row = call.args[0] if len(call.args) == 1 and isinstance(call.args[0], ast.Call) else None
        key = next((k.value for k in row.keywords if k.arg == rule.key), None) if row is not None else None
        for names in passes(loops, tables):
            known = text_of(key, names, file.module, file.package) if key is not None and names is not None else None
            found[known, call.lineno] += 1
    return found


def _calls(body: Iterable[ast.stmt], loops: tuple[ast.For, ...]) -> Iterator[tuple[ast.Call, tuple[ast.For, ...]]]:
    """Calls that are statements of the module level, on any branch, and the loops around each."""
    for node in body:
        match node:
            case ast.Expr(value=ast.Call() as call):
                yield call, loops
            case ast.For():
                yield from _calls(node.body, (*loops, node))
            case ast.If() | ast.Try() | ast.With():
                for name in ("body", "orelse", "finalbody"):
                    yield from _calls(getattr(node, name, ()), loops)
                for handler in getattr(node, "handlers", ()):
                    yield from _calls(handler.body, loops)


def _asked(file: _File, rule: Inventory) -> Iterator[str | None]:
    """Keys that a file asks for; None for what may be any."""
    lasts = {pattern.rpartition(".")[2] for pattern in rule.asked_by}
    silent = {id(part) for part in _unread(file.tree)}
    stack: list[tuple[ast.AST, str]] = [(file.tree, "")]
    while stack:
        node, handed = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = [*node.args.posonlyargs, *node.args.args]
            asks = any_name_matches(rule.asked_by, f"{file.module}.{node.name}")
            changed = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            handed = taken[0].arg if asks and taken and taken[0].arg not in changed else ""
        if isinstance(node, ast.Call) and file.may_be(node.func, rule.asked_by):
            stack += [(part, handed) for part in (*node.args, *node.keywords)]
            key = node.args[0] if node.args else None
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value
            elif not (handed and isinstance(key, ast.Name) and key.id == handed):
                yield None
            continue
        if isinstance(node, ast.Attribute) and node.attr in _OF_CACHES:
            silent.add(id(node.value))
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if id(node) not in silent and file.may_be(node, rule.asked_by):
                yield None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            if node.value.replace(":", ".").rpartition(".")[2] in lasts:
                yield None
        elif (
            isinstance(node, ast.alias)
            and node.name.rpartition(".")[2] in lasts
            and node.asname not in (None, node.name)
        ):
            yield None
        stack += [(child, handed) for child in ast.iter_child_nodes(node)]


def _unread(tree: ast.Module) -> Iterator[ast.AST]:
    """Texts that stand alone, and those of ``__all__``."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                yield text
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AugAssign(target=ast.Name(id="__all__"), value=value)
            ):
                yield from ast.walk(value)
