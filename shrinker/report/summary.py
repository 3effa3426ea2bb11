"""Files and lines before and after, each with its area and its language: counted in
``summary.json``, and in the table that the command line prints of it; and listed in reports of one
line a row, columns separated by tabs, all sorted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shrinker.program.nodes import suffix
from shrinker.syntax.ranges import count_lines
from shrinker.values.errors import ShrinkerError
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Graph
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX, UpstreamTree

if TYPE_CHECKING:
    from rich.table import Table

_SUFFIXES = {
    "Python": ("py", "pyi"),
    "CUDA": ("cu", "cuh"),
    "C++": ("c", "cc", "cpp", "h", "hpp", "inl", "cxx"),
    "Go": ("go",),
    "Rust": ("rs",),
    "JSON": ("json",),
    "templates": ("jinja", "jinja2"),
    "documents": ("md", "mdx", "rst", "ipynb"),
    "configuration": ("toml", "yaml", "yml", "cfg", "cmake"),
}
_LANGUAGES = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes}
CODE = ("Python", "C++", "CUDA")
"""Languages of what serves: the package, its kernels and their wrappers."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One upstream file, before and after."""

    path: str
    area: str
    language: str
    before: int
    """Lines; 0 for a binary file."""
    after: int
    kept: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over a group of files."""

    name: str
    files_before: int
    files_after: int
    lines_before: int
    lines_after: int

    @property
    def percent(self) -> str:
        """Lines left, in percent of the lines before."""
        return f"{100 * self.lines_after / self.lines_before:.1f} %" if self.lines_before else "-"

    @property
    def counts(self) -> dict[str, int]:
        """The sums by their names, for summary.json."""
        return {name: count for name, count in asdict(self).items() if name != "name"}


def build_summary(
    manifest: Manifest,
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    files: Sequence[Measured],
    evidence: Iterable[Evidence],
) -> dict[str, Any]:
    """Return everything countable about the tree; no times, no memory."""
    decisions = [decision for module in folded.values() for decision in module.decisions]
    touched = [file for file in manifest.files if file.changed and file.lines_before]
    package = [f for f in files if f.path.startswith(PACKAGE_PREFIX) and f.path.endswith(".py")]
    return {
        "format": 1,
        "upstream": asdict(manifest.upstream),
        "profile": manifest.profile,
        "rules_hash": manifest.rules_hash,
        "total": total(files).counts,
        "package_python": total(package).counts,
        "by_area": {row.name: row.counts for row in tally(files, lambda f: f.area)},
        "by_language": {row.name: row.counts for row in tally(files, lambda f: f.language)},
        "files_changed": sum(file.changed for file in manifest.files),
        # What folding did to the Python files that are kept. A changed file gains the line of its
        # header.
        "folding": {
            "conditions_decided": len(decisions),
            "files_touched": len(touched),
            "lines_removed": sum(file.lines_before - file.lines_after for file in touched),
        },
        "decisions": {
            "total": len(decisions),
            "by_kind": Counter(d.kind for d in decisions),
            "by_rule": Counter(rule for d in decisions for rule in d.rules),
        },
        "edges": Counter(edge.kind for edge in graph.edges),
        "removed_by_rule": Counter(removal.rule for removal in graph.removed.values()),
        "uncertain": len(graph.uncertain),
        "evidence": [
            {"level": item.level, "passed": item.passed, "checks": dict(item.checks)}
            | {kind: len(getattr(item, kind)) for kind in ("findings", "inherited", "open")}
            for item in evidence
        ],
    }


def summary_table(summary: Mapping[str, Any]) -> "Table":
    """Return the figures of one run as a table for the terminal."""
    from rich.table import Table

    languages = sorted(
        summary["by_language"].items(), key=lambda item: (-item[1]["lines_before"], item[0])
    )
    table = Table(
        title=f"{summary['upstream']['spec']}, profile {summary['profile']}", title_justify="left"
    )
    for name in ("", "files", "lines", "after", "kept %"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    whole = {"whole tree": summary["total"], "Python of the package": summary["package_python"]}
    for section in (whole, dict(languages[:6])):
        for label, row in section.items():
            t = Tally(label, **row)
            files = f"{t.files_before:,} → {t.files_after:,}"
            table.add_row(label, files, f"{t.lines_before:,}", f"{t.lines_after:,}", t.percent)
        table.add_section()
    folding = summary["folding"]
    table.add_row("conditions decided", f"{folding['conditions_decided']:,}")
    table.add_row("lines removed by folding", f"{folding['lines_removed']:,}")
    table.add_row("files touched by folding", f"{folding['files_touched']:,}")
    table.add_row("uncertain", f"{summary['uncertain']:,}")
    for item in summary["evidence"]:
        outcome = "passed" if item["passed"] else f"FAILED: {item['findings']:,} findings"
        beside = f"{item['open']:,} open" if item["open"] else f"{item['inherited']:,} as upstream"
        table.add_row(
            f"evidence: {item['level']}",
            outcome,
            f"{sum(item['checks'].values()):,} checked",
            beside,
        )
    return table


def measure(tree: UpstreamTree, manifest: Manifest) -> list[Measured]:
    """Measure every file of the tree, in its order.

    Files that shrinker itself writes are no upstream files.
    """
    emitted = {file.path: (file.lines_before, file.lines_after, True) for file in manifest.files}
    return [
        Measured(
            path,
            area(path),
            language(path),
            *(emitted.get(path) or (count_lines(tree.read(path)), 0, False)),
        )
        for path in (file.path for file in tree.files)
    ]


def area(path: str) -> str:
    """Return first folder below ``python/sglang/srt`` or ``python/sglang``; outside the package the
    first folder.
    """
    rest = path.removeprefix(PACKAGE_PREFIX)
    parts = rest.split("/")
    if rest == path:
        return parts[0] + "/" if len(parts) > 1 else "(top)"
    if parts[0] == "srt":
        return f"srt/{parts[1]}" if len(parts) > 2 else "srt"
    return f"sglang/{parts[0]}" if len(parts) > 1 else "sglang"


def language(path: str) -> str:
    """Language by suffix; ``other`` for what has none in the table."""
    return _LANGUAGES.get(suffix(path), "other")


def tally(files: Iterable[Measured], key: Callable[[Measured], str]) -> list[Tally]:
    """Sums by key, the largest before first."""
    sums = (
        Tally(
            name,
            len(each),
            sum(f.kept for f in each),
            sum(f.before for f in each),
            sum(f.after for f in each),
        )
        for name, each in grouped((key(file), file) for file in files).items()
    )
    return sorted(sums, key=lambda t: (-t.lines_before, t.name))


def total(files: Iterable[Measured]) -> Tally:
    """Return the sum of all."""
    return next(iter(tally(files, lambda _: "total")), Tally("total", 0, 0, 0, 0))


def file_lists(
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    files: Sequence[Measured],
    unread: Mapping[str, str],
) -> dict[str, str]:
    """By file name the lists of what stays and what goes, in which each file of upstream stands
    once.

    ``keep.txt`` and ``remove.txt``; ``not_source.txt`` for what is read of no source;
    ``uncertain.txt``, whose paths have a line where it is not the whole file; and ``errors.txt``,
    which has the statements that became the named error of a removed feature, by upstream's lines.
    Raises ShrinkerError: a file of upstream is in no list.
    """
    if unsaid := [file.path for file in files if not file.kept and file.path not in graph.removed]:
        raise ShrinkerError(
            f"{unsaid[0]} is neither kept nor removed", "report this as a defect of shrinker"
        )
    kept = (
        (f.path, f.before, f.after, graph.kept.get(f.path, "written by a rule"))
        for f in files
        if f.kept
    )
    gone = ((f.path, f.before, graph.removed[f.path]) for f in files if f.path in graph.removed)
    removed = ((path, lines, removal.rule, removal.reason) for path, lines, removal in gone)
    uncertain = (
        (f"{u.path}:{u.line}" if u.line else u.path, " ".join(u.reason.split()))
        for u in graph.uncertain
    )
    errors = (
        (f"{path}:{decision.line}", decision.rule, " ".join(decision.text.split()))
        for path, module in sorted(folded.items())
        for decision in sorted(module.decisions, key=lambda d: d.line)
        if decision.outcome == "raises"
    )
    return {
        "keep.txt": text_rows("path\tlines before\tlines after\tfirst reason", kept),
        "remove.txt": text_rows("path\tlines\trule\treason", removed),
        "uncertain.txt": text_rows("path\treason", uncertain),
        "not_source.txt": text_rows("path\twhy it is not read", sorted(unread.items())),
        "errors.txt": text_rows("path\trule\tstatement that is now the named error", errors),
    }


def tuning_list(graph: Graph) -> str:
    """Card, shape and what else the name says, and rule, of each tuning table that is gone: the
    kernel then takes its default there.
    """
    rows: set[tuple[str, ...]] = set()
    for path, removal in graph.removed.items():
        shape, found, rest = (
            path.rpartition("/")[2].removesuffix(".json").partition(",device_name=")
        )
        if found:
            card, _, more = rest.partition(",")
            rows.add((card, shape, more, removal.rule))
    return text_rows("card\tshape\ttype\trule", sorted(rows))


def lines_list(files: Sequence[Measured]) -> str:
    """Return folder, language, files and lines before and after; first the sums: of a language, and
    of Python, C++ and CUDA together.
    """
    groups = (
        *tally(
            (file for file in files if file.language in CODE),
            lambda file: f"all\t{', '.join(CODE)}",
        ),
        *tally(files, lambda file: f"all\t{file.language}"),
        *sorted(
            tally(files, lambda file: f"{file.area}\t{file.language}"), key=lambda row: row.name
        ),
    )
    rows = ((row.name, *row.counts.values()) for row in groups)
    return text_rows("folder\tlanguage\tfiles before\tfiles after\tlines before\tlines after", rows)


def text_rows(head: str, rows: Iterable[Iterable[object]]) -> str:
    """Return a report of one line a row."""
    return "".join(
        f"{line}\n" for line in (f"# {head}", *("\t".join(map(str, row)) for row in rows))
    )
