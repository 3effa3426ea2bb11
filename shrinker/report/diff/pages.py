"""The comparison as Markdown for a comment, as HTML with everything, and as JSON: its tables, in
the order in which a reviewer reads them.
"""

import base64
import html
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args

from jinja2 import Environment

from shrinker.report.diff.values import Cause, Review, Row, TextChange
from shrinker.report.place import cell, templates
from shrinker.syntax.ranges import one_line

COMMENT_LIMIT = 65_536
"""Characters that GitHub takes in one comment."""
_ROWS = (10_000, 400, 200, 100, 50, 25, 12, 6, 3)
_CUT = "\n\n_Cut here to fit a comment. The HTML and JSON pages have everything._\n"
_MARGIN = 400
"""For the sentence that says what was cut."""
_EXPLAINED: tuple[Cause, ...] = ("upstream", "shrinker")
"""By upstream's own diff."""


@dataclass(frozen=True, slots=True)
class Table:
    """How one table of a review is printed."""

    title: str
    columns: str
    """Its headings, each with the part of a row that stands below it."""
    later: Collection[Cause] = get_args(Cause)
    """Causes of the rows that a reviewer need not look at first."""
    intro: str = ""


_FILES = "file:subject lines:after why:reason.text commits"
_SYMBOLS = "symbol:subject kind:before where why:reason.text commits"
_OFFERED = "what:subject change:kind before after where why:reason.text"
TABLES = {
    "rules": Table("Rules that changed", "rule:subject what:kind kind:after why:reason.text", ()),
    "uncertain": Table(
        "Uncertain on one side only",
        "file:subject what:kind where why:reason.text",
        (),
        (
            "What stays because it could not be decided, a file that a rule removes and that "
            "something needs, for example."
        ),
    ),
    "kept": Table("Files newly kept", _FILES, _EXPLAINED),
    "removed": Table("Files newly removed", _FILES, _EXPLAINED),
    "symbols_kept": Table("Symbols newly kept, in files that stay", _SYMBOLS, _EXPLAINED),
    "symbols_removed": Table("Symbols newly removed, in files that stay", _SYMBOLS, _EXPLAINED),
    "decisions": Table(
        "Conditions that are decided otherwise",
        "condition:subject before after where why:reason.text",
        _EXPLAINED,
        (
            "Those come first that have another outcome or another rule than before, or stand in "
            "a file that upstream did not change."
        ),
    ),
    "changed": Table("Changed files", _FILES, _EXPLAINED),
    "risks": Table(
        "New risks",
        "code:subject what:kind where in:after why:reason.text",
        (),
        (
            "Places where code computes what it names, runs or loads, and questions about "
            "platforms that no rule names."
        ),
    ),
    "growth": Table("Lines by folder", "folder:subject change:kind before after"),
    "flags": Table("Command lines", _OFFERED),
    "endpoints": Table("Endpoints, and fields of requests and answers", _OFFERED),
    "dependencies": Table("Dependencies", _OFFERED),
    "data": Table("Data tables", _OFFERED),
    "kernels": Table("Kernels", _OFFERED),
    "commits": Table(
        "Upstream's commits that touched these trees", "commits:subject subject:before files:after"
    ),
}


def _sections(review: Review, first: bool) -> list[dict[str, Any]]:
    """Return the tables that have rows, as the templates and the script read them: of what
    upstream's own diff does not explain (`first`), or of all else. The first cell of a row is its
    subject, which is code.
    """
    found: list[dict[str, Any]] = []
    for name, table in TABLES.items():
        columns, rows = [column.partition(":") for column in table.columns.split()], []
        for row in (
            row for row in review.table(name) if (row.reason.cause not in table.later) is first
        ):
            cells = [_cell_of(row, field or head) for head, _, field in columns]
            rows.append(
                (
                    cells,
                    row.fate,
                    row.reason.cause,
                    row.path,
                    row.line,
                    row.upstream,
                    row.reason.chain,
                )
            )
        if rows:
            told = {
                "title": table.title,
                "columns": [head for head, *_ in columns],
                "intro": table.intro,
            }
            found.append({**told, "first": first, "rows": rows})
    return found


