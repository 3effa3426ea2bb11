"""The phases in order: source, facts, fold and graph, emit, verify, report.

And the folders in which a run's tree and reports grow.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from shrinker.cache import Cache
from shrinker.cache.workers import without_gc
from shrinker.check.embedders import LEVEL as EMBEDDERS
from shrinker.check.entries import judge_entries
from shrinker.check.leftovers import find_leftovers
from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.check.trees import Trees
from shrinker.emit.rewrite import Unwritable
from shrinker.emit.staging import install, refuse_foreign, scratch_folder, staging_folder
from shrinker.emit.tree import Emitted, emit_tree
from shrinker.pipeline.analysis import analyse
from shrinker.pipeline.run import Progress, Request, Result, Run, peak_memory, timed
from shrinker.pipeline.verification import (
    embedders_evidence,
    lock_evidence,
    lock_findings,
    refuse,
    verify_level,
)
from shrinker.program.decided import Analysis
from shrinker.project import project_folder
from shrinker.report.fit import Fit, judge_fit
from shrinker.report.place import (
    LOCK,
    foreign_reports,
    mark_stale,
    new_reports,
    rejected_beside,
    reports_beside,
    write_files,
)
from shrinker.report.strict import find_refused
from shrinker.report.verification import write_index
from shrinker.report.write import write_reports, write_run
from shrinker.ruleset import Ruleset, load_profile, without
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.interface import Entries
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.upstream import UpstreamTree

__all__ = [
    "Progress",
    "Request",
    "Result",
    "Run",
    "analyse",
    "generate",
    "lock_evidence",
    "shrink",
    "verify_level",
]


def shrink(request: Request, progress: Progress) -> Result:
    """Generate the tree, prove it, then put it in place with its lock and reports.

    Raises InputError: anything wrong with what was asked for. EvidenceError: the generated tree
    failed its evidence, and lies in `OUT.rejected`. In both cases nothing was replaced.
    """
    timings: dict[str, float] = {}
    cache = Cache(default_folder()) if request.reuse else Cache()
    with without_gc(), ExitStack() as stack:
        with timed("source", timings, progress):
            rules = without(load_profile(request.profile, request.rules), request.without)
            tree = open_upstream(
                request.upstream, repository=project_folder(), progress=progress.note
            )
            places = _Places.prepare(request, tree, rules, stack)
        run = Run(tree, rules, request.jobs, progress, cache, timings)
        analysis, emitted = decide_and_emit(run, places.tree)
        manifest = emitted.manifest
        trees = Trees(tree, places.tree, manifest, rules, request.jobs, cache)
        refused: tuple[Finding, ...] = ()
        if request.judge or request.strict or request.look:
            with run.timed("leftovers"):
                left = find_leftovers(trees)
                refused = find_refused(trees, analysis, emitted.interface, left)
        evidence: list[Evidence] = []
        outside: list[Evidence] = []
        fit: Fit | None = None
        if request.judge:
            for level in EVIDENCE_LEVELS:
                with run.timed(f"verify {level}"):
                    evidence.append(verify_level(level, trees, progress))
            with run.timed(f"verify {EMBEDDERS}"):
                outside.append(embedders_evidence(trees, progress).evidence)
            with run.timed("fit"):
                fit = judge_fit(trees, analysis, evidence, refused, left)
        with run.timed("report"):
            entries = judge_entries(trees) if request.judge else Entries()
            summary = write_reports(
                places.reports,
                trees,
                analysis,
                emitted,
                evidence,
                entries,
                fit,
                pages=request.judge,
            )
            peak = peak_memory(request.jobs)
            write_run(places.reports, cache, timings, peak)
            if request.judge:
                write_index(places.reports, places.reports_out)
            try:
                asked = [item.held() if request.strict else item for item in (*evidence, *outside)]
                found_by: dict[str, Sequence[Finding]] = {
                    f"evidence level {item.level!r}": item.findings for item in asked
                }
                if request.strict:
                    found_by = {"strict mode": refused, **found_by}
                if request.frozen:
                    found_by["the lock"] = lock_findings(places.reports_out / LOCK, manifest)
                refuse(found_by)
            except EvidenceError as error:
                error.next_step = f"{places.reject(manifest)}; {error.next_step}"
                raise
            aside = places.install(manifest)
            stale = tuple(mark_stale(places.reports_out, manifest))
    found = (manifest, summary, places.reports_out, tuple(evidence), timings, peak)
    return Result(*found, analysis.rescued, refused, aside, stale, fit)


def generate(run: Run, out: Path) -> Manifest:
    """Write a tree into an empty folder, neither judged nor reported.

    Raises as `decide_and_emit`.
    """
    with without_gc():
        return decide_and_emit(run, out)[1].manifest


def decide_and_emit(run: Run, out: Path) -> tuple[Analysis, Emitted]:
    """Analyse and write into an empty folder; once more, with the files as upstream wrote them,
    where what was decided cannot be written. Raises InputError: rules and upstream cannot be
    brought together, or a file cannot be read or written. Unwritable: a file cannot be written even
    as it was.
    """
    unwritable: dict[str, str] = {}
    while True:
        analysis = analyse(run, unwritable)
        try:
            with run.timed("emit"):
                emitted = emit_tree(
                    run.tree, run.rules, analysis, out, run.cache, run.progress.advance
                )
            return analysis, emitted
        except Unwritable as error:
            if error.reasons.keys() <= unwritable.keys():
                raise
            unwritable |= error.reasons
            for path, reason in sorted(error.reasons.items()):
                run.progress.note(f"{path} stays as upstream wrote it: {reason}")


@dataclass(frozen=True, slots=True)
class _Places:
    """Made before the long phases, so that a folder that cannot be written is an error of the first
    second.
    """

    request: Request
    tree: Path
    """Where the tree grows."""
    reports: Path
    """Where the reports grow."""
    reports_out: Path
    """Where the reports go."""
    owned: tuple[Path, ...]
    """What among the reports no run wrote."""

    @staticmethod
    def prepare(
        request: Request, tree: UpstreamTree, rules: Ruleset, stack: ExitStack
    ) -> "_Places":
        """Make the folders; the stack removes what is left of them.

        Raises InputError when one cannot be written, or holds what no run wrote.
        """
        staging = stack.enter_context(staging_folder(request.out, force=request.force))
        usual = request.rules is None and not request.without
        reports = request.reports or new_reports(
            request.out, tree.identity, rules.profile, usual=usual
        )
        owned = foreign_reports(reports)
        if not request.force:
            refuse_foreign(reports, [path.name for path in owned])
        staged = stack.enter_context(
            scratch_folder(reports, "choose another folder for the reports")
        )
        return _Places(request, staging, staged, reports, tuple(owned))

    def reject(self, manifest: Manifest) -> str:
        """Put tree, reports and lock beside `out`, where questions can be asked of them, in place
        of what was rejected before. Returns where they are, or why they are not there.
        """
        out = rejected_beside(self.request.out)
        request = replace(self.request, out=out, force=False)
        try:
            replace(self, request=request, reports_out=reports_beside(out), owned=()).install(
                manifest
            )
        except InputError as error:
            return f"nothing was replaced, and nothing is left to look at ({error.message})"
        return f"nothing was replaced; ask what was made: `shrinker explain NAME --out {out}`"

    def install(self, manifest: Manifest) -> tuple[Path, ...]:
        """Put tree, reports and lock in their places, all or nothing.

        Returns folders to which something of the owner's was moved.
        """
        names = sorted(file.name for file in self.reports.iterdir())
        write_files(self.reports, {LOCK: manifest.to_json()})
        # The lock last: it equals the tree's own manifest only when all the rest is in place.
        places = [(self.reports / name, self.reports_out / name) for name in (*names, LOCK)]
        return install(
            self.tree, self.request.out, places, force=self.request.force, owned=self.owned
        )
