"""Loops of the module level that import what rows name: a row may go with a module that a rule removes, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from shrinker.check.declared import last_name
from shrinker.check.parsing import parsed
from shrinker.check.rule_index import RuleIndex
from shrinker.check.unroll import passes, tables_of, text_of
from shrinker.values.outcome import Finding
from shrinker.values.upstream import module_name

_IMPORTING = frozenset({"import_module", "__import__"})
_WORDS = (b"import_module", b"__import__")
_LOOP = re.compile(rb"(?:^|\r)(?:\xef\xbb\xbf)?\f*for\b", re.MULTILINE)
"""A `for` of the module level begins a line; most files have none."""


def lost_imports_of_loops(
    upstream: Path, out: Path, kept: Iterable[str], there: Iterable[str], index: RuleIndex
) -> tuple[int, list[Finding]]:
    """Modules that such loops import in upstream and not in the generated tree, and those that they import and that are not there.

    Args:
        upstream, out: both trees.
        kept: paths of the Python files of the generated tree that upstream has, too.
        there: dotted names of all its modules.
        index: of the rules.

    Returns:
        How many imports of such loops were looked at, and the findings.
    """
    modules = set(there)
    count = 0
    findings: list[Finding] = []
    for path in kept:
        module = module_name(path)
        if module is None:
            continue
        before = set(_imported(upstream / path, module))
        if not before:
            continue
        after = set(_imported(out / path, module))
        count += len(before)
        for name in sorted(before - after):
            if not index.removes_module(name):
                findings.append(
                    Finding("imports of loops", path, 0, f"no longer imports {name}, and no rule removes it")
                )
        for name in sorted(after - modules):
            if index.removes_module(name):
                findings.append(Finding("imports of loops", path, 0, f"imports {name}, which a rule removes"))
    return count, findings


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
    tables = tables_of(tree)
    for loop in loops:
        for call in ast.walk(loop):
            if isinstance(call, ast.Call) and call.args and last_name(call.func) in _IMPORTING:
                for names in passes([loop], tables):
                    text = text_of(call.args[0], names, module, package) if names is not None else None
                    if text is not None:
                        yield text
