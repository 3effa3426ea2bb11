"""The phases in order: source, facts, fold and graph, emit, verify, report."""

from contextlib import ExitStack

from shrinker.cache import Cache
from shrinker.cache.workers import without_gc
from shrinker.check.embedders import LEVEL as EMBEDDERS
from shrinker.check.entries import judge_entries
from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.check.trees import Trees
from shrinker.pipeline.analysis import analyse
from shrinker.pipeline.generation import decide_and_emit, generate
from shrinker.pipeline.places import Places
from shrinker.pipeline.progress import Progress, peak_memory, timed
from shrinker.pipeline.request import Request, Result, Run
from shrinker.pipeline.verification import (
    embedders_evidence,
    find_refused,
    lock_evidence,
    lock_findings,
    refuse,
    verify_tree,
)
from shrinker.project import project_folder
from shrinker.report.place import LOCK, mark_stale
from shrinker.report.write import Made, begin_reports, finish_reports, write_symbols
from shrinker.ruleset import load_profile, without
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.errors import EvidenceError
from shrinker.values.interface import Entries
from shrinker.values.outcome import Evidence, Finding


def shrink(request: Request, progress: Progress) -> Result:
    """Generate the tree, prove it, then put it in place with its lock and reports.

    Raises:
        InputError: anything wrong with what was asked for; nothing was replaced.
        EvidenceError: the generated tree failed its evidence; nothing was replaced, and it lies in `OUT.rejected`.
    """
    timings: dict[str, float] = {}
    jobs = request.jobs
    cache = Cache((request.cache or default_folder()).absolute()) if request.reuse else Cache.off()
    with without_gc(), ExitStack() as stack:
        with timed("source", timings, progress):
            rules = without(load_profile(request.profile, request.rules), request.without)
            tree = open_upstream(
                request.upstream, cache=request.cache, repository=project_folder(), progress=progress.note
            )
            places = Places.prepare(request, tree, rules, stack)
        analysis, emitted = decide_and_emit(Run(tree, rules, jobs, progress, cache, timings), places.tree)
        manifest = emitted.manifest
        trees = Trees(tree, places.tree, manifest, rules, jobs, cache)
        refused: tuple[Finding, ...] = ()
        if request.strict or request.look:
            with timed("leftovers", timings, progress):
                refused = find_refused(trees, analysis, emitted.interface)
        evidence: tuple[Evidence, ...] = ()
        outside: tuple[Evidence, ...] = ()
        if request.judge:
            evidence = verify_tree(trees, EVIDENCE_LEVELS, timings, progress)
            with timed(f"verify {EMBEDDERS}", timings, progress):
                outside = (embedders_evidence(trees, progress, folder=request.cache).evidence,)
        with timed("report", timings, progress):
            write_symbols(places.reports, analysis.symbols)
            made = Made(
                tree,
                rules,
                analysis.graph,
                analysis.folded,
                manifest,
                analysis.written,
                analysis.distributions,
                emitted.interface,
                emitted.lost,
                analysis.cuts,
                judge_entries(trees) if request.judge else Entries(),
                cache,
            )
            counted = begin_reports(places.reports, made, pages=request.judge)
            peak = peak_memory(jobs)
            earlier = places.reports_out if request.judge else None
            summary = finish_reports(places.reports, counted, cache, evidence, timings, peak, earlier)
            try:
                if request.strict:
                    refuse(refused, "strict mode")
                for item in (*evidence, *outside):
                    refuse((item.held() if request.strict else item).findings, f"evidence level {item.level!r}")
                if request.frozen:
                    refuse(lock_findings(places.reports_out / LOCK, manifest), "the lock")
            except EvidenceError as error:
                error.next_step = f"{places.reject(manifest)}; {error.next_step}"
                raise
            aside = places.install(manifest)
            stale = tuple(mark_stale(places.reports_out, manifest))
    return Result(
        manifest, summary, places.reports_out, evidence, timings, peak, analysis.rescued, refused, aside, stale
    )


__all__ = ["Progress", "Request", "Result", "Run", "analyse", "generate", "lock_evidence", "shrink", "verify_tree"]
