"""The original with the facts and the folded program leave the same trace."""

from __future__ import annotations

import ast
import itertools
import os
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings

from shrinker.values.form import digest
from tests.fold.generate import HEADER, programs
from tests.fold.programs import fold_tree, make_tree, program_rules, rewrite

RULES = program_rules()
EXAMPLES = int(os.environ.get("SHRINKER_EXAMPLES", "500"))
_TICKS = 6


def _load(source: str) -> Callable[..., Any]:
    """Execute a module in the test world and return its `f`."""
    facts = types.ModuleType("sglang.srt.utils")
    facts.is_cuda = lambda: "13.0"  # type: ignore[attr-defined]
    facts.is_hip = lambda: False  # type: ignore[attr-defined]
    facts.is_npu = lambda: False  # type: ignore[attr-defined]
    facts.get_bool_env_var = lambda name, default="false": False  # type: ignore[attr-defined]
    names = {
        "sglang": types.ModuleType("sglang"),
        "sglang.srt": types.ModuleType("sglang.srt"),
        "sglang.srt.utils": facts,
    }
    before = {name: sys.modules.get(name) for name in names}
    sys.modules.update(names)
    try:
        scope: dict[str, Any] = {}
        exec(compile(source, "program", "exec"), scope)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    found: Callable[..., Any] = scope["f"]
    return found


def _trace(source: str) -> list[object]:
    """Results and marks of `f` over a table of arguments."""
    function = _load(source)
    out: list[object] = []
    for a, b in itertools.product((0, 1, None, "s"), (0, 1)):
        marks: list[object] = []
        ticks = iter([True] * _TICKS)

        def probe(n: int, marks: list[object] = marks) -> bool:
            marks.append(n)
            return bool(n)

        def tick(ticks: Any = ticks) -> bool:
            return next(ticks, False)

        try:
            marks.append(("returned", repr(function(a, b, probe, tick))))
        except (ValueError, AssertionError, UnboundLocalError, RecursionError) as error:
            marks.append(("raised", type(error).__name__, str(error)))
        out.append(marks)
    return out


def _same(original: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = make_tree(Path(folder), {"python/sglang/main.py": original})
        folded, _ = fold_tree(tree, RULES)
        module = folded["python/sglang/main.py"]
        emitted = rewrite(tree, module)
    if module.edits:
        assert digest(ast.parse(emitted)) == module.digest
    assert _trace(emitted) == _trace(original), emitted


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(programs())
@example(HEADER + "\n\ndef f(a, b, probe, tick):\n    return a or _is_hip\n")
def test_folded_program_behaves_the_same(source: str) -> None:
    _same(source)