def _cell_of(row: Row, field: str) -> str:
    found = attrgetter(field)(row)
    return ", ".join(found) if isinstance(found, tuple) else str(found)


def review_json(review: Review) -> dict[str, Any]:
    """Return the content of ``--json``; nothing is cut."""
    return {
        "format": 2,
        "different": review.different,
        **{f.name: getattr(review, f.name) for f in fields(review)},
    }


def markdown(review: Review, limit: int = COMMENT_LIMIT) -> str:
    """Return the page for a comment: what exceeds a limit in characters (0: none) is left out from
    the end, and what was is said.
    """
    template = _environment().get_template("review.md.jinja")
    body, head = "", _head(review)
    for most in _ROWS:
        body = template.render(head, most=most)
        if not limit or len(body) + _MARGIN <= limit:
            break
    else:
        return body[: limit - len(_CUT)].rpartition("\n")[0] + _CUT
    page = body + _text_section(review.text, limit - len(body) - _MARGIN if limit else None)
    assert not limit or len(page) <= limit, "the margin holds what was cut"
    return page


def page(review: Review, repository: str = "") -> str:
    """Return one HTML page with everything, chains and the whole diff included; commits, pull
    requests and files link to upstream's repository.
    """
    head = _head(review)
    commits = {
        row.path: row.commits
        for name in ("kept", "removed", "changed")
        for row in review.table(name)
    }
    data = {
        "sections": [*head["first"], *head["rest"]],
        "files": [
            [change.path, change.text, commits.get(change.path, ())] for change in review.text
        ],
        "risks": sorted({(row.path, row.kind) for row in review.table("risks")}),
        "refs": [review.old.reference, review.new.reference],
        "repository": repository,
    }
    # The text of the trees is nine tenths of the page; a browser unpacks it in a moment.
    packed = base64.b64encode(
        zlib.compress(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode(), 9)
    )
    template = _environment(escaped=True).get_template("review.html.jinja")
    return template.render(head, packed=packed.decode())


def _head(review: Review) -> dict[str, Any]:
    moved = {
        name: review.table(name) for name in ("kept", "removed", "symbols_kept", "symbols_removed")
    }
    return {
        "review": review,
        "first": _sections(review, True),
        "rest": _sections(review, False),
        "counts": {
            name: len(rows) for name, rows in {**moved, "changed": review.table("changed")}.items()
        },
        "causes": Counter(row.reason.cause for rows in moved.values() for row in rows),
    }


def _text_section(changes: Sequence[TextChange], space: int | None) -> str:
    """As many diffs as fit, in their order; a large one is left out rather than all behind it, and
    what was left out is said.
    """
    chosen, left = list[str](), list[str]()
    for text in (change.text for change in changes):
        size = len(text) + 20
        fits = space is None or size <= space
        (chosen if fits else left).append(text)
        if space is not None and fits:
            space -= size
    # Longer than any in the text.
    fence = "`" * max([3, *(len(run) + 1 for text in chosen for run in re.findall("`+", text))])
    return (
        _environment().get_template("text.md.jinja").render(chosen=chosen, left=left, fence=fence)
    )


def _environment(*, escaped: bool = False) -> Environment:
    environment = templates(Path(__file__).parent / "templates", escaped=escaped)
    environment.filters["cell"] = _cell
    environment.filters["code"] = _code
    return environment


def _cell(text: str) -> str:
    """Return one cell of a Markdown table, of a size that is read, with nothing that a browser
    takes for a tag.
    """
    return cell(html.escape(one_line(text, 300), quote=False))


def _code(text: str) -> str:
    flat = cell(text)
    fence, space = ("``", " ") if "`" in flat else ("`", "")
    return f"{fence}{space}{flat}{space}{fence}" if flat else ""
