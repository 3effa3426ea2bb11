"""What every folded program must satisfy, beside doing the same."""

import ast
import builtins
import symtable
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from shrinker.check.allowances import default_tokens
from shrinker.check.subsequence import align
from shrinker.check.tokens import split
from shrinker.emit.rewrite import rewrite_file
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Edit
from shrinker.values.folded import FoldedModule
from shrinker.values.form import digest
from tests.fold.programs import fold_tree, make_tree, program_rules

RULES = program_rules()

_EVERYWHERE = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__class__", "__annotations__"}


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
        path: _emit(text.encode(), modules[path].edits) if path in modules else text for path, text in before.items()
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
        aligned = align(split(after.removeprefix("\ufeff")), split(before.removeprefix("\ufeff")), DEFAULTS)
        found += [f"{path}: not a subsequence: {tokens}" for _, tokens in aligned.mismatches]
        fresh = undefined(after) - undefined(before)
        if fresh:
            found.append(f"{path}: undefined after folding: {sorted(fresh)}")
    return found


def undefined(source: str) -> set[str]:
    """Names that a module reads and never binds; nothing when it has a star import."""
    text = source.removeprefix("\ufeff")
    if any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(ast.parse(text))):
        return set()
    top = symtable.symtable(text, "program", "exec")
    bound = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
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
