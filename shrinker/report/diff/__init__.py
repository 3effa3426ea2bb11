"""What a reviewer must know of two generated trees, before and besides their text.

Everything is read from what two runs left: manifests, reports, the trees themselves, and the two upstreams where they can be read.
Nothing is decided again.
"""

from collections.abc import Sequence

from shrinker.report.diff import parts
from shrinker.report.diff.difference import Pair
from shrinker.report.diff.files import changed_files, commit_rows, moved_files, moved_symbols, text_changes
from shrinker.report.diff.offered import offered_changes
from shrinker.report.diff.risks import mechanism_changes
from shrinker.report.diff.side import Side
from shrinker.report.diff.values import Identified, Review
from shrinker.source.repository import Told

__all__ = ["Review", "Side", "review"]


def review(old: Side, new: Side, told: Sequence[Told] = (), notes: Sequence[str] = ()) -> Review:
    """Compare two sides. Raises InputError when a report or a file of one is damaged.

    Args:
        told: commits of upstream between them, the newest first.
        notes: what the caller could not look at.
    """
    pair = Pair(old, new, tuple(told))
    texts = text_changes(pair)
    kept, removed = moved_files(pair)
    symbols_kept, symbols_removed = moved_symbols(pair)
    flags, endpoints = offered_changes(pair)
    tables = {
        "rules": pair.changed_rules,
        "uncertain": parts.uncertain_changes(pair),
        "kept": kept,
        "removed": removed,
        "symbols_kept": symbols_kept,
        "symbols_removed": symbols_removed,
        "changed": changed_files(pair, texts),
        "decisions": parts.decision_changes(pair),
        "commits": commit_rows(pair),
        "flags": flags,
        "endpoints": endpoints,
        "growth": parts.growth(pair),
        "dependencies": parts.dependency_changes(pair),
        "data": parts.data_changes(pair),
        "kernels": parts.kernel_changes(pair),
        "risks": mechanism_changes(pair),
    }
    return Review(_identified(old), _identified(new), (*notes, *_missing(old), *_missing(new)), tables, texts)


def _identified(side: Side) -> Identified:
    manifest, upstream = side.manifest, side.manifest.upstream
    return Identified(
        name=side.name,
        upstream=upstream.spec,
        commit=upstream.commit or "",
        profile=manifest.profile,
        rules_hash=manifest.rules_hash,
        tool_version=manifest.tool_version,
        files=len(manifest.files),
        python_lines=sum(file.lines_after for file in manifest.files if file.path.endswith(".py")),
        reference=upstream.reference,
    )


def _missing(side: Side) -> list[str]:
    told = {
        "only the lock is there, so that texts, flags, endpoints and risks are not compared": side.folder is None,
        "no reports of the same run, so that reasons and symbols are not told": side.reports is None,
        "no saved search beside its reports, so that symbols are not compared": bool(side.reports)
        and side.symbols is None,
        "its upstream cannot be read, so that what upstream changed is known in part only": side.upstream is None,
    }
    return [f"{side.name}: {text}" for text, missing in told.items() if missing]
