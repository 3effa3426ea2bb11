"""The phases in order: source, facts, fold and graph, emit, verify, report."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shrinker import __version__
from shrinker.cache import Cache
from shrinker.cache.workers import without_gc
from shrinker.check.entries import judge_entries
from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.emit.lock import compare, read_lock, write_lock
from shrinker.emit.staging import clear, install, refuse_foreign, scratch_folder, staging_folder
from shrinker.emit.tree import Emitted, emit_tree
from shrinker.emit.workers import Unwritable
from shrinker.pipeline.analysis import Decided, analyse
from shrinker.pipeline.outside import EMBEDDERS, embedders_evidence, is_pinned
from shrinker.pipeline.prefetch import SpareTime
from shrinker.pipeline.progress import Progress, timed
from shrinker.pipeline.reporting import Reporting
from shrinker.program.build import missing_roots
from shrinker.project import project_folder
from shrinker.report.effects import rule_effects
from shrinker.report.measure import measure
from shrinker.report.place import LOCK, foreign_reports, new_reports, reports_of
from shrinker.report.stale import mark_stale
from shrinker.report.strict import strict_findings
from shrinker.report.write import Begun, begin_reports, finish_reports, write_symbols
from shrinker.ruleset import Ruleset, load_profile, without
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.errors import EvidenceError
from shrinker.values.graph import Graph
from shrinker.values.leftovers import Survivors
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.upstream import UpstreamTree

_SHOWN_FINDINGS = 20
_SHOWN_STRICT = 100
"""A strict run leaves no tree to look at, so it says nearly everything at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be generated."""

    upstream: str | None
    profile: str
    out: Path
    jobs: int
    strict: bool = False
    frozen: bool = False
    """Fail when the lock of this upstream and these rules would change."""
    reports: Path | None = None
    cache: Path | None = None
    rules: Path | None = None
    """Folder with rule files and `profiles/`; those of `project.rules_folder` when not given."""
    symbols: bool = True
    """Remove the definitions, statements and imports that nothing reachable names, too."""
    reuse: bool = True
    """Take results of earlier runs from the cache folder, and leave this run's there."""
    without: tuple[str, ...] = ()
    """Ids of rules that are taken as not written; see `tools.ablation`."""
    force: bool = False
    """Move aside what in `out` or among the reports no run wrote, where such a thing ends the run otherwise."""
    look: bool = False
    """Find what strict mode would refuse, and hand it over in the result: nothing is refused for it."""


@dataclass(slots=True)
class Result:
    """What a run made."""

    manifest: Manifest
    summary: dict[str, Any]
    reports: Path
    evidence: tuple[Evidence, ...]
    timings: dict[str, float]
    peak_memory: int
    """Bytes: this process plus the largest worker, times the number of workers."""
    rescued: dict[str, str] = field(default_factory=dict)
    strict: tuple[Finding, ...] = ()
    """What strict mode would refuse; only of a run that looks for it."""
    survivors: Survivors | None = None
    """What of other platforms is left; only of a run that looks for it."""
    aside: tuple[Path, ...] = ()
    """Folders to which something of the owner's was moved; only of a run that may."""
    stale: tuple[str, ...] = ()
    """Evidence among the reports that is of another tree, each with what it is of."""


