"""Does the evidence of a default run notice a wrong rule?

Each is planted among the right ones, and the tree generated with it.
"""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from shrinker.cache import Cache
from shrinker.check.allowances import OWN_FILES
from shrinker.check.embedders import LEVEL as EMBEDDERS
from shrinker.check.enforced import CHECK
from shrinker.check.entries import judge_entries
from shrinker.check.levels import CAPABILITIES, EVIDENCE_LEVELS
from shrinker.check.trees import Trees
from shrinker.pipeline import Progress, Run, generate, verify_level
from shrinker.pipeline.verification import embedders_evidence
from shrinker.ruleset import Ruleset, with_rule
from shrinker.source.cache import default_folder
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Finding
from shrinker.values.upstream import UpstreamTree
from tools.mutation.direct_effect import DirectEffect
from tools.mutation.judge import Stand, noticed
from tools.mutation.wrong_rules import WrongRule

_SHOWN = 12
LEVELS = (CAPABILITIES, *(name for name in EVIDENCE_LEVELS if name != CAPABILITIES), EMBEDDERS)
"""Those of a default run; the one that believes no rule first."""
CLAIMS = "claims"
"""Of level references what needs no tree that a run made."""
REFUSED = "rules"
"""What notices a rule that no tree can be made with: it contradicts another one, or what is decided
with it cannot stand.
"""

_Found = tuple[str, str, tuple[str, ...]]
"""What noticed a rule, what it says, and the files that are other ones."""


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
    whole: bool
    """Whether the tree was made that a run makes with the rule.

    Where what the rule does by itself was noticed it was not; see `direct_effect`.
    """


def plant(
    tree: UpstreamTree,
    rules: Ruleset,
    wrong: Sequence[WrongRule],
    jobs: int,
    progress: Progress,
    skip: Collection[tuple[str, str]] = (),
) -> Iterator[Outcome]:
    """Plant wrong rules one after the other: what each does by itself is judged first, and last
    those of which that is not noticed. What the evidence finds with the right `rules` alone is not
    held for them against a wrong one; `skip`: kind and subject of those that an earlier run has
    judged.
    """
    left = [one for one in wrong if (one.kind, one.subject) not in skip]
    if not left:
        return
    with tempfile.TemporaryDirectory(prefix="shrinker-planted-") as scratch:
        field = _Field(Run(tree, rules, jobs, progress, Cache(default_folder())), Path(scratch))
        waiting = []
        for one in left:
            outcome = field.plant(one, whole=False)
            if outcome.caught_by or not outcome.files:
                yield outcome
            else:
                waiting.append(one)
        yield from (field.plant(one, whole=True) for one in waiting)


class _Field:
    """A tree by the right rules, and others by one more."""

    def __init__(self, run: Run, scratch: Path) -> None:
        right = scratch / "right"
        run.progress.note("generating with the right rules")
        self._run, self._wrong = run, scratch / "wrong"
        self._base = self._generated(run.rules, right)
        self._copy = Stand(right, self._base, scratch / "copy")
        self._direct = DirectEffect(run)
        self._known = cache(
            lambda level: frozenset(self._findings(level, right, self._base, run.rules))
        )

    def plant(self, one: WrongRule, *, whole: bool) -> Outcome:
        """Judge one rule, by the tree that a run makes with it or by what it does itself."""
        try:
            rules = with_rule(self._run.rules, one.table, one.data())
            caught, said, changed = (
                self._whole(rules) if whole else self._by_itself(rules, one.words)
            )
        except (InputError, EvidenceError) as error:
            caught, said, changed = REFUSED, str(error).splitlines()[0], ("?",)
        return Outcome(one.kind, one.subject, caught, said, len(changed), changed[:_SHOWN], whole)

    def _by_itself(self, rules: Ruleset, words: frozenset[str]) -> _Found:
        changes = self._direct.of(rules, words)
        if not changes:
            return "", "", ()
        changed = tuple(
            sorted(path if text is not None else f"- {path}" for path, text in changes.items())
        )
        with self._copy.changed(changes) as manifest:
            other = replace(manifest, rules_hash=rules.digest)
            # What is claimed of flags and variables is judged by the rules and upstream's text,
            # whatever the tree lost.
            return *self._noticed(self._copy.folder, other, rules, (CAPABILITIES, CLAIMS)), changed

    def _whole(self, rules: Ruleset) -> _Found:
        try:
            manifest = self._generated(rules, self._wrong)
            changed = _changed(self._base, manifest)
            # A tree that is as before has the evidence of before.
            return *(
                self._noticed(self._wrong, manifest, rules, LEVELS) if changed else ("", "")
            ), changed
        finally:
            shutil.rmtree(self._wrong, ignore_errors=True)

    def _noticed(
        self, out: Path, manifest: Manifest, rules: Ruleset, levels: Sequence[str]
    ) -> tuple[str, str]:
        """Return the first level that finds what it does not find with the right rules, and
        what.
        """
        return noticed(
            ((name, self._findings(name, out, manifest, rules)) for name in levels), self._known
        )

    def _findings(
        self, level: str, out: Path, manifest: Manifest, rules: Ruleset
    ) -> tuple[Finding, ...]:
        run = self._run
        trees = Trees(run.tree, out, manifest, rules, run.jobs, run.cache)
        if level == CLAIMS:
            return tuple(
                finding for finding in judge_entries(trees).findings if finding.check == CHECK
            )
        if level == EMBEDDERS:
            return embedders_evidence(trees, run.progress).evidence.held().findings
        run.progress.phase(f"verify {level}")
        return verify_level(level, trees, run.progress).held().findings

    def _generated(self, rules: Ruleset, out: Path) -> Manifest:
        out.mkdir()
        return generate(replace(self._run, rules=rules), out)


def _changed(base: Manifest, other: Manifest) -> tuple[str, ...]:
    """Return files that are gone first, then those that came or are other ones.

    The table of removed features names every rule.
    """
    old, new = (
        {f.path: f.sha256 for f in m.files if f.path not in OWN_FILES} for m in (base, other)
    )
    gone = sorted(f"- {path}" for path in old.keys() - new.keys())
    return (*gone, *sorted(path for path, sha256 in new.items() if old.get(path) != sha256))
