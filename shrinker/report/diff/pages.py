"""The comparison as Markdown for a comment, as HTML with everything, and as JSON."""

import base64
import html
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jinja2 import Environment

from shrinker.report.diff.sections import sections
from shrinker.report.diff.values import FORMAT, Review, TextChange
from shrinker.report.pages import cell, templates
from shrinker.syntax.lines import one_line

COMMENT_LIMIT = 65_536
"""Characters that GitHub takes in one comment."""
_ROWS = (10_000, 400, 200, 100, 50, 25, 12, 6, 3)
_CUT = "\n\n_Cut here to fit a comment. The HTML and JSON pages have everything._\n"
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
        return body[: limit - len(_CUT)].rpartition("\n")[0] + _CUT
    chosen, left = _fitting(review.text, limit - len(body) - _MARGIN if limit else None)
    page = body + _text_section(chosen, left)
    assert not limit or len(page) <= limit, "the margin holds what was cut"
    return page


def page(review: Review, repository: str = "") -> str:
    """One HTML page with everything, chains and the whole diff included.

    Args:
        repository: address of upstream's; commits, pull requests and files link to it.
    """
    head = _head(review)
    shown = [
        {"title": section.title, "columns": section.columns, "intro": section.intro, "first": section.first}
        | {
            "rows": [
                (cells, row.fate, row.reason.cause, row.path, row.line, row.upstream, row.reason.chain)
                for cells, row in zip(section.cells, section.rows, strict=True)
            ]
        }
        for section in (*head["first"], *head["rest"])
    ]
    commits = {row.path: row.commits for name in ("kept", "removed", "changed") for row in review.table(name)}
    data = {
        "sections": shown,
        "files": [[change.path, change.text, commits.get(change.path, ())] for change in review.text],
        "risks": sorted({(row.path, row.kind) for row in review.table("risks")}),
        "refs": [review.old.reference, review.new.reference],
        "repository": repository,
    }
    # The text of the trees is nine tenths of the page; a browser unpacks it in a moment.
    packed = base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode(), 9))
    template = _environment(escaped=True).get_template("review.html.jinja")
    return template.render(head, packed=packed.decode())


def _head(review: Review) -> dict[str, Any]:
    moved = {name: review.table(name) for name in ("kept", "removed", "symbols_kept", "symbols_removed")}
    return {
        "review": review,
        "first": [*sections(review, True)],
        "rest": [*sections(review, False)],
        "counts": {name: len(rows) for name, rows in {**moved, "changed": review.table("changed")}.items()},
        "causes": Counter(row.reason.cause for rows in moved.values() for row in rows),
    }


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
        text, fence = "".join(change.text for change in chosen), "```"
        while fence in text:
            fence += "`"
        parts.append(f"\n## Unified diff of the generated trees\n\n{fence}diff\n{text}{fence}\n")
    if left:
        rows = sum(change.text.count("\n") for change in left)
        parts.append(
            f"\n_Cut to fit a comment: the diffs of {len(left):,} of {len(left) + len(chosen):,} files ({rows:,} lines), "
            "from the first that did not fit. The HTML and JSON pages have all of them._\n"
        )
    return "".join(parts)


def _environment(*, escaped: bool = False) -> Environment:
    environment = templates(Path(__file__).parent / "templates", escaped=escaped)
    environment.filters["cell"] = _cell
    environment.filters["code"] = _code
    return environment


def _cell(text: str) -> str:
    """One cell of a Markdown table, of a size that is read, with nothing that a browser takes for a tag."""
    return cell(html.escape(one_line(text, 300), quote=False))


def _code(text: str) -> str:
    flat = cell(text)
    fence = "``" if "`" in flat else "`"
    space = " " if fence == "``" else ""
    return f"{fence}{space}{flat}{space}{fence}" if flat else ""