def shrink(request: Request, progress: Progress) -> Result:
    """Generate the tree, prove it, then put it in place with its lock and reports.

    Raises:
        InputError: anything wrong with what was asked for; nothing was replaced.
        EvidenceError: the generated tree failed its evidence; nothing was replaced.
    """
    timings: dict[str, float] = {}
    cache = Cache((request.cache or default_folder()).absolute()) if request.reuse else Cache.off()
    with without_gc(), ExitStack() as stack:
        with timed("source", timings, progress):
            rules = without(load_profile(request.profile, request.rules), request.without)
            tree = open_upstream(
                request.upstream, cache=request.cache, repository=project_folder(), progress=progress.note
            )
            # Before the long phases, so that a folder that cannot be written is an error of the first second.
            staging = stack.enter_context(staging_folder(request.out, force=request.force))
            usual = request.rules is None and request.symbols and not request.without
            reports = request.reports or new_reports(request.out, tree.identity, rules.profile, usual=usual)
            owned = foreign_reports(reports)
            if not request.force:
                refuse_foreign(reports, [path.name for path in owned])
            staged = stack.enter_context(scratch_folder(reports, "choose another folder for the reports"))
        spare = SpareTime(tree, rules, cache, stack)
        # A strict run refuses what is wrong before the tree is judged: it waits for all that is decided.
        suppose = not (request.strict or request.look)
        while True:
            decided, emitted = _decide_and_emit(
                tree,
                rules,
                staging,
                request.jobs,
                timings,
                progress,
                cache,
                symbols=request.symbols,
                previous=request.out,
                begun=spare.start if request.jobs > 1 else lambda graph: None,
                stack=stack if suppose else None,
            )
            spare.stop()
            manifest, interface = emitted.manifest, emitted.interface
            refused: list[Finding] = []
            left: Survivors | None = None
            if request.strict or request.look:
                # Here and not above: only such a run looks for them.
                from shrinker.check.leftovers import find_survivors

                with timed("survivors", timings, progress):
                    effects = rule_effects(rules, decided.graph, decided.folded, measure(tree, manifest))
                    left = find_survivors(tree, staging, manifest, rules, jobs=request.jobs)
                found = strict_findings(rules, effects, missing_roots(tree, rules), decided.folded, left, tree)
                refused = [*found, *interface.unexplained()]
            if request.strict:
                _refuse(refused, "strict mode", _SHOWN_STRICT)
            searching = decided.proof is not None and decided.symbols is None
            # Where little is to be judged, no other process is at work then: reports get one.
            alone = decided.again and not searching and request.jobs > 1
            begin = partial(_begin_reports, staged, staging, tree, rules, decided, emitted)
            reporting = Reporting(begin, cache, stack, alone=alone)
            evidence = verify_tree(
                tree,
                staging,
                manifest,
                EVIDENCE_LEVELS,
                request.jobs,
                timings,
                progress,
                cache,
                rules,
                meanwhile=reporting.go_on,
            )
            # They wait for nobody, and the search may.
            reporting.go_on()
            with timed("symbols", timings, progress):
                if decided.proven():
                    break
            progress.note("other symbols are dead than in the run before: decided anew")
            clear(staging)
            suppose = False
        with timed(f"verify {EMBEDDERS}", timings, progress):
            outside = embedders_evidence(
                tree, staging, manifest, request.jobs, progress, cache, rules, folder=request.cache
            )
        for item in (*evidence, outside.evidence):
            _refuse((item.held() if request.strict else item).findings, f"evidence level {item.level!r}")
        with timed("report", timings, progress):
            if request.frozen:
                _refuse(_lock_findings(reports / LOCK, manifest), "the lock")
            begun = reporting.begun()
            if searching:
                write_symbols(staged, decided.symbols, decided.graph, decided.written)
            peak = peak_memory(request.jobs)
            summary = finish_reports(begun, evidence, timings, peak)
            names = sorted(file.name for file in staged.iterdir())
            write_lock(staged / LOCK, manifest)
            # The lock last: it equals the tree's own manifest only when all the rest is in place.
            places = [(staged / name, reports / name) for name in (*names, LOCK)]
            aside = install(staging, request.out, places, force=request.force, owned=owned)
            stale = tuple(mark_stale(reports, manifest))
    return Result(
        manifest, summary, reports, evidence, timings, peak, decided.rescued, tuple(refused), left, aside, stale
    )


def _begin_reports(
    staged: Path,
    out: Path,
    tree: UpstreamTree,
    rules: Ruleset,
    decided: Decided,
    emitted: Emitted,
    cache: Cache,
) -> Begun:
    if decided.proof is None or decided.symbols is not None:
        write_symbols(staged, decided.symbols, decided.graph, decided.written)
    return begin_reports(
        staged,
        tree,
        rules,
        decided.graph,
        decided.folded,
        emitted.manifest,
        cache,
        written=decided.written,
        distributions=decided.distributions,
        interface=emitted.interface,
        lost=emitted.lost,
        entries=judge_entries(tree, out, emitted.manifest, rules, jobs=1, cache=cache),
    )


def generate(tree: UpstreamTree, rules: Ruleset, out: Path, jobs: int, progress: Progress, cache: Cache) -> Manifest:
    """Write a tree into an empty folder: neither judged nor reported, nor put in any place.

    Raises:
        InputError: rules and upstream cannot be brought together.
    """
    with without_gc(), ExitStack():
        _, emitted = _decide_and_emit(tree, rules, out, jobs, {}, progress, cache, symbols=True)
    return emitted.manifest


