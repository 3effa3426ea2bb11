"""Move the pin to another upstream: generate, judge, compare, hold what that costs against the
profile's budget, and only then keep it; else everything is as it was.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.check.trees import Trees
from shrinker.emit.staging import refuse_foreign
from shrinker.pipeline import Progress, Request, lock_evidence, shrink, verify_level
from shrinker.project import own_pins_file, pins_file
from shrinker.report.diff.pair import Side
from shrinker.report.diff.values import Review
from shrinker.report.place import LOCK, rejected_beside, render, reports_beside
from shrinker.ruleset.load import load_profile
from shrinker.ruleset.models import Budget
from shrinker.source import open_upstream
from shrinker.source.pins import Pins, index_commit, load_pins, moved, set_index_commit
from shrinker.source.repository import remote_refs
from shrinker.upgrade.check_upstream import SECTIONS, Diagnosis, diagnose
from shrinker.upgrade.sides import compare_sides, generated, recorded_side
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.manifest import MANIFEST, foreign
from shrinker.values.outcome import Finding

_AS_THEY_WERE = "the pin, the tree and its reports are as they were"
_LARGEST = 5
"""Folders that are named."""
_LISTED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bump(Request):
    """What is asked for: a release, a commit, or a release and the commit that is its submodule's;
    and how its tree is made.
    """

    upstream: str | None = None
    """Follows from these."""
    repository: Path
    """The checkout whose pin moves."""
    release: str | None
    commit: str | None
    """Hash, tag or branch."""
    source: str | None
    """Where the commit is: a folder or URL; the submodule's URL when not given."""
    reports: Path
    history: str | None = None


@dataclass(frozen=True, slots=True)
class Bumped:
    """What it came to."""

    before: str
    """UPSTREAM value of the old pin."""
    after: str
    review: Review
    unknown: Diagnosis | None
    """What the rules do not know of the new upstream; None where the bump was refused before that
    was asked.
    """
    stale: tuple[str, ...]
    """Evidence that is of the tree before; to be made again."""
    open: tuple[Finding, ...]
    """What evidence asks about the new upstream; a person answers by a word or a rule, since it is
    held against the tree of the pin.
    """


class RefusedBump(EvidenceError):
    """The new tree is sound and exceeds what the profile allows.

    Args:
        message: what it exceeds.
        next_step: what to do about it.
        done: what the bump would have come to, for the page that a person looks at.
    """

    def __init__(self, message: str, next_step: str, done: Bumped) -> None:
        super().__init__(message, next_step)
        self.done = done


def bump(asked: Bump, progress: Progress) -> Bumped:
    """Move the pin.

    Raises InputError: the new upstream cannot be had, or the pin's files are not what they should
    be. EvidenceError: the new tree failed its evidence, or strict mode refused it. RefusedBump: it
    exceeds the budget. In each case everything is restored, and a tree that was made lies in
    `OUT.rejected`, with its reports beside it.
    """
    pins = load_pins(asked.repository)
    if asked.release is None and asked.commit is None:
        raise InputError("nothing to move the pin to", "give RELEASE=… or COMMIT=…")
    place = asked.source or pins.submodule_url
    opened = partial(open_upstream, repository=asked.repository, progress=progress.note)
    if asked.commit is not None:
        # The hash before anything else: a branch may move while the tree is made.
        commit = opened(f"git:{place}@{asked.commit}").identity.commit
    else:
        commit = _tagged(place, asked.release, progress)
    spec = f"release:{asked.release}" if asked.release is not None else f"git:{place}@{commit}"
    before = pins.default_spec
    if pins.default_commit is not None and asked.source:
        before = f"git:{asked.source}@{pins.default_commit}"
    release = opened(spec).identity.version if asked.release is not None else None
    new_text = moved(pins_file(asked.repository).read_text("utf-8"), release=release, commit=commit)
    # What fails puts a copy of the tree in its place, which is no way to treat what is somebody's
    # own.
    refuse_foreign(
        asked.out, foreign(asked.out), "or generate the tree again with `shrinker shrink --force`"
    )
    with _restored(asked, pins.submodule_path) as kept:
        old = _old_side(asked, pins, before, kept, progress)
        made = shrink(replace(asked, upstream=spec), progress)
        new = recorded_side(spec, asked.out, spec, progress, asked.reports)
        asks = tuple(finding for item in made.evidence for finding in item.open)
        progress.phase("compare")
        compared = compare_sides(
            (old, new), history=asked.history, rules=asked.rules, jobs=asked.jobs
        )
        # Before all evidence is asked again: that takes longer than to make the tree.
        if exceeded := overruns(compared, load_profile(asked.profile, asked.rules).budget):
            message = "\n  ".join(("the new tree exceeds the budget of the profile:", *exceeded))
            mend = (
                f"add rules, or raise `budget` in profiles/{asked.profile}.toml; the new tree is "
                f"in {rejected_beside(asked.out)}"
            )
            raise RefusedBump(
                message,
                f"{_AS_THEY_WERE}; {mend}",
                Bumped(before, spec, compared, None, made.stale, asks),
            )
        _judge(asked, new, progress)
        own_pins_file(asked.repository).write_text(new_text, "utf-8")
        if commit is not None and index_commit(asked.repository, pins.submodule_path) is not None:
            set_index_commit(asked.repository, pins.submodule_path, commit)
        unknown = diagnose(spec, before, asked.profile, asked.jobs, progress, asked.rules)
        return Bumped(before, spec, compared, unknown, made.stale, asks)


