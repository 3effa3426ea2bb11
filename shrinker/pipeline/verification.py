"""Trees held against their evidence, their lock, and what a strict run refuses."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shrinker.check.leftovers import find_leftovers
from shrinker.check.levels import judge
from shrinker.check.trees import Trees
from shrinker.pipeline.analysis import Analysis
from shrinker.pipeline.outside import is_pinned
from shrinker.pipeline.progress import Progress, timed
from shrinker.program.build import missing_roots
from shrinker.report.effects import rule_effects
from shrinker.report.place import LOCK, read_manifest, reports_of
from shrinker.report.strict import strict_findings
from shrinker.report.summary import measure
from shrinker.values.contents import MANIFEST
from shrinker.values.errors import EvidenceError
from shrinker.values.interface import Interface
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile, Evidence, Finding

_SHOWN = 20


def verify_tree(
    trees: Trees, levels: Sequence[str], timings: dict[str, float], progress: Progress
) -> tuple[Evidence, ...]:
    """Run evidence levels by name, in their order.

    Losses that no word explains are faults of a tree of the pinned upstream, and open questions of another.
    Where the rules are not those that the manifest names, the checks that need them look at nothing, which is said.
    """
    manifest = trees.manifest
    if trees.rules is not None and trees.rules.digest != manifest.rules_hash:
        progress.note(
            f"the rules of {manifest.profile} are not those of this tree: arms, registrations and tables are not judged"
        )
        trees = replace(trees, rules=None)
    found: list[Evidence] = []
    held = is_pinned(manifest)
    for name in levels:
        with timed(f"verify {name}", timings, progress):
            # What a level has read is let go with it.
            evidence = judge(name, replace(trees), progress.note)
            found.append(evidence.held() if held else evidence)
    return tuple(found)


def lock_evidence(out: Path, manifest: Manifest, asked: Path | None = None) -> Evidence:
    """Judge a tree by its lock, among its reports: both were written by one run, or a run died between them."""
    lock = reports_of(out, manifest, asked) / LOCK
    findings = tuple(lock_findings(lock, manifest))
    return Evidence("lock", not findings, (("files", len(manifest.files)),), findings, ())


def lock_findings(lock: Path, manifest: Manifest) -> Sequence[Finding]:
    """How a lock differs from what a run made."""
    if not lock.is_file():
        return [Finding("lock", str(lock), 0, "there is no lock to compare with")]
    return compare(read_manifest(lock), manifest)


def compare(lock: Manifest, manifest: Manifest) -> list[Finding]:
    """What differs between the recorded manifest and a new one, the cause before its effects."""
    causes = (
        ("tool version", lock.tool_version, manifest.tool_version),
        ("profile", lock.profile, manifest.profile),
        ("rules", lock.rules_hash, manifest.rules_hash),
        ("upstream", lock.upstream, manifest.upstream),
    )
    found = [(MANIFEST, f"{what} was {old}, is {new}") for what, old, new in causes if old != new]
    before, after = ({file.path: file for file in each.files} for each in (lock, manifest))
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            found.append((path, _difference(before.get(path), after.get(path))))
    return [Finding("lock", path, 0, message) for path, message in found]


def _difference(old: EmittedFile | None, new: EmittedFile | None) -> str:
    if old is None or new is None:
        return "is in the lock and is no longer generated" if old else "is new: the lock does not have it"
    if old.sha256 != new.sha256:
        return f"has other content: {old.lines_after} lines in the lock, {new.lines_after} now"
    return "has the content of the lock, but its record differs (lines, changed or digest)"


def find_refused(trees: Trees, analysis: Analysis, interface: Interface) -> tuple[Finding, ...]:
    """What strict mode refuses of a generated tree."""
    tree, rules = trees.source, trees.stated
    effects = rule_effects(rules, analysis.graph, analysis.folded, measure(tree, trees.manifest), analysis.cuts)
    left = find_leftovers(trees)
    found = strict_findings(rules, effects, missing_roots(tree, rules), analysis.folded, left, tree)
    return (*found, *interface.unexplained())


def refuse(findings: Sequence[Finding], what: str) -> None:
    """End the run where there are findings.

    Raises:
        EvidenceError: names the first of them, and `what` found them.
    """
    if not findings:
        return
    shown = "\n".join(f"  {f.path}:{f.line}: [{f.check}] {f.message}" for f in findings[:_SHOWN])
    more = f"\n  … and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
    raise EvidenceError(
        f"{what} found {len(findings)} thing(s) wrong:\n{shown}{more}",
        "add or mend a rule, or report the finding as a fault of shrinker",
    )
