"""Lines that go with the operators and sources that nothing reaches: registrations, declarations, entries of build lists."""

from __future__ import annotations

from collections.abc import Iterator

from shrinker.program.native.reach import NativeReach
from shrinker.values.native import Cut


def cuts(reach: NativeReach) -> dict[str, tuple[Cut, ...]]:
    """By path of a kept file, sorted.

    Args:
        reach: after it ran.
    """
    found: dict[str, list[Cut]] = {}
    for path, cut in (*_registrations(reach), *_declarations(reach), *_entries(reach)):
        found.setdefault(path, []).append(cut)
    return {path: tuple(sorted(set(each))) for path, each in sorted(found.items())}


def _registrations(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    for name, places in reach.registered.items():
        if name not in reach.operators:
            for path, registration in places:
                if path in reach.kept:
                    lines = registration.lines
                    yield path, Cut(lines.first, lines.last, f"operator {name}")


def _declarations(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    """Of functions that only operators offered which are gone, where no kept source mentions them."""
    gone: set[str] = set()
    stay: set[str] = set()
    for name, places in reach.registered.items():
        for _, registration in places:
            (stay if name in reach.operators else gone).update(registration.functions)
    for path in reach.kept:
        stay |= reach.library.sources[path].words
    for path in reach.kept:
        for each in reach.library.sources[path].declarations:
            if each.name in gone - stay and each.lines.first:
                yield path, Cut(each.lines.first, each.lines.last, f"function {each.name}")


def _entries(reach: NativeReach) -> Iterator[tuple[str, Cut]]:
    for source, entries in reach.library.entries.items():
        if source not in reach.kept:
            for entry in entries:
                if not entry.glob:
                    yield entry.path, Cut(entry.line, entry.line, f"source {source}")
