"""What a reviewer must know of two generated trees, before and besides their text.

Everything is read from what two runs left: manifests, reports, the trees themselves, and the two upstreams where they can be read.
Nothing is decided again.
"""

from collections.abc import Iterable, Sequence

from shrinker.report.diff import parts
from shrinker.report.diff.files import commit_rows, file_changes, symbol_changes, text_changes
from shrinker.report.diff.pair import Pair, Side
from shrinker.report.diff.values import Identified, Review, Row
from shrinker.source.repository import Told

__all__ = ["Review", "Side", "review"]

_ORDER = ("rule", "reach", "unknown", "upstream")
"""Causes of symbols: what upstream did not touch comes first."""


def review(old: Side, new: Side, told: Sequence[Told] = (), notes: Sequence[str] = ()) -> Review:
    """Compare two sides, by upstream's commits between them, the newest first; `notes`: what the caller could not look at. Raises InputError when
    a report or a file of one is damaged.
    """
    pair = Pair(old, new, tuple(told))
    texts = tuple(text_changes(pair))
    files = [*file_changes(pair, texts)]
    symbols = sorted(symbol_changes(pair), key=lambda row: (_ORDER.index(row.reason.cause), row.path, row.upstream))
    flags, endpoints = parts.offered_changes(pair)
    tables: dict[str, Iterable[Row]] = {
        "rules": pair.changed_rules,
        "uncertain": parts.uncertain_changes(pair),
        "kept": (row for row in files if row.kind == "added"),
        "removed": (row for row in files if row.kind == "removed"),
        "symbols_kept": (row for row in symbols if row.kind == "added"),
        "symbols_removed": (row for row in symbols if row.kind == "removed"),
        # Those first that upstream did not change.
        "changed": sorted((r for r in files if r.kind == "changed"), key=lambda r: r.reason.cause == "upstream"),
        "decisions": parts.decision_changes(pair),
        "commits": commit_rows(pair),
        "flags": flags,
        "endpoints": endpoints,
        "growth": parts.growth(pair),
        "dependencies": parts.dependency_changes(pair),
        "data": parts.data_changes(pair),
        "kernels": parts.kernel_changes(pair),
        "risks": parts.mechanism_changes(pair),
    }
    notes = (*notes, *_missing(old), *_missing(new))
    return Review(_identified(old), _identified(new), notes, {name: (*rows,) for name, rows in tables.items()}, texts)


def _identified(side: Side) -> Identified:
    made, upstream = side.manifest, side.manifest.upstream
    by = (made.profile, made.rules_hash, made.tool_version)
    lines = sum(file.lines_after for file in made.files if file.path.endswith(".py"))
    return Identified(side.name, upstream.spec, upstream.commit or "", *by, len(made.files), lines, upstream.reference)


def _missing(side: Side) -> list[str]:
    told = {
        "only the lock is there, so that texts, flags, endpoints and risks are not compared": side.folder is None,
        "no reports of the same run, so that reasons and symbols are not told": side.reports is None,
        "no saved search beside its reports, so that symbols are not compared": side.graph and side.symbols is None,
        "its upstream cannot be read, so that what upstream changed is known in part only": side.upstream is None,
    }
    return [f"{side.name}: {text}" for text, missing in told.items() if missing]
