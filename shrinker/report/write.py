"""Write all reports of one run into a folder, each file replaced at once."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shrinker.cache import Cache
from shrinker.check.trees import Trees
from shrinker.emit.tree import Emitted
from shrinker.program.decided import Analysis
from shrinker.program.saved import graph_data
from shrinker.program.symbols.saved import root_costs
from shrinker.report import api, dependencies, summary
from shrinker.report.effects import QUESTIONABLE, RuleEffect, questionable, rule_effects
from shrinker.report.fit import Fit
from shrinker.report.place import readable, render, write_files
from shrinker.report.retained_sizes import retained_data
from shrinker.report.summary import Measured, tally, text_rows, total
from shrinker.ruleset import Ruleset
from shrinker.values.edits import Cut
from shrinker.values.graph import UNREACHABLE, Graph
from shrinker.values.interface import Entries
from shrinker.values.outcome import Evidence
from shrinker.values.relations import grouped

_MOST_FOLDERS = 150
_MOST_KEPT = 20
_COUNTED = ("decisions", "folded_lines", "files", "lines", "kept")


def write_reports(
    folder: Path,
    trees: Trees,
    analysis: Analysis,
    emitted: Emitted,
    evidence: Sequence[Evidence],
    entries: Entries,
    fit: Fit | None,
    *,
    pages: bool = True,
) -> dict[str, Any]:
    """Write lists, pages, graph, symbols and the summary, which is returned; without `pages`, at
    which people look, only what a comparison of two trees reads is whole. Raises InputError when
    the folder, which is made if it is not there, cannot be written.
    """
    tree, rules, manifest, graph, folded = (
        trees.source,
        trees.stated,
        trees.manifest,
        analysis.graph,
        analysis.folded,
    )
    # By themselves: these texts are large.
    symbols, required = analysis.symbols, analysis.distributions
    write_files(
        folder,
        {"symbols.json": _compact(symbols), "symbol_edges.json": _compact(analysis.symbol_edges)},
    )
    files = summary.measure(tree, manifest)
    effects = rule_effects(rules, graph, folded, files, analysis.cuts)
    gone = api.removed_definitions(tree, graph, trees.cache) if pages else {}
    data = graph_data(
        graph,
        folded,
        importers=dependencies.removed_importers(graph, folded, analysis.written),
        distributions=required,
        dropped=dependencies.importers(
            {row.name: row.importers for row in required.rows}, graph, folded
        ),
    )
    data["decisions"] |= {path: [_row(cut) for cut in cuts] for path, cuts in analysis.cuts.items()}
    data |= {
        "absents": _absents(rules),
        "gone": api.definitions_data(gone),
        "profile": manifest.profile,
        "roots": root_costs(rules),
        "tree": manifest.tree,
        "upstream": manifest.upstream.spec,
        "whys": {rule.id: rule.why for rule in rules.by_id().values()},
    }
    ruled = _rules_data(rules, effects)
    texts = {
        **summary.file_lists(graph, folded, files, tree.unread),
        "tuning.txt": summary.tuning_list(graph),
        "lines.txt": summary.lines_list(files),
        "dependencies.json": readable(dependencies.distributions_data(required)),
        "interface.json": readable(api.interface_data(emitted.interface, entries)),
        "rules.json": readable(ruled),
    }
    if pages:
        data |= retained_data(
            data, {file.path: file.after for file in files if file.kept}, trees.cache
        )
        unreachable = [
            f
            for f in files
            if f.path in graph.removed and graph.removed[f.path].rule == UNREACHABLE
        ]
        told = {
            "REMOVED_FILES.md": _removed_page(graph, rules, files, unreachable),
            "DEPENDENCIES.md": {
                "page": dependencies.dependencies(graph, folded, files),
                "distributions": required,
                "chart": dependencies.picture(graph),
                "cycles": dependencies.cycles(graph),
                "retained": sorted(data["retained"].items(), key=lambda row: (-row[1][1], row[0]))[
                    :_MOST_KEPT
                ],
            },
            "api.md": {
                "page": api.api_page(tree, graph, emitted.lost, gone, analysis.written, rules)
            },
            "interface.md": api.interface_groups(emitted.interface, entries, rules),
            "rules.md": {
                "effects": effects,
                "unreachable": total(unreachable),
                "enters": {claim.rule: "; ".join(claim.enters) for claim in entries.claims},
            },
        }
        shared = {"upstream": manifest.upstream, "profile": manifest.profile}
        texts |= {
            name: render(f"{name}.jinja", **shared, **values) for name, values in told.items()
        }
        texts[QUESTIONABLE] = text_rows(
            "definition or rule\tlines\twhy to ask", questionable(symbols, ruled)
        )
    counted = summary.build_summary(manifest, graph, folded, files, evidence)
    counted |= {"fit": fit.as_data()} if fit is not None else {}
    write_files(folder, {**texts, "graph.json": _compact(data), "summary.json": readable(counted)})
    return counted


def write_run(folder: Path, cache: Cache, timings: Mapping[str, float], peak_memory: int) -> None:
    """Write what the run itself took, seconds by phase and bytes, to ``run.json`` alone.

    Raises as `write_reports` does.
    """
    run = {
        "phases_seconds": {name: round(seconds, 3) for name, seconds in timings.items()},
        "total_seconds": round(sum(timings.values()), 3),
        "peak_memory_bytes": peak_memory,
        "cache": {
            name: {"asked": c.asked, "found": c.found} for name, c in sorted(cache.counts.items())
        },
    }
    write_files(folder, {"run.json": readable(run, ordered=False)})


def _row(cut: Cut) -> list[object]:
    """Return lines of native code that go, in the form of a decision."""
    rule, why = (
        ("+".join(cut.rules), "not defined")
        if cut.rules
        else (UNREACHABLE, "needed by nothing that is kept")
    )
    return [cut.first, rule, "lines", cut.what, why, cut.last - cut.first + 1, cut.first, cut.last]


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n"


def _removed_page(
    graph: Graph, rules: Ruleset, files: Sequence[Measured], unreachable: Iterable[Measured]
) -> dict[str, Any]:
    removed = (file for file in files if file.path in graph.removed)
    # At most four folders deep, so that the page stays reviewable.
    folders = tally(unreachable, lambda file: "/".join(file.path.split("/")[:-1][:4]) or "(top)")
    return {
        "total": total(files),
        "by_rule": tally(removed, lambda file: graph.removed[file.path].rule),
        "features": {rule.id: rule.feature for rule in rules.removes},
        "by_area": [
            t for t in tally(files, lambda file: file.area) if t.files_after < t.files_before
        ],
        "folders": folders[:_MOST_FOLDERS],
        "more": len(folders) - _MOST_FOLDERS,
    }


def _absents(rules: Ruleset) -> dict[str, dict[str, str]]:
    """Return what no machine or build has, by name: what each rule says of it."""
    said = [
        (name, (absent.id, "it is not installed"))
        for absent in rules.absents
        for name in absent.modules
    ]
    said += [(macro, (rule, "no build defines it")) for macro, rule in rules.undefined.items()]
    return {name: dict(rows) for name, rows in grouped(said).items()}


def _rules_data(rules: Ruleset, effects: Sequence[RuleEffect]) -> dict[str, Any]:
    """Kind and hash of every rule: what a later run compares, to say which rule changed.

    And what each did, but for those that did nothing.
    """
    rows = {
        rule.id: [
            type(rule).__name__.lower(),
            hashlib.sha256(rule.model_dump_json().encode()).hexdigest()[:16],
        ]
        for rule in rules.by_id().values()
    }
    active = [effect for effect in effects if not effect.idle]
    return {
        "format": 1,
        "profile": rules.profile,
        "rules": rows,
        "effects": {
            e.id: {name: count for name in _COUNTED if (count := getattr(e, name))} for e in active
        },
        "idle": [e.id for e in effects if e.idle],
        "wide": {e.id: e.wide for e in active if e.wide},
    }
