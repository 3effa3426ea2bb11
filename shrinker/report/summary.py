"""``summary.json`` and the table that the command line prints of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shrinker.report.measure import Measured, Tally, as_json, tally
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence
from shrinker.values.upstream import PACKAGE_PREFIX

if TYPE_CHECKING:
    from rich.table import Table

FORMAT = 1


def build_summary(
    manifest: Manifest, graph: Graph, folded: Mapping[str, FoldedModule], files: Sequence[Measured]
) -> dict[str, Any]:
    """Everything countable about the tree; no evidence, no times, no memory."""
    decisions = [decision for module in folded.values() for decision in module.decisions]
    package = [f for f in files if f.path.startswith(PACKAGE_PREFIX) and f.path.endswith(".py")]
    return {
        "format": FORMAT,
        "upstream": asdict(manifest.upstream),
        "profile": manifest.profile,
        "rules_hash": manifest.rules_hash,
        "total": as_json(_one(files, "total"))["total"],
        "package_python": as_json(_one(package, "package"))["package"],
        "by_area": as_json(tally(files, lambda f: f.area)),
        "by_language": as_json(tally(files, lambda f: f.language)),
        "files_changed": sum(file.changed for file in manifest.files),
        "folding": _folding(manifest, len(decisions)),
        "decisions": {
            "total": len(decisions),
            "by_kind": _counts(d.kind for d in decisions),
            "by_rule": _counts(rule for d in decisions for rule in d.rules),
        },
        "edges": _counts(edge.kind for edge in graph.edges),
        "removed_by_rule": _counts(removal.rule for removal in graph.removed.values()),
        "uncertain": len(graph.uncertain),
    }


def evidence_data(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """What each level looked at and found, counted."""
    return [
        {
            "level": item.level,
            "passed": item.passed,
            "checks": dict(item.checks),
            "findings": len(item.findings),
            "inherited": len(item.inherited),
            "open": len(item.open),
        }
        for item in evidence
    ]


def summary_table(summary: Mapping[str, Any]) -> Table:
    """The figures of one run as a table for the terminal."""
    from rich.table import Table

    identity = summary["upstream"]
    table = Table(title=f"{identity['spec']}, profile {summary['profile']}", title_justify="left")
    for name in ("", "files", "lines", "after", "kept %"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    for label, key in (("whole tree", "total"), ("Python of the package", "package_python")):
        row = summary[key]
        _row(table, label, row)
    table.add_section()
    for name, row in sorted(summary["by_language"].items(), key=lambda item: (-item[1]["lines_before"], item[0]))[:6]:
        _row(table, name, row)
    table.add_section()
    folding = summary["folding"]
    table.add_row("conditions decided", f"{folding['conditions_decided']:,}")
    table.add_row("lines removed by folding", f"{folding['lines_removed']:,}")
    table.add_row("files touched by folding", f"{folding['files_touched']:,}")
    table.add_row("uncertain", f"{summary['uncertain']:,}")
    for item in summary["evidence"]:
        looked = sum(item["checks"].values())
        outcome = "passed" if item["passed"] else f"FAILED: {item['findings']:,} findings"
        beside = f"{item['open']:,} open" if item["open"] else f"{item['inherited']:,} as upstream"
        table.add_row(f"evidence: {item['level']}", outcome, f"{looked:,} checked", beside)
    return table


def _folding(manifest: Manifest, decisions: int) -> dict[str, int]:
    """What folding did to the Python files that are kept. A changed file gains the line of its header."""
    touched = [file for file in manifest.files if file.changed and file.lines_before]
    return {
        "conditions_decided": decisions,
        "files_touched": len(touched),
        "lines_removed": sum(file.lines_before - file.lines_after for file in touched),
    }


def _row(table: Table, label: str, row: Mapping[str, int]) -> None:
    left = f"{100 * row['lines_after'] / row['lines_before']:.1f} %" if row["lines_before"] else "-"
    files = f"{row['files_before']:,} → {row['files_after']:,}"
    table.add_row(label, files, f"{row['lines_before']:,}", f"{row['lines_after']:,}", left)


def _one(files: Sequence[Measured], name: str) -> list[Tally]:
    return tally(files, lambda _: name) or [Tally(name, 0, 0, 0, 0)]


def _counts(items: Any) -> dict[str, int]:
    return dict(sorted(Counter(items).items()))
