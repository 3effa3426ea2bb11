"""The comparison as Markdown for a comment, as HTML with everything, and as JSON."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment

from shrinker.report.diff.values import FORMAT, Review, TextChange
from shrinker.report.pages import cell, templates

COMMENT_LIMIT = 65_536
"""Characters that GitHub takes in one comment."""
_ROWS = (10_000, 400, 200, 100, 50, 25, 12, 6, 3)
_MARGIN = 400
"""For the sentence that says what was cut."""


def review_json(review: Review) -> dict[str, Any]:
    """The content of ``--json``; nothing is cut."""
    return {"format": FORMAT, "different": review.different, **asdict(review)}


def markdown(review: Review, limit: int = COMMENT_LIMIT) -> str:
    """The page for a comment: what does not fit is left out from the end, and what was is said.

    Args:
        limit: in characters; 0 for none.
    """
    template = _environment().get_template("review.md.jinja")
    body = ""
    for most in _ROWS:
        body = template.render(_head(review), most=most)
        if not limit or len(body) + _MARGIN <= limit:
            break
    else:
        return _cut_rows(body, limit)
    chosen, left = _fitting(review.text, limit - len(body) - _MARGIN if limit else None)
    page = body + _text_section(chosen, left)
    assert not limit or len(page) <= limit, "the margin holds what was cut"
    return page


def page(review: Review) -> str:
    """One HTML page with everything, chains and the whole diff included."""
    return _environment(escaped=True).get_template("review.html.jinja").render(_head(review), text=review.text)


@dataclass(frozen=True, slots=True)
class _Section:
    """One table of the page."""

    title: str
    intro: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells; the first is code."""
    chains: tuple[tuple[str, ...], ...] = ()
    """Of each row."""


def _head(review: Review) -> dict[str, Any]:
    first = [s for s in _first(review) if s.rows]
    rest = [s for s in _rest(review) if s.rows]
    return {
        "review": review,
        "first": first,
        "rest": rest,
        "causes": Counter(
            row.reason.cause
            for rows in (review.kept, review.removed, review.symbols_kept, review.symbols_removed)
            for row in rows
        ),
    }


def _first(review: Review) -> list[_Section]:
    """What upstream's own diff does not explain."""
    columns = ("what", "where", "why")
    moves = [
        *((f.path, "file newly kept", f.reason) for f in review.kept),
        *((f.path, "file newly removed", f.reason) for f in review.removed),
        *((s.name, f"{s.kind} newly kept", s.reason) for s in review.symbols_kept),
        *((s.name, f"{s.kind} newly removed", s.reason) for s in review.symbols_removed),
    ]
    odd = [(name, what, reason) for name, what, reason in moves if reason.cause != "upstream"]
    other = [f for f in review.changed if f.upstream is not True]
    return [
        _Section(
            "Rules that changed",
            "",
            ("rule", "what", "kind"),
            tuple((r.subject, r.kind, r.where or r.reason) for r in review.rules),
        ),
        _Section(
            "Uncertain on one side only",
            "What stays because it could not be decided, a file that a rule removes and that something needs, for example.",
            ("file", "what", "where", "why"),
            tuple((r.subject, r.kind, r.where, r.reason) for r in review.uncertain),
        ),
        _Section(
            "Kept or removed for another reason than a change of upstream",
            "",
            columns,
            tuple((name, what, reason.text) for name, what, reason in odd),
            tuple(reason.chain for _, _, reason in odd),
        ),
        _Section(
            "Changed files that upstream did not change",
            "",
            ("file", "lines", "why"),
            tuple((f.path, f"+{f.added} -{f.removed}", f.text) for f in other),
        ),
        _Section(
            "New risks",
            "Places where code computes what it names, runs or loads, and questions about platforms that no rule names.",
            ("code", "what", "where", "why"),
            tuple((r.subject, r.kind, f"{r.where} {r.after}".strip(), r.reason) for r in review.risks),
        ),
    ]


