"""Tables that are found by a computed name: no code names one as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from shrinker.check.rule_index import RuleIndex
from shrinker.check.symbols import ModuleSymbols
from shrinker.values.outcome import Finding
from shrinker.values.upstream import PACKAGE_PREFIX

_TABLES = frozenset({"json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "txt", "jinja", "model"})


def lost_tables(
    symbols: Iterable[ModuleSymbols], upstream: Iterable[str], kept: Iterable[str], index: RuleIndex
) -> tuple[int, list[Finding]]:
    """Tables whose names kept code computes, and of which others of the same folder stay: each needs a rule to go.

    Args:
        symbols: of every file of the generated tree.
        upstream, kept: all paths of both trees.
        index: of the rules.

    Returns:
        How many such tables upstream has, and those that are gone.
    """
    patterns = {pattern for each in symbols for pattern in each.computed_files}
    computed = re.compile("|".join(sorted(patterns)) or r"(?!)")
    there = {path for path in kept if _is_table(path)}
    folders = Counter(map(_folder, there))
    count = 0
    found: list[Finding] = []
    for path in upstream:
        if not _is_table(path) or not folders[_folder(path)] or not computed.fullmatch(path.rpartition("/")[2]):
            continue
        count += 1
        if path not in there and not index.removes(path):
            message = f"is gone, no rule removes it, and {folders[_folder(path)]} tables beside it stay"
            found.append(Finding("tables", path, 0, message))
    return count, found


def _is_table(path: str) -> bool:
    return path.startswith(PACKAGE_PREFIX) and path.rpartition(".")[2] in _TABLES


def _folder(path: str) -> tuple[str, str]:
    return path.rpartition("/")[0], path.rpartition(".")[2]
