"""Write all reports of one run into a folder, each file replaced at once."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shrinker.cache import Cache
from shrinker.program.saved import graph_data
from shrinker.program.symbols.saved import SymbolData, root_costs
from shrinker.program.written import Written
from shrinker.report import api, dependencies, summary
from shrinker.report.effects import QUESTIONABLE, RuleEffect, questionable_list, rule_effects
from shrinker.report.pages import readable, templates, write_files
from shrinker.report.retained import retained_data
from shrinker.report.summary import Measured, tally, total
from shrinker.report.verification import INDEX, index_page
from shrinker.ruleset import Ruleset
from shrinker.values.distributions import Distributions
from shrinker.values.edits import Cut
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import UNREACHABLE, Graph
from shrinker.values.interface import Entries, Interface
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree

_MOST_FOLDERS = 150
_MOST_KEPT = 20
_COUNTED = ("decisions", "folded_lines", "files", "lines", "kept")


@dataclass(frozen=True, slots=True)
class Made:
    """What a run made, as far as reports tell of it."""

    tree: UpstreamTree
    rules: Ruleset
    graph: Graph
    folded: Mapping[str, FoldedModule]
    """By path."""
    manifest: Manifest
    written: Written
    """Imports of all of upstream."""
    distributions: Distributions
    """What the generated package requires."""
    symbols: SymbolData
    evidence: Sequence[Evidence]
    interface: Interface = field(default_factory=Interface)
    """What the command lines and servers take and answer otherwise than upstream's."""
    lost: api.Lost = field(default_factory=dict)
    """Public names that kept modules have lost."""
    cuts: Mapping[str, Sequence[Cut]] = field(default_factory=dict)
    """Lines that went of files that are no Python, by path."""
    entries: Entries = field(default_factory=Entries)
    """Where the claims of the rules come in, and what became of flags."""
    cache: Cache = field(default_factory=Cache.off)
    """Results of earlier runs; what it found is counted in ``run.json``."""


def write_reports(folder: Path, made: Made, *, pages: bool = True) -> dict[str, Any]:
    """Write lists, pages, graph, symbols and the summary, which is returned; without `pages`, at which people look, only what a comparison of two
    trees reads is whole. Raises InputError when the folder, which is made if it is not there, cannot be written.
    """
    graph, folded, manifest, symbols = made.graph, made.folded, made.manifest, made.symbols
    # By themselves: these texts are large.
    write_files(folder, {"symbols.json": _compact(symbols.data), "symbol_edges.json": _compact(symbols.edges)})
    files = summary.measure(made.tree, manifest)
    effects = rule_effects(made.rules, graph, folded, files, made.cuts)
    gone = api.removed_definitions(made.tree, graph, made.cache) if pages else {}
    data = graph_data(
        graph,
        folded,
        profile=manifest.profile,
        upstream=manifest.upstream.spec,
        importers=dependencies.removed_importers(graph, folded, made.written),
        distributions=made.distributions,
        dropped=dependencies.dropped_importers(made.distributions, graph, folded),
    )
    data["decisions"] |= {path: [_row(cut) for cut in cuts] for path, cuts in made.cuts.items()}
    data |= {
        "absents": _absents(made.rules),
        "gone": api.definitions_data(gone),
        "roots": root_costs(made.rules),
        "tree": manifest.tree,
        "whys": {rule.id: rule.why for rule in made.rules.by_id().values()},
    }
    texts = {
        **summary.file_lists(graph, folded, files),
        "tuning.txt": summary.tuning_list(graph),
        "lines.txt": summary.lines_list(files),
        "dependencies.json": readable(dependencies.distributions_data(made.distributions)),
        "interface.json": readable(api.interface_data(made.interface, made.entries)),
        "rules.json": readable(_rules_data(made.rules, effects)),
    }
    if pages:
        data |= retained_data(data, {file.path: file.after for file in files if file.kept}, made.cache)
        page = api.api_page(made.tree, graph, made.lost, gone, made.written, made.rules)
        texts |= _pages(made, effects, files, page, data["retained"])
    counted = summary.build_summary(manifest, graph, folded, files, made.evidence)
    write_files(folder, {**texts, "graph.json": _compact(data), "summary.json": readable(counted)})
    return counted