def _rest(review: Review) -> list[_Section]:
    changes = ("what", "change", "before", "after", "where", "why")
    files = ("file", "lines", "why", "commits")
    symbols = ("symbol", "kind", "where", "why")
    out = [
        _Section(title, "", files, tuple(_file(f) for f in rows), tuple(f.reason.chain for f in rows))
        for title, rows in (("Files newly kept", review.kept), ("Files newly removed", review.removed))
    ]
    out += [
        _Section(title, "", symbols, tuple(_symbol(s) for s in rows), tuple(s.reason.chain for s in rows))
        for title, rows in (
            ("Symbols newly kept, in files that stay", review.symbols_kept),
            ("Symbols newly removed, in files that stay", review.symbols_removed),
        )
    ]
    grown = tuple((c.subject, c.kind, c.before, c.after) for c in review.growth)
    out.append(_Section("Lines by folder", "", ("folder", "change", "before", "after"), grown))
    for title, rows in (
        ("Command lines", review.flags),
        ("Endpoints, and fields of requests and answers", review.endpoints),
        ("Dependencies", review.dependencies),
        ("Data tables", review.tables),
        ("Kernels", review.kernels),
    ):
        cells = tuple((c.subject, c.kind, c.before, c.after, c.where, c.reason) for c in rows)
        out.append(_Section(title, "", changes, cells))
    ours = [f for f in review.changed if f.upstream is True]
    out.append(
        _Section(
            "Kept files that upstream changed",
            "",
            ("file", "lines", "commits"),
            tuple((f.path, f"+{f.added} -{f.removed}", ", ".join(f.commits)) for f in ours),
        )
    )
    commits = tuple((c.number or c.hash[:10], c.subject, str(c.files)) for c in review.commits)
    out.append(_Section("Upstream's commits that touched these trees", "", ("commit", "subject", "files"), commits))
    return out


def _file(move: Any) -> tuple[str, ...]:
    return move.path, f"{move.lines:,}", move.reason.text, ", ".join(move.commits)


def _symbol(move: Any) -> tuple[str, ...]:
    kind = f"{move.kind}, with {move.members} members" if move.members else move.kind
    return move.name, kind, f"{move.path}:{move.line}", move.reason.text


def _fitting(changes: Sequence[TextChange], space: int | None) -> tuple[list[TextChange], list[TextChange]]:
    """As many diffs as fit, in their order; a large one is left out rather than all behind it."""
    chosen: list[TextChange] = []
    left: list[TextChange] = []
    for change in changes:
        size = len(change.text) + 20
        if space is None or size <= space:
            chosen.append(change)
            space = None if space is None else space - size
        else:
            left.append(change)
    return chosen, left


def _text_section(chosen: Sequence[TextChange], left: Sequence[TextChange]) -> str:
    parts: list[str] = []
    if chosen:
        fence = _fence("".join(change.text for change in chosen))
        text = "".join(change.text for change in chosen)
        parts.append(f"\n## Unified diff of the generated trees\n\n{fence}diff\n{text}{fence}\n")
    if left:
        rows = sum(change.text.count("\n") for change in left)
        parts.append(
            f"\n_Cut to fit a comment: the diffs of {len(left):,} of {len(left) + len(chosen):,} files ({rows:,} lines), "
            "from the first that did not fit. The HTML and JSON pages have all of them._\n"
        )
    return "".join(parts)


def _fence(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


def _cut_rows(body: str, limit: int) -> str:
    said = "\n\n_Cut here to fit a comment. The HTML and JSON pages have everything._\n"
    return body[: limit - len(said)].rpartition("\n")[0] + said


def _environment(*, escaped: bool = False) -> Environment:
    environment = templates(Path(__file__).parent / "templates", escaped=escaped)
    environment.filters["cell"] = _cell
    environment.filters["code"] = _code
    return environment


def _cell(text: str) -> str:
    """One cell of a Markdown table, of a size that is read, with nothing that a browser takes for a tag."""
    flat = " ".join(text.split())
    return cell(html.escape(flat if len(flat) <= 300 else f"{flat[:299]}…", quote=False))


def _code(text: str) -> str:
    flat = cell(text)
    fence = "``" if "`" in flat else "`"
    space = " " if fence == "``" else ""
    return f"{fence}{space}{flat}{space}{fence}" if flat else ""
