"""Fold a generated program, run it before and after, and say what is wrong."""

import ast
import gc
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.fold.judge import Shrunk, faults, shrink
from tests.fold.world import difference, trace


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
    """No search for garbage in what was there before: most of an example's time would go into it."""
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

    A module that was left as it is may be decided once the flags of others are literals; a table, once code that looked at it in a way that is not folded is gone.
    So may what stands around a read of a name that no branch binds: upstream fails there.
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
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or line):
            return node.name
    return ""
