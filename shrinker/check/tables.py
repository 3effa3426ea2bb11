"""Tables that are found by a computed name: no code names one as a whole."""

from __future__ import annotations

import re
from collections import Counter

from shrinker.check.registry import Seen
from shrinker.check.trees import Trees
from shrinker.values.upstream import PACKAGE_PREFIX

_TABLES = frozenset({"json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "txt", "jinja", "model"})


def lost_tables(trees: Trees, seen: Seen) -> None:
    """Tables whose names kept code computes, and of which others of the same folder stay: each needs a rule to go."""
    if trees.index is None:
        return
    patterns = {pattern for each in trees.kept for pattern in each.computed_files}
    computed = re.compile("|".join(sorted(patterns)) or r"(?!)")
    there = {path for path in trees.recorded if _is_table(path)}
    folders = Counter(map(_folder, there))
    for path in trees.source.by_path:
        if _is_table(path) and folders[_folder(path)] and computed.fullmatch(path.rpartition("/")[2]):
            seen.look()
            if path not in there and not trees.index.removes(path):
                seen.find(path, 0, f"is gone, no rule removes it, and {folders[_folder(path)]} tables beside it stay")


def _is_table(path: str) -> bool:
    return path.startswith(PACKAGE_PREFIX) and path.rpartition(".")[2] in _TABLES


def _folder(path: str) -> tuple[str, str]:
    return path.rpartition("/")[0], path.rpartition(".")[2]
