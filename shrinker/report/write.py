"""Write all reports of one run into a folder, each file replaced at once."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shrinker.cache import Cache
from shrinker.program.nodes import module_node
from shrinker.program.saved import graph_data
from shrinker.program.symbols.saved import NO_SYMBOLS, SymbolData, symbol_data
from shrinker.program.written import Written
from shrinker.report.api import ApiPage, Lost, api_page, definitions_data, removed_definitions
from shrinker.report.dependencies import dependencies
from shrinker.report.distributions import distributions_data, extras_text
from shrinker.report.effects import RuleEffect, rule_effects
from shrinker.report.importers import dropped_importers, removed_importers
from shrinker.report.interface import interface_data
from shrinker.report.lists import errors_list, keep_list, remove_list, uncertain_list
from shrinker.report.measure import Measured, Tally, measure, tally
from shrinker.report.picture import graphviz_svg, mermaid, package_edges
from shrinker.report.structure import cycles, dominators, structure
from shrinker.report.summary import build_summary, evidence_data
from shrinker.ruleset import Remove, Ruleset
from shrinker.values.distributions import Distributions
from shrinker.values.entries import Entries
from shrinker.values.errors import InputError
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import UNREACHABLE, Graph
from shrinker.values.interface import Interface
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence
from shrinker.values.upstream import UpstreamTree

GENERATED_ONLY = ("graph.json", "symbols.json", "symbol_edges.json", "run.json", "dependencies.svg")
"""Files that git ignores: large, different from run to run, or dependent on what is installed."""

_MOST_FOLDERS = 150
_COUNTED = ("decisions", "folded_lines", "files", "lines", "kept")


@dataclass(frozen=True, slots=True)
class Begun:
    """Reports of which all is written that does not wait for the evidence."""

    folder: Path
    summary: dict[str, Any]
    """Without evidence."""
    cache: Cache


def begin_reports(
    folder: Path,
    tree: UpstreamTree,
    rules: Ruleset,
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    manifest: Manifest,
    cache: Cache | None = None,
    *,
    written: Written,
    distributions: Distributions,
    interface: Interface | None = None,
    lost: Lost | None = None,
    entries: Entries | None = None,
) -> Begun:
    """Write lists, pages and graph.

    Args:
        folder: made if it is not there, e.g. ``reports/deepseek``.
        folded: folded modules by path, as `build_graph` returns them.
        cache: results of earlier runs; what it found is counted in ``run.json``.
        written: imports of all of upstream.
        distributions: what the generated package requires.
        interface: what the command lines and servers take and answer otherwise than upstream's; by default nothing.
        lost: public names that kept modules have lost; by default none.
        entries: where the claims of the rules come in, and what became of flags; by default nothing.

    Returns:
        What `finish_reports` goes on with.

    Raises:
        InputError: the folder cannot be written.
    """
    cache = cache or Cache.off()
    interface = interface or Interface()
    entries = entries or Entries()
    files = measure(tree, manifest)
    effects = rule_effects(rules, graph, folded, files)
    summary = build_summary(manifest, graph, folded, files)
    gone = removed_definitions(tree, graph, cache)
    data = graph_data(
        graph,
        folded,
        profile=manifest.profile,
        upstream=manifest.upstream.spec,
        importers=removed_importers(graph, folded, written),
        distributions=distributions,
        dropped=dropped_importers(distributions, graph, folded),
    )
    data["gone"] = definitions_data(gone)
    pairs = package_edges(graph)
    api = api_page(tree, graph, lost or {}, gone, written, rules)
    texts = {
        "keep.txt": keep_list(graph, files),
        "remove.txt": remove_list(graph, files),
        "uncertain.txt": uncertain_list(graph),
        "errors.txt": errors_list(folded),
        "dependencies.json": json.dumps(distributions_data(distributions), indent=1, sort_keys=True) + "\n",
        "interface.json": json.dumps(interface_data(interface, entries), indent=1, sort_keys=True) + "\n",
        "rules.json": json.dumps(_rules_data(rules, effects), indent=1, sort_keys=True) + "\n",
        "graph.json": json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n",
        **_pages(
            rules,
            effects,
            graph,
            folded,
            manifest,
            files,
            mermaid(pairs),
            cache,
            distributions,
            interface,
            api,
            entries,
        ),
    }
    _write(folder, {name: text.encode() for name, text in texts.items()})
    picture = graphviz_svg(pairs)
    if picture is not None:
        _write(folder, {"dependencies.svg": picture})
    return Begun(folder, summary, cache)


def write_symbols(folder: Path, symbols: SymbolData | None, graph: Graph, written: Written) -> None:
    """Write what was found of symbols.

    Args:
        folder: that of `begin_reports`.
        symbols: what the search found; None where there was none.
        graph: of the files that stay.
        written: imports of all of upstream.

    Raises:
        InputError: the folder cannot be written.
    """
    found, edges = NO_SYMBOLS if symbols is None else symbol_data(symbols, graph, written)
    texts = {
        "symbols.json": json.dumps(found, separators=(",", ":"), sort_keys=True) + "\n",
        "symbol_edges.json": json.dumps(edges, separators=(",", ":")) + "\n",
    }
    _write(folder, {name: text.encode() for name, text in texts.items()})


def finish_reports(
    begun: Begun, evidence: Sequence[Evidence], timings: Mapping[str, float], peak_memory: int
) -> dict[str, Any]:
    """Write the summary, and what the run itself took.

    Args:
        begun: the other reports.
        evidence: what was found by judging the tree.
        timings: seconds by phase; they go to ``run.json`` alone.
        peak_memory: bytes, also for ``run.json``.

    Returns:
        The content of ``summary.json``, for `summary_table`.

    Raises:
        InputError: the folder cannot be written.
    """
    summary = {**begun.summary, "evidence": evidence_data(evidence)}
    run = _run(timings, peak_memory, begun.cache)
    texts = {
        "summary.json": json.dumps(summary, indent=1, sort_keys=True) + "\n",
        "run.json": json.dumps(run, indent=1) + "\n",
    }
    _write(begun.folder, {name: text.encode() for name, text in texts.items()})
    return summary


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            _replace(folder / name, content)
    except OSError as error:
        raise InputError(
            f"{folder}: reports cannot be written: {error}", "free space or choose a writable folder"
        ) from error


def _pages(
    rules: Ruleset,
    effects: Sequence[RuleEffect],
    graph: Graph,
    folded: Mapping[str, FoldedModule],
    manifest: Manifest,
    files: Sequence[Measured],
    chart: str,
    cache: Cache,
    distributions: Distributions,
    interface: Interface,
    api: ApiPage,
    entries: Entries,
) -> dict[str, str]:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["n"] = lambda number: f"{number:,}"
    # A bar would end the cell of a Markdown table.
    environment.filters["cell"] = lambda text: " ".join(str(text).split()).replace("|", "\\|")
    environment.filters["code"] = lambda text: f"`{environment.filters['cell'](text)}`" if text else ""
    environment.filters["extras"] = extras_text
    head = {"upstream": manifest.upstream, "profile": manifest.profile}
    found = structure(graph, cache)
    lines = {module_node(folded[f.path].module): f.after for f in files if f.kept and f.path in folded}
    removed = [file for file in files if file.path in graph.removed]
    by_rule = tally(removed, lambda file: graph.removed[file.path].rule)
    features = {rule.id: rule.feature for rule in rules.removes if isinstance(rule, Remove)}
    unreachable = [file for file in removed if graph.removed[file.path].rule == UNREACHABLE]
    folders = tally(unreachable, lambda file: _folder(file.path))
    return {
        "REMOVED_FILES.md": environment.get_template("REMOVED_FILES.md.jinja").render(
            head,
            total=_total(files),
            by_rule=by_rule,
            features=features,
            by_area=[t for t in tally(files, lambda file: file.area) if t.files_after < t.files_before],
            folders=folders[:_MOST_FOLDERS],
            more=len(folders) - _MOST_FOLDERS,
        ),
        "DEPENDENCIES.md": environment.get_template("DEPENDENCIES.md.jinja").render(
            head,
            page=dependencies(graph, folded, files),
            distributions=distributions,
            chart=chart,
            cycles=cycles(found),
            dominators=dominators(found, lines),
        ),
        "api.md": environment.get_template("api.md.jinja").render(head, page=api),
        "interface.md": environment.get_template("interface.md.jinja").render(
            head, interface=interface, flags=entries.flags
        ),
        "rules.md": environment.get_template("rules.md.jinja").render(
            head,
            effects=effects,
            unreachable=_total(unreachable),
            enters={claim.rule: "; ".join(claim.enters) for claim in entries.claims},
        ),
    }


def _rules_data(rules: Ruleset, effects: Sequence[RuleEffect]) -> dict[str, Any]:
    """Kind and hash of every rule: what a later run compares, to say which rule changed. And what each did,
    but for those that did nothing."""
    rows = {
        rule.id: [type(rule).__name__.lower(), hashlib.sha256(rule.model_dump_json().encode()).hexdigest()[:16]]
        for rule in rules.by_id().values()
    }
    did = {e.id: {name: count for name in _COUNTED if (count := getattr(e, name))} for e in effects if not e.idle}
    return {"format": 1, "profile": rules.profile, "rules": rows, "effects": did}


def _total(files: Sequence[Measured]) -> Tally:
    return (tally(files, lambda _: "total") or [Tally("total", 0, 0, 0, 0)])[0]


def _folder(path: str) -> str:
    """At most four folders deep, so that the page stays reviewable."""
    return "/".join(path.split("/")[:-1][:4]) or "(top)"


def _run(timings: Mapping[str, float], peak_memory: int, cache: Cache) -> dict[str, Any]:
    return {
        "phases_seconds": {name: round(seconds, 3) for name, seconds in timings.items()},
        "total_seconds": round(sum(timings.values()), 3),
        "peak_memory_bytes": peak_memory,
        "cache": {name: {"asked": c.asked, "found": c.found} for name, c in sorted(cache.counts.items())},
    }


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file and rename, so that a reader sees the old file or the new one."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
