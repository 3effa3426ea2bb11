"""Loops of the module level that import what rows name: a row may go with a module that a rule removes, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from shrinker.check.registry import Seen
from shrinker.check.trees import Trees
from shrinker.syntax.names import last_name
from shrinker.syntax.parsing import parsed
from shrinker.syntax.unroll import Bound, bind, displays_of, rows_of, text_of
from shrinker.values.upstream import module_name

_IMPORTING = frozenset({"import_module", "__import__"})
_WORDS = (b"import_module", b"__import__")
_LOOP = re.compile(rb"(?:^|\r)(?:\xef\xbb\xbf)?\f*for\b", re.MULTILINE)
"""A `for` of the module level begins a line; most files have none."""


def lost_imports_of_loops(trees: Trees, seen: Seen) -> None:
    """Modules that such loops import in upstream and not in the generated tree, and those that they import and that are not there."""
    if trees.index is None:
        return
    modules = {symbols.module for symbols in trees.kept}
    for path in trees.changed:
        module = module_name(path)
        before = set(_imported(trees.source.root / path, module)) if module is not None else set()
        if module is None or not before:
            continue
        after = set(_imported(trees.out / path, module))
        seen.look(len(before))
        for name in sorted(before - after):
            if not trees.index.removes_module(name):
                seen.find(path, 0, f"no longer imports {name}, and no rule removes it")
        for name in sorted(after - modules):
            if trees.index.removes_module(name):
                seen.find(path, 0, f"imports {name}, which a rule removes")


def _imported(file: Path, module: str) -> Iterator[str]:
    data = file.read_bytes()
    # The words first: hardly a file has them, and to look for lines takes fifty times as long.
    if not any(word in data for word in _WORDS) or _LOOP.search(data) is None:
        return
    tree = parsed(data, str(file))
    loops = [node for node in tree.body if isinstance(node, ast.For)] if tree is not None else []
    if tree is None or not loops:
        return
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    tables = displays_of(tree)
    for loop in loops:
        for call in ast.walk(loop):
            if isinstance(call, ast.Call) and call.args and last_name(call.func) in _IMPORTING:
                for row in rows_of(loop.iter, tables) or ():
                    bound: Bound = {}
                    bind(loop.target, row, bound)
                    if (text := text_of(call.args[0], bound, module, package)) is not None:
                        yield text
