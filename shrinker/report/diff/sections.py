"""The tables of a comparison, in the order in which a reviewer reads them: what Markdown and HTML both print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from shrinker.report.diff.files import OWN
from shrinker.report.diff.values import Change, FileChange, Review

_PLACE = re.compile(r"(\S+/\S+?)(?::(\d+))?(?: |$)")
_BY_UPSTREAM = re.compile(r"upstream (added|removed|changed|declares)")
_COMMITS = "commits"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    cells: tuple[str, ...]
    """The first is code."""
    fate: str = "changed"
    """``added``, ``removed`` or ``changed``."""
    cause: str = ""
    path: str = ""
    line: int = 0
    """In the generated file of the side that has it; 0 where that is not known."""
    upstream: int = 0
    """The same in upstream's file."""
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One table."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    intro: str = ""


def first_sections(review: Review) -> list[Section]:
    """What upstream's own diff does not explain."""
    odd = [
        replace(
            row, cells=(row.cells[0], f"{row.cells[1] if symbols else 'file'} newly {said}", row.cells[2 + symbols])
        )
        for symbols, said, rows in _moves(review)
        for row in rows
        if row.cause != "upstream"
    ]
    other = [_file(f, f.text) for f in review.changed if f.upstream is not True and f.text != OWN]
    return _filled(
        Section(
            "Rules that changed",
            ("rule", "what", "kind"),
            tuple(Row((r.subject, r.kind, r.where or r.reason), _fate(r.kind), "rule") for r in review.rules),
        ),
        Section(
            "Uncertain on one side only",
            ("file", "what", "where", "why"),
            _changes(review.uncertain, "subject kind where reason", upstream=True),
            "What stays because it could not be decided, a file that a rule removes and that something needs, for example.",
        ),
        Section("Kept or removed for another reason than a change of upstream", ("what", "change", "why"), tuple(odd)),
        Section(
            "Conditions that are decided otherwise",
            ("condition", "before", "after", "where", "why"),
            _changes([d for d in review.decisions if _odd(d)], "subject before after where reason", upstream=True),
            "With another outcome or by another rule than before, or in a file that upstream did not change.",
        ),
        Section("Changed files that upstream did not change", ("file", "lines", "why"), tuple(other)),
        Section(
            "New risks",
            ("code", "what", "where", "in", "why"),
            _changes(review.risks, "subject kind where after reason"),
            "Places where code computes what it names, runs or loads, and questions about platforms that no rule names.",
        ),
    )


def other_sections(review: Review) -> list[Section]:
    """All that differs."""
    files, symbols = ("file", "lines", "why", _COMMITS), ("symbol", "kind", "where", "why", _COMMITS)
    out = [
        Section(f"Symbols newly {said}, in files that stay", symbols, rows)
        if inside
        else Section(f"Files newly {said}", files, rows)
        for inside, said, rows in _moves(review)
    ]
    grown = tuple(Row((c.subject, c.kind, c.before, c.after), path=f"{c.subject}/") for c in review.growth)
    out.append(Section("Lines by folder", ("folder", "change", "before", "after"), grown))
    for title, changes in (
        ("Command lines", review.flags),
        ("Endpoints, and fields of requests and answers", review.endpoints),
        ("Dependencies", review.dependencies),
        ("Data tables", review.tables),
        ("Kernels", review.kernels),
    ):
        rows = _changes(changes, "subject kind before after where reason")
        out.append(Section(title, ("what", "change", "before", "after", "where", "why"), rows))
    for fate, side in (("added", "after"), ("removed", "before")):
        ours = [d for d in review.decisions if d.kind == fate and not _odd(d)]
        rows = _changes(ours, f"subject {side} where reason", upstream=True)
        out.append(Section(f"Conditions decided {side} alone", ("condition", "outcome", "where", "why"), rows))
    for title, wanted in (("Kept files that upstream changed", ""), ("Files that shrinker writes", OWN)):
        told = tuple(
            _file(f, ", ".join(f.commits)) for f in review.changed if f.text == wanted and (f.upstream or wanted)
        )
        out.append(Section(title, ("file", "lines", _COMMITS), told))
    commits = tuple(Row((c.number or c.hash[:10], c.subject, f"{c.files:,}")) for c in review.commits)
    out.append(Section("Upstream's commits that touched these trees", (_COMMITS, "subject", "files"), commits))
    return _filled(*out)


def _filled(*sections: Section) -> list[Section]:
    return [section for section in sections if section.rows]


def _odd(decision: Change) -> bool:
    """True when upstream's own diff does not explain it."""
    return decision.kind == "changed" or not _BY_UPSTREAM.match(decision.reason)


def _moves(review: Review) -> Iterator[tuple[bool, str, tuple[Row, ...]]]:
    """Whether it is symbols, ``kept`` or ``removed``, and the rows."""
    for said, fate, moved in (("kept", "added", review.kept), ("removed", "removed", review.removed)):
        rows = []
        for file in moved:
            cells = (file.path, f"{file.lines:,}", file.reason.text, ", ".join(file.commits))
            rows.append(Row(cells, fate, file.reason.cause, file.path, chain=file.reason.chain))
        yield False, said, tuple(rows)
    for said, fate, symbols in (("kept", "added", review.symbols_kept), ("removed", "removed", review.symbols_removed)):
        rows = []
        for s in symbols:
            kind = f"{s.kind}, with {s.members} members" if s.members else s.kind
            whole = (s.name, kind, f"{s.path}:{s.line}", s.reason.text, ", ".join(s.commits))
            rows.append(Row(whole, fate, s.reason.cause, s.path, s.generated, s.line, s.reason.chain))
        yield True, said, tuple(rows)


def _file(change: FileChange, text: str) -> Row:
    cause = "" if change.upstream is None else "upstream" if change.upstream else "reach"
    return Row((change.path, f"+{change.added} -{change.removed}", text), cause=cause, path=change.path)


def _changes(changes: Sequence[Change], fields: str, *, upstream: bool = False) -> tuple[Row, ...]:
    """Rows of the fields that are named.

    Args:
        upstream: their places are lines of upstream's files, and not of the generated ones.
    """
    rows: list[Row] = []
    for change in changes:
        place = _PLACE.match(change.where) or _PLACE.match(change.subject)
        path, line = (place[1], int(place[2] or 0)) if place else ("", 0)
        cells = tuple(getattr(change, name) for name in fields.split())
        lines = (0, line) if upstream else (line, 0)
        rows.append(Row(cells, _fate(change.kind), _cause(change.reason), path, *lines))
    return tuple(rows)


def _fate(kind: str) -> str:
    return next((fate for fate in ("added", "removed") if kind.endswith(fate)), "changed")


def _cause(reason: str) -> str:
    if _BY_UPSTREAM.match(reason):
        return "upstream"
    return "rule" if reason.startswith("rule") else "reach"
