"""Fold a generated program, run it before and after, and say what is wrong."""

import ast
import builtins
import gc
import symtable
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from shrinker.check.allowances import default_tokens
from shrinker.check.subsequence import align, split
from shrinker.emit.rewrite import rewrite_file
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Edit
from shrinker.values.folded import FoldedModule
from shrinker.values.form import digest
from tests.fold.programs import fold_tree, make_tree, program_rules
from tests.fold.world import difference, trace

RULES = program_rules()

_EVERYWHERE = frozenset(dir(builtins)) | {
    "__file__",
    "__name__",
    "__doc__",
    "__class__",
    "__annotations__",
}


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A folded tree."""

    before: dict[str, str]
    """All files, the predicates included."""
    after: dict[str, str]
    """The same files as they are emitted; a removed module stays as it was."""
    modules: dict[str, FoldedModule]
    rescued: tuple[str, ...]


def shrink(files: Mapping[str, str], rules: Ruleset = RULES, *, rounds: bool = False) -> Shrunk:
    """Fold and emit a small tree.

    Args:
        files: path in upstream's layout to text.
        rules: of the test world.
        rounds: True to run the refinement rounds as well.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree = make_tree(Path(folder), dict(files))
        modules, rescued = fold_tree(tree, rules, rounds=rounds)
        before = {path: tree.read(path).decode() for path in tree.by_path}
    after = {
        path: _emit(text.encode(), modules[path].edits) if path in modules else text
        for path, text in before.items()
    }
    return Shrunk(before, after, modules, rescued)


@lru_cache(maxsize=64)
def _emit(data: bytes, edits: tuple[Edit, ...]) -> str:
    # Most modules of a generated tree are the same every time.
    return (rewrite_file(data, edits) if edits else data).decode()


DEFAULTS = default_tokens((rule.text, rule.by) for rule in program_rules().defaults)
"""The replaced defaults of the test world's rules, as a manifest would list them."""


def faults(shrunk: Shrunk) -> list[str]:
    """Faults of form: every one is a defect of folding or emission."""
    found: list[str] = []
    for path, module in shrunk.modules.items():
        before, after = shrunk.before[path], shrunk.after[path]
        try:
            parsed = ast.parse(after.encode(), path)
            compile(parsed, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            found.append(f"{path}: does not compile: {error}")
            continue
        if not module.edits:
            if before != after:
                found.append(f"{path}: changed without an edit")
            continue
        if digest(parsed) != module.digest:
            found.append(f"{path}: the emitted tree is not the decided one")
        aligned = align(
            split(after.removeprefix("\ufeff")), split(before.removeprefix("\ufeff")), DEFAULTS
        )
        found += [f"{path}: not a subsequence: {tokens}" for _, tokens in aligned.mismatches]
        fresh = undefined(after) - undefined(before)
        if fresh:
            found.append(f"{path}: undefined after folding: {sorted(fresh)}")
    return found


def undefined(source: str) -> set[str]:
    """Names that a module reads and never binds; nothing when it has a star import."""
    text = source.removeprefix("\ufeff")
    if any(
        isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(ast.parse(text))
    ):
        return set()
    top = symtable.symtable(text, "program", "exec")
    bound = {
        s.get_name()
        for s in top.get_symbols()
        if s.is_assigned() or s.is_imported() or s.is_namespace()
    }
    read: set[str] = set()
    stack = [top]
    while stack:
        table = stack.pop()
        stack += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() or table is top:
                if symbol.is_assigned() and symbol.is_declared_global():
                    bound.add(symbol.get_name())
                if symbol.is_referenced():
                    read.add(symbol.get_name())
    return read - bound - _EVERYWHERE


def defects(program: Mapping[str, str], *, rounds: bool = False, twice: bool = False) -> list[str]:
    """What is wrong with the folded program, in words.

    Args:
        program: texts by path.
        rounds: True to run the refinement rounds as well.
        twice: True to fold the result again, which must change nothing.
    """
    with warnings.catch_warnings():
        # "assertion is always true" and its like: generated code is not upstream's.
        warnings.simplefilter("ignore", SyntaxWarning)
        if not _compiles(program):
            # What is left of a larger program.
            return []
        shrunk = shrink(program, rounds=rounds)
        found = faults(shrunk)
        if not found:
            changed = difference(trace(shrunk.before), trace(shrunk.after))
            found = [changed] if changed is not None else []
        if not found and twice:
            found = _undone(shrunk)
    return found


def fails(program: Mapping[str, str], *, rounds: bool = False, twice: bool = False) -> bool:
    """True when the program shows a defect; an exception is one."""
    try:
        return bool(defects(program, rounds=rounds, twice=twice))
    except Exception:
        return True


@contextmanager
def unhurried() -> Iterator[None]:
    """No search for garbage in what was there before: most of an example's time would go
    into it.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _compiles(program: Mapping[str, str]) -> bool:
    try:
        compile(program["python/sglang/main.py"], "program", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _undone(shrunk: Shrunk) -> list[str]:
    """What folding the emitted tree once more would still decide.

    A module that was left as it is may be decided once the flags of others are literals; a table,
    once code that looked at it in a way that is not folded is gone. So may what stands around a
    read of a name that no branch binds: upstream fails there.
    """
    # The second pass over a function, which finds such a name, comes after a `try` was looked at.
    failing = {
        (path, _around(shrunk.before[path], d.line))
        for path, module in shrunk.modules.items()
        for d in module.decisions
        if d.outcome == "raises"
    }
    second = shrink(shrunk.after)
    failing |= {
        (path, _around(shrunk.after[path], d.line))
        for path, module in second.modules.items()
        for d in module.decisions
        # A handler may ask for the exception in code that only a second look finds dead.
        if d.outcome == "raises" or d.kind == "try"
    }
    if second.rescued != shrunk.rescued:
        # What rescued a module is gone now, and all that names the module is decided.
        return []
    return [
        f"{path}:{d.line}: {d.kind} {d.text} -> {d.outcome} ({d.rule})"
        for path, module in second.modules.items()
        if not shrunk.modules[path].whole
        for d in module.decisions
        if d.kind != "table" and (path, _around(shrunk.after[path], d.line)) not in failing
    ]


def _around(text: str, line: int) -> str:
    """Name of the function or class of a module in which a line stands; nothing outside of them."""
    for node in ast.parse(text.encode()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (
            node.end_lineno or line
        ):
            return node.name
    return ""
