"""Files that no code names as a whole: tables that are found by a computed name, and what native sources include."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from shrinker.values.outcome import Finding
from shrinker.values.upstream import PACKAGE_PREFIX
from shrinker.verify.claims import Claims
from shrinker.verify.symbols import ModuleSymbols

_NATIVE = frozenset({"c", "cc", "cpp", "cu", "cuh", "h", "hpp", "inc", "inl"})
_TABLES = frozenset({"json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "txt", "jinja", "model"})
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)


def lost_tables(
    symbols: Iterable[ModuleSymbols], upstream: Iterable[str], kept: Iterable[str], claims: Claims
) -> tuple[int, list[Finding]]:
    """Tables whose names kept code computes, and of which others of the same folder stay: each needs a rule to go.

    Args:
        symbols: of every file of the generated tree.
        upstream, kept: all paths of both trees.
        claims: of the rules.

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
        if path not in there and not claims.removes(path):
            message = f"is gone, no rule removes it, and {folders[_folder(path)]} tables beside it stay"
            found.append(Finding("tables", path, 0, message))
    return count, found


def _is_table(path: str) -> bool:
    return path.startswith(PACKAGE_PREFIX) and path.rpartition(".")[2] in _TABLES


def _folder(path: str) -> tuple[str, str]:
    return path.rpartition("/")[0], path.rpartition(".")[2]


def lost_includes(
    root: Path, upstream: Iterable[str], kept: Iterable[str], claims: Claims | None
) -> tuple[int, list[Finding]]:
    """Files that kept native sources include, that upstream has and that are not there.

    Args:
        root: of the generated tree.
        upstream, kept: all paths of both trees.
        claims: of the rules: a file that one removes is included for its platform only.

    Returns:
        How many includes name a file of upstream, and those that find none.
    """
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in upstream:
        if path.rpartition(".")[2] in _NATIVE:
            by_name[path.rpartition("/")[2]].append(path)
    there = {path for path in kept if path.rpartition(".")[2] in _NATIVE}
    count = 0
    found: list[Finding] = []
    for path in sorted(there):
        if not (root / path).is_file():
            continue
        data = (root / path).read_bytes()
        for match in _INCLUDE.finditer(data):
            text = match.group(1).decode("utf-8", "replace")
            named = [other for other in by_name.get(text.rpartition("/")[2], ()) if _named(text, path, other)]
            if not named:
                continue
            count += 1
            if not there.intersection(named) and not (claims and all(map(claims.removes, named))):
                line = data.count(b"\n", 0, match.start()) + 1
                found.append(Finding("includes", path, line, f"includes {text}, which is not in this tree: {named[0]}"))
    return count, found


def _named(text: str, source: str, file: str) -> bool:
    """May `text`, included by a source, be this file? Below any folder, but of the same top folder."""
    plain = text
    while plain.startswith(("./", "../")):
        plain = plain.partition("/")[2]
    same = source.partition("/")[0] == file.partition("/")[0]
    return same and (file == plain or file.endswith("/" + plain))