def _decide_and_emit(
    tree: UpstreamTree,
    rules: Ruleset,
    staging: Path,
    jobs: int,
    timings: dict[str, float],
    progress: Progress,
    cache: Cache,
    *,
    symbols: bool = False,
    previous: Path | None = None,
    begun: Callable[[Graph], None] = lambda graph: None,
    stack: ExitStack | None = None,
) -> tuple[Decided, Emitted]:
    """Analyse and write; once more, with the files as upstream wrote them, where what was decided cannot be written."""
    unwritable: dict[str, str] = {}
    while True:
        decided = analyse(
            tree,
            rules,
            jobs,
            timings,
            progress,
            cache,
            unwritable,
            symbols=symbols,
            deferred=True,
            begun=begun,
            stack=stack,
        )
        try:
            with timed("emit", timings, progress):
                emitted = emit_tree(
                    tree,
                    decided.folded,
                    decided.graph,
                    out=staging,
                    jobs=jobs,
                    rules=rules,
                    tool_version=__version__,
                    required=decided.distributions,
                    progress=progress.advance,
                    cache=cache,
                    previous=previous,
                    meanwhile=decided.later,
                )
            return decided, emitted
        except Unwritable as error:
            if error.reasons.keys() <= unwritable.keys():
                raise
            unwritable |= error.reasons
            for path, reason in sorted(error.reasons.items()):
                progress.note(f"{path} stays as upstream wrote it: {reason}")


def verify_tree(
    tree: UpstreamTree,
    out: Path,
    manifest: Manifest,
    levels: Sequence[str] | Mapping[str, Any],
    jobs: int,
    timings: dict[str, float],
    progress: Progress,
    cache: Cache | None = None,
    rules: Ruleset | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Evidence, ...]:
    """Run evidence levels by name, in their order; without a `cache` everything is judged anew.

    `meanwhile` is called where other processes read files and this one waits, which may be several times or never.
    Losses that no word explains are faults of a tree of the pinned upstream, and open questions of another.
    Where the `rules` are not those that the manifest names, the checks that need them look at nothing, which is said.
    """
    if rules is not None and rules.digest != manifest.rules_hash:
        progress.note(
            f"the rules of {manifest.profile} are not those of this tree: arms, registrations and tables are not judged"
        )
        rules = None
    # Levels that follow each other share what they read of a file, if only in this run.
    cache = cache or Cache.off()
    found: list[Evidence] = []
    held = is_pinned(manifest)
    for name in levels:
        with timed(f"verify {name}", timings, progress):
            evidence = EVIDENCE_LEVELS[name](
                tree,
                out,
                manifest,
                jobs=jobs,
                progress=progress.note,
                cache=cache,
                rules=rules,
                meanwhile=meanwhile,
            )
            found.append(evidence.held() if held else evidence)
    return tuple(found)


def lock_evidence(out: Path, manifest: Manifest, asked: Path | None = None) -> Evidence:
    """Judge a tree by its lock: both were written by one run, or a run died between them.

    Args:
        out: the generated tree.
        manifest: of that tree.
        asked: folder with its reports; by default where `shrink` puts them.
    """
    lock = reports_of(out, manifest, asked) / LOCK
    findings = tuple(_lock_findings(lock, manifest))
    return Evidence("lock", not findings, (("files", len(manifest.files)),), findings, ())


def peak_memory(jobs: int) -> int:
    """Upper bound of the run's memory in bytes: this process, and as many of the largest worker as there are."""
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + jobs * worker) * unit


def _lock_findings(lock: Path, manifest: Manifest) -> Sequence[Finding]:
    recorded = read_lock(lock)
    if recorded is None:
        return [Finding("lock", str(lock), 0, "there is no lock to compare with")]
    return compare(recorded, manifest)


def _refuse(findings: Sequence[Finding], what: str, most: int = _SHOWN_FINDINGS) -> None:
    if not findings:
        return
    shown = "\n".join(f"  {f.path}:{f.line}: [{f.check}] {f.message}" for f in findings[:most])
    more = f"\n  … and {len(findings) - most} more" if len(findings) > most else ""
    raise EvidenceError(
        f"{what} found {len(findings)} thing(s) wrong:\n{shown}{more}",
        "nothing was replaced; add or mend a rule, or report the finding as a fault of shrinker",
    )


__all__ = [
    "Decided",
    "Progress",
    "Request",
    "Result",
    "analyse",
    "embedders_evidence",
    "generate",
    "lock_evidence",
    "shrink",
    "verify_tree",
]