def _row(cut: Cut) -> list[object]:
    """Lines of native code that go, in the form of a decision."""
    rule, why = ("+".join(cut.rules), "not defined") if cut.rules else (UNREACHABLE, "needed by nothing that is kept")
    return [cut.first, rule, "lines", cut.what, why, cut.last - cut.first + 1, cut.first, cut.last]


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n"


def finish_reports(
    folder: Path, cache: Cache, timings: Mapping[str, float], peak_memory: int, earlier: Path | None
) -> None:
    """Write what the run itself took, seconds by phase and bytes, to ``run.json`` alone, and the page to look at. Raises as `write_reports` does.

    Args:
        earlier: folder of reports with what levels found that no default run asks; None where nobody looks at pages.
    """
    run = {
        "phases_seconds": {name: round(seconds, 3) for name, seconds in timings.items()},
        "total_seconds": round(sum(timings.values()), 3),
        "peak_memory_bytes": peak_memory,
        "cache": {name: {"asked": c.asked, "found": c.found} for name, c in sorted(cache.counts.items())},
    }
    write_files(folder, {"run.json": readable(run, ordered=False)})
    if earlier is not None:
        write_files(folder, {QUESTIONABLE: questionable_list(folder)})
        write_files(folder, {INDEX: index_page(folder, earlier)})


def _pages(
    made: Made,
    effects: Sequence[RuleEffect],
    files: Sequence[Measured],
    public: api.ApiPage,
    retained: Mapping[str, Sequence[int]],
) -> dict[str, str]:
    graph, folded = made.graph, made.folded
    environment = templates()
    environment.globals |= {"upstream": made.manifest.upstream, "profile": made.manifest.profile}
    removed = [file for file in files if file.path in graph.removed]
    unreachable = [file for file in removed if graph.removed[file.path].rule == UNREACHABLE]
    # At most four folders deep, so that the page stays reviewable.
    folders = tally(unreachable, lambda file: "/".join(file.path.split("/")[:-1][:4]) or "(top)")
    pages: dict[str, dict[str, Any]] = {
        "REMOVED_FILES.md": {
            "total": total(files),
            "by_rule": tally(removed, lambda file: graph.removed[file.path].rule),
            "features": {rule.id: rule.feature for rule in made.rules.removes},
            "by_area": [t for t in tally(files, lambda file: file.area) if t.files_after < t.files_before],
            "folders": folders[:_MOST_FOLDERS],
            "more": len(folders) - _MOST_FOLDERS,
        },
        "DEPENDENCIES.md": {
            "page": dependencies.dependencies(graph, folded, files),
            "distributions": made.distributions,
            "chart": dependencies.picture(graph),
            "cycles": dependencies.cycles(graph),
            "retained": sorted(retained.items(), key=lambda row: (-row[1][1], row[0]))[:_MOST_KEPT],
        },
        "api.md": {"page": public},
        "interface.md": api.interface_groups(made.interface, made.entries, made.rules),
        "rules.md": {
            "effects": effects,
            "unreachable": total(unreachable),
            "enters": {claim.rule: "; ".join(claim.enters) for claim in made.entries.claims},
        },
    }
    return {name: environment.get_template(f"{name}.jinja").render(values) for name, values in pages.items()}


def _absents(rules: Ruleset) -> dict[str, dict[str, str]]:
    """What no machine or build has, by name: what each rule says of it."""
    said = [(name, (absent.id, "it is not installed")) for absent in rules.absents for name in absent.modules]
    said += [(macro, (rule, "no build defines it")) for macro, rule in rules.undefined.items()]
    return {name: dict(rows) for name, rows in grouped(said).items()}


def _rules_data(rules: Ruleset, effects: Sequence[RuleEffect]) -> dict[str, Any]:
    """Kind and hash of every rule: what a later run compares, to say which rule changed. And what each did, but for those that did nothing."""
    rows = {
        rule.id: [type(rule).__name__.lower(), hashlib.sha256(rule.model_dump_json().encode()).hexdigest()[:16]]
        for rule in rules.by_id().values()
    }
    active = [effect for effect in effects if not effect.idle]
    return {
        "format": 1,
        "profile": rules.profile,
        "rules": rows,
        "effects": {e.id: {name: count for name in _COUNTED if (count := getattr(e, name))} for e in active},
        "idle": [e.id for e in effects if e.idle],
        "wide": {e.id: e.wide for e in active if e.wide},
    }
