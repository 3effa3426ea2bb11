"""The tables of a comparison, in the order in which a reviewer reads them: what Markdown and HTML both print."""

from collections.abc import Iterator
from dataclasses import dataclass

from shrinker.report.diff.values import Review, Row

_EXPLAINED = ("upstream", "shrinker")
COMMITS = "commits"


@dataclass(frozen=True, slots=True)
class Table:
    """How one table of a review is printed."""

    title: str
    columns: str
    """Its headings, each with the part of a row that stands below it."""
    first: bool | None = False
    """Whether a reviewer looks at it first; None: at the rows that upstream's own diff does not explain."""
    intro: str = ""


_FILES = "file:subject lines:after why commits"
_SYMBOLS = "symbol:subject kind:before where why commits"
_OFFERED = "what:subject change:kind before after where why"
TABLES = {
    "rules": Table("Rules that changed", "rule:subject what:kind kind:after why", True),
    "uncertain": Table(
        "Uncertain on one side only",
        "file:subject what:kind where why",
        True,
        "What stays because it could not be decided, a file that a rule removes and that something needs, for example.",
    ),
    "kept": Table("Files newly kept", _FILES, None),
    "removed": Table("Files newly removed", _FILES, None),
    "symbols_kept": Table("Symbols newly kept, in files that stay", _SYMBOLS, None),
    "symbols_removed": Table("Symbols newly removed, in files that stay", _SYMBOLS, None),
    "decisions": Table(
        "Conditions that are decided otherwise",
        "condition:subject before after where why",
        None,
        "Those come first that have another outcome or another rule than before, or stand in a file that upstream did not change.",
    ),
    "changed": Table("Changed files", _FILES, None),
    "risks": Table(
        "New risks",
        "code:subject what:kind where in:after why",
        True,
        "Places where code computes what it names, runs or loads, and questions about platforms that no rule names.",
    ),
    "growth": Table("Lines by folder", "folder:subject change:kind before after"),
    "flags": Table("Command lines", _OFFERED),
    "endpoints": Table("Endpoints, and fields of requests and answers", _OFFERED),
    "dependencies": Table("Dependencies", _OFFERED),
    "data": Table("Data tables", _OFFERED),
    "kernels": Table("Kernels", _OFFERED),
    "commits": Table("Upstream's commits that touched these trees", f"{COMMITS}:subject subject:before files:after"),
}


@dataclass(frozen=True, slots=True)
class Section:
    """One table as it is printed."""

    title: str
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    """Of each row; the first of them is code."""
    rows: tuple[Row, ...]
    intro: str
    first: bool
    """What upstream's own diff does not explain."""


def sections(review: Review, first: bool) -> Iterator[Section]:
    """The tables that have rows: of what upstream's own diff does not explain (`first`), or of all else."""
    for name, table in TABLES.items():
        rows = tuple(row for row in review.table(name) if _is_first(table, row) is first)
        if rows:
            heads, fields = zip(*(column.partition(":")[::2] for column in table.columns.split()), strict=True)
            cells = tuple(
                tuple(_cell(row, field or head) for head, field in zip(heads, fields, strict=True)) for row in rows
            )
            yield Section(table.title, heads, cells, rows, table.intro, first)


def _is_first(table: Table, row: Row) -> bool:
    return row.reason.cause not in _EXPLAINED if table.first is None else table.first


def _cell(row: Row, field: str) -> str:
    match field:
        case "why":
            return row.reason.text
        case "commits":
            return ", ".join(row.commits)
    return str(getattr(row, field))
