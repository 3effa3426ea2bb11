"""Does the evidence of a default run notice a wrong rule? Each is planted among the right ones, and the tree generated with it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shrinker.cache import Cache
from shrinker.check.allowances import OWN_FILES
from shrinker.check.capabilities import CAPABILITIES
from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.pipeline import Progress, generate, verify_tree
from shrinker.pipeline.outside import embedders_evidence
from shrinker.ruleset import Ruleset, with_rule
from shrinker.source.cache import default_folder
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.upstream import UpstreamTree
from tools.mutation.wrong_rules import WrongRule

_SHOWN = 12
REFUSED = "rules"
"""What notices a rule that no tree can be made with: it contradicts another one, or what is decided with it cannot stand."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one wrong rule."""

    kind: str
    subject: str
    caught_by: str
    """The first evidence that noticed it; empty for none."""
    finding: str
    files: int
    """Files of the tree that are other ones; 0: the rule does nothing."""
    removed: tuple[str, ...]
    """Files that are gone, and some that are other ones, for whoever reads of a survivor."""
    seconds: float


def plant(
    tree: UpstreamTree,
    rules: Ruleset,
    wrong: Sequence[WrongRule],
    jobs: int,
    progress: Progress,
    skip: Collection[tuple[str, str]] = (),
    told: Callable[[Outcome], None] = lambda outcome: None,
) -> Iterator[Outcome]:
    """Plant wrong rules one after the other.

    Args:
        tree: upstream.
        rules: the right ones. What the evidence finds with them alone is not held for them against a wrong one.
        wrong: what is planted.
        jobs: worker processes.
        progress: told of each.
        skip: kind and subject of those that an earlier run has judged.
        told: called after each, before the next one begins.
    """
    left = [one for one in wrong if (one.kind, one.subject) not in skip]
    if not left:
        return
    cache = Cache(default_folder().absolute())
    with tempfile.TemporaryDirectory(prefix="shrinker-planted-") as scratch:
        progress.note("generating with the right rules")
        right = Path(scratch) / "right"
        base = _generated(tree, rules, right, jobs, progress, cache)
        known = {
            (item.level, found)
            for item in _judged(tree, right, base, rules, jobs, progress, cache)
            for found in item.findings
        }
        for number, one in enumerate(left):
            start = time.monotonic()
            out = Path(scratch) / f"wrong-{number}"
            caught, said = "", ""
            changed: tuple[str, ...] = ()
            try:
                planted = with_rule(rules, one.table, one.data())
                manifest = _generated(tree, planted, out, jobs, progress, cache)
                changed = _changed(base, manifest)
                # A tree that is as before has the evidence of before.
                for item in _judged(tree, out, manifest, planted, jobs, progress, cache) if changed else ():
                    new = [finding for finding in item.findings if (item.level, finding) not in known]
                    if new:
                        caught, said = item.level, _line(new[0])
                        break
            except (InputError, EvidenceError) as error:
                caught, said, changed = REFUSED, str(error).splitlines()[0], ("?",)
            finally:
                shutil.rmtree(out, ignore_errors=True)
            seconds = round(time.monotonic() - start, 1)
            outcome = Outcome(one.kind, one.subject, caught, said, len(changed), tuple(changed[:_SHOWN]), seconds)
            told(outcome)
            yield outcome


def _generated(tree: UpstreamTree, rules: Ruleset, out: Path, jobs: int, progress: Progress, cache: Cache) -> Manifest:
    out.mkdir()
    return generate(tree, rules, out, jobs, progress, cache)


def _judged(
    tree: UpstreamTree, out: Path, manifest: Manifest, rules: Ruleset, jobs: int, progress: Progress, cache: Cache
) -> Iterator[Evidence]:
    """Each level of a default run, when asked for; the one that believes no rule first."""
    for name in sorted(EVIDENCE_LEVELS, key=lambda name: name != CAPABILITIES):
        for evidence in verify_tree(tree, out, manifest, [name], jobs, {}, progress, cache, rules):
            yield evidence.held()
    yield embedders_evidence(tree, out, manifest, jobs, progress, cache, rules).evidence.held()


def _changed(base: Manifest, other: Manifest) -> tuple[str, ...]:
    """Files that are gone first, then those that came or are other ones. The table of removed features names every rule."""
    old, new = ({f.path: f.sha256 for f in m.files if f.path not in OWN_FILES} for m in (base, other))
    gone = sorted(f"- {path}" for path in old.keys() - new.keys())
    return (*gone, *sorted(path for path, sha256 in new.items() if old.get(path) != sha256))


def _line(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}: [{finding.check}] {finding.message}"