def bump_section(done: Bumped) -> str:
    """Return what the page of a bump says besides the comparison, in Markdown, with the first
    findings listed, and how many there are.
    """
    return render("bump.md.jinja", done=done, titles=SECTIONS, most=_LISTED)


def _tagged(place: str, release: str | None, progress: Progress) -> str | None:
    """Commit of a release's tag, for the submodule; None when it cannot be told."""
    tag = f"v{release}"
    try:
        if found := remote_refs(place).get(tag):
            return found
    except InputError as error:
        progress.note(f"{place}: {error.message}")
    progress.note(
        f"the submodule's commit stays: {place} has no tag {tag}, or cannot be asked; give "
        "COMMIT, too"
    )
    return None


def _judge(asked: Bump, new: Side, progress: Progress) -> None:
    """All evidence again, from what now lies in place."""
    assert new.upstream is not None, "it was just generated from it"
    trees = Trees(
        new.upstream, asked.out, new.manifest, load_profile(asked.profile, asked.rules), asked.jobs
    )
    evidence = [lock_evidence(asked.out, new.manifest, asked.reports)]
    for level in EVIDENCE_LEVELS:
        progress.phase(f"verify {level}")
        evidence.append(verify_level(level, trees, progress))
    for item in evidence:
        if not item.passed:
            first = item.findings[0]
            place = f"{first.path}:{first.line}: [{first.check}]"
            raise EvidenceError(
                f"evidence {item.level!r} failed: {place} {first.message}", _AS_THEY_WERE
            )


def _old_side(asked: Bump, pins: Pins, spec: str, kept: Path, progress: Progress) -> Side:
    """Return the tree of the pin as it was: the one in place, where it is that; else generated;
    else its lock alone, when upstream cannot be had.
    """
    tree, reports = kept / asked.out.name, kept / asked.reports.name
    try:
        if (tree / MANIFEST).is_file() and (reports / LOCK).is_file():
            side = recorded_side(spec, tree, spec, progress, reports)
            if side.reports is not None and pins.is_pinned(side.manifest.upstream):
                return side
        return generated([spec], asked.profile, asked.rules, asked.jobs, progress)[0]
    except InputError as error:
        if not (reports / LOCK).is_file():
            raise
        progress.note(
            f"{spec} cannot be generated again, so that only its lock is compared: {error.message}"
        )
        return recorded_side(spec, reports / LOCK, None, progress)


@contextlib.contextmanager
def _restored(asked: Bump, submodule: str) -> Iterator[Path]:
    """Put the pin, the tree and its reports back when the block raises; gives a folder with what
    they were.
    """
    entry = index_commit(asked.repository, submodule)
    pin = own_pins_file(asked.repository)
    text = pin.read_bytes() if pin.is_file() else None
    places = (asked.out, asked.reports)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f".{asked.out.name}.bump-", dir=asked.out.parent
    ) as name:
        kept = Path(name)
        there = [place for place in places if place.exists()]
        for place in there:
            shutil.copytree(place, kept / place.name)
        try:
            yield kept
        except BaseException as error:
            if isinstance(error, RefusedBump):
                for place, aside in (
                    (asked.out, rejected_beside(asked.out)),
                    (asked.reports, reports_beside(rejected_beside(asked.out))),
                ):
                    shutil.rmtree(aside, ignore_errors=True)
                    shutil.copytree(place, aside)
            pin.write_bytes(text) if text is not None else pin.unlink(missing_ok=True)
            if entry is not None and index_commit(asked.repository, submodule) != entry:
                set_index_commit(asked.repository, submodule, entry)
            for place in places:
                shutil.rmtree(place, ignore_errors=True)
                if place in there:
                    shutil.move(kept / place.name, place)
            raise


def overruns(review: Review, budget: Budget) -> list[str]:
    """Return what of a budget a new tree exceeds, a sentence each."""
    found: list[str] = []
    lines, rows = review.new.python_lines, review.table("dependencies")
    if budget.lines is not None and lines > budget.lines:
        grown = [
            f"{row.subject} {row.kind}"
            for row in review.table("growth")
            if row.kind.startswith("+")
        ]
        found.append(
            f"{lines:,} lines of Python, of at most {budget.lines:,} (most: "
            f"{', '.join(grown[:_LARGEST])})"
        )
    added = [row.subject for row in rows if row.kind == "added"]
    if budget.distributions is not None and len(added) > budget.distributions:
        found.append(
            f"{len(added)} new distributions, of at most {budget.distributions}: {', '.join(added)}"
        )
    bad = (
        row
        for row in rows
        if row.kind in ("added", "import added") and row.subject in budget.forbidden
    )
    return [
        *found,
        *(f"{row.subject} is forbidden: {row.kind}, {row.where or row.after}" for row in bad),
    ]
