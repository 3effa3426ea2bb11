"""What a person names as one side of a comparison: a generated tree, a lock, or an upstream, whose
tree is generated in the cache folder and not judged. Such a tree is found by everything that it
depends on: this tool, the rules, the profile, and upstream's identity and files. And the comparison
of two of them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from shrinker.cache import hash_of
from shrinker.cache.layer import tool_identity
from shrinker.cache.workers import Tell, run_in_child
from shrinker.check.leftovers import find_leftovers
from shrinker.check.trees import Trees
from shrinker.pipeline import Progress, Request, shrink
from shrinker.pipeline.run import Told as Quiet
from shrinker.project import project_folder
from shrinker.report.diff import parts
from shrinker.report.diff.files import commit_rows, file_changes, symbol_changes, text_changes
from shrinker.report.diff.pair import Pair, Side
from shrinker.report.diff.values import Identified, Reason, Review, Row
from shrinker.report.place import GRAPH, are_of, read_manifest, reports_beside, reports_of
from shrinker.ruleset import load_profile
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder, forget, locked, touch
from shrinker.source.layout import NEEDED
from shrinker.source.repository import Told, history
from shrinker.source.spec import GitSpec, parse_spec
from shrinker.values.errors import InputError, ShrinkerError
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree

_KINDS = ("release:", "git:", "path:")
_MOST_TREES = 6
"""Trees that stay in the cache folder; one is 30 to 60 MiB with its reports."""
_ORDER = ("rule", "reach", "unknown", "upstream")
"""Causes of symbols: what upstream did not touch comes first."""


def open_sides(
    names: tuple[str, str],
    upstreams: tuple[str | None, str | None],
    profile: str,
    rules: Path | None,
    jobs: int,
    progress: Progress,
) -> tuple[Side, Side]:
    """Return both sides; what is an upstream is generated, and `upstreams` are where to read that
    of each side that is a tree or a lock. Raises InputError when one of them is nothing that can be
    compared.
    """
    places = {name: _asked(name) for name in names}
    made = generated(
        [name for name, place in places.items() if place is None], profile, rules, jobs, progress
    )
    sides = {side.name: side for side in made}
    old, new = (
        recorded_side(name, place, upstream, progress) if (place := places[name]) else sides[name]
        for name, upstream in zip(names, upstreams, strict=True)
    )
    return old, new


def generated(
    specs: Sequence[str | None], profile: str, rules: Path | None, jobs: int, progress: Progress
) -> list[Side]:
    """Return the trees of some upstreams, None for the pinned one.

    Those that are not there are made; two at once where there are processes for both, since much of
    an analysis is one after the other. Raises InputError when something cannot be read, or a tree
    not be generated.
    """
    folder, sought = default_folder() / "generated", list[tuple[str, Request, UpstreamTree]]()
    for spec in specs:
        ruleset = load_profile(profile, rules)
        upstream = open_upstream(spec, repository=project_folder(), progress=progress.note)
        content = (f"{file.path}:{file.sha256}" for file in upstream.files)
        key = hash_of(
            tool_identity(), ruleset.digest, profile, repr(upstream.identity), *content
        ).hex()[:32]
        out = folder / key / "tree"
        asked = Request(
            spec, profile, out, jobs, reports=reports_beside(out), rules=rules, judge=False
        )
        sought.append((spec or upstream.identity.spec, asked, upstream))

    def missing() -> dict[Path, tuple[str, Request]]:
        # One that is there is whole: the lock is put in place last.
        return {
            a.out: (name, a) for name, a, _ in sought if not are_of(reports_beside(a.out), a.out)
        }

    with ExitStack() as stack:
        # In one order, so that two runs that want the same trees never wait for each other.
        for place in sorted(missing(), key=str):
            stack.enter_context(locked(place.parent))
        left = [*missing().values()]
        if left:
            progress.note(f"generating {' and '.join(name for name, _ in left)}")
        runs: list[Callable[[], object]] = [partial(shrink, asked, progress) for _, asked in left]
        if len(left) == 2 and jobs > 1:
            halves = (partial(_make, replace(asked, jobs=jobs // 2)) for _, asked in left)
            runs = [stack.enter_context(run_in_child(half)) for half in halves]
        for (name, _), run in zip(left, runs, strict=True):
            try:
                run()
            except BrokenProcessPool as error:
                message = (
                    f"{name} cannot be generated: its process was killed (often: out of memory)"
                )
                raise InputError(message, "run again with JOBS=1") from error
    kept = {asked.out.parent for _, asked, _ in sought}
    for place in kept:
        touch(place)
    forget(folder, kept, _MOST_TREES)
    return [
        Side(name, read_manifest(asked.out), asked.out, asked.reports, tree)
        for name, asked, tree in sought
    ]


def _make(asked: Request, _: Tell) -> None:
    # Two at once would be told in disorder.
    shrink(asked, Quiet(lambda message: None))


def _asked(name: str) -> Path | None:
    """Return the folder or file that is named; None for an upstream."""
    if name.startswith(_KINDS) or name == "submodule":
        parse_spec(name)
        return None
    place = Path(name).expanduser().absolute()
    if not place.exists():
        give = (
            "give a folder with SHRINK.json, a shrink.lock.json, release:VERSION or "
            "git:PATH_OR_URL@COMMIT"
        )
        raise InputError(f"{name}: no generated tree, no lock and no upstream", give)
    return place


def recorded_side(
    name: str, place: Path, upstream: str | None, progress: Progress, reports: Path | None = None
) -> Side:
    """Return the side of a tree, by its folder, or of a lock; `upstream`: where to read what it was
    generated from; `reports`: by default where `shrink` puts them. Raises InputError for anything
    else.
    """
    manifest, folder = read_manifest(place), place if place.is_dir() else None
    beside = reports_of(place, manifest, reports) if folder else place.parent
    found = beside if (beside / GRAPH).is_file() and are_of(beside, place) else None
    # Only a release says by itself where it is.
    spec = upstream or (manifest.upstream.spec if manifest.upstream.kind == "release" else None)
    tree = (
        open_upstream(spec, repository=project_folder(), progress=progress.note)
        if spec is not None
        else None
    )
    return Side(name, manifest, folder, found, tree)


def compare_sides(
    sides: tuple[Side, Side],
    *,
    history: str | None,
    rules: Path | None,
    jobs: int,
    predicates: bool = True,
) -> Review:
    """Return all that a reviewer must know of two sides, the old one and the new one; `history` as
    of `told_between`. Raises InputError when a report or a file of one is damaged, ShrinkerError
    when a worker process was killed.
    """
    told, notes = told_between(sides, history)
    pair = Pair(*sides, tuple(told))
    if not predicates:
        return _review(pair, notes)
    # Most of it waits for nothing of the other: half of a page's time.
    look = partial(unknown_predicates, pair, rules, max(1, jobs - 1))
    with run_in_child(lambda _: look()) if jobs > 1 else nullcontext(look) as looked:
        found = _review(pair, notes)
        try:
            unknown, missing = looked()
        except BrokenProcessPool as error:
            message = (
                "the process that looks for unknown predicates was killed (often: out of memory)"
            )
            raise ShrinkerError(
                message, "run again with JOBS=1, or with --no-predicates"
            ) from error
    tables = {**found.tables, "risks": (*unknown, *found.table("risks"))}
    return replace(found, tables=tables, notes=(*found.notes, *missing))


def _review(pair: Pair, notes: Sequence[str]) -> Review:
    """Return all tables but for unknown predicates; `notes`: what could not be looked at."""
    texts = tuple(text_changes(pair))
    files = [*file_changes(pair, texts)]
    symbols = sorted(
        symbol_changes(pair),
        key=lambda row: (_ORDER.index(row.reason.cause), row.path, row.upstream),
    )
    flags, endpoints = parts.offered_changes(pair)
    tables: dict[str, Iterable[Row]] = {
        "rules": pair.changed_rules,
        "uncertain": parts.uncertain_changes(pair),
        "kept": (row for row in files if row.kind == "added"),
        "removed": (row for row in files if row.kind == "removed"),
        "symbols_kept": (row for row in symbols if row.kind == "added"),
        "symbols_removed": (row for row in symbols if row.kind == "removed"),
        # Those first that upstream did not change.
        "changed": sorted(
            (r for r in files if r.kind == "changed"), key=lambda r: r.reason.cause == "upstream"
        ),
        "decisions": parts.decision_changes(pair),
        "commits": commit_rows(pair),
        "flags": flags,
        "endpoints": endpoints,
        "growth": parts.growth(pair),
        "dependencies": parts.dependency_changes(pair),
        "data": parts.data_changes(pair),
        "kernels": parts.kernel_changes(pair),
        "risks": parts.mechanism_changes(pair),
    }
    old, new = pair.old, pair.new
    notes = (*notes, *_missing(old), *_missing(new))
    return Review(
        _identified(old),
        _identified(new),
        notes,
        {name: (*rows,) for name, rows in tables.items()},
        texts,
    )


def _identified(side: Side) -> Identified:
    made, upstream = side.manifest, side.manifest.upstream
    by = (made.profile, made.rules_hash, made.tool_version)
    lines = sum(file.lines_after for file in made.files if file.path.endswith(".py"))
    return Identified(
        side.name,
        upstream.spec,
        upstream.commit or "",
        *by,
        len(made.files),
        lines,
        upstream.reference,
    )


def _missing(side: Side) -> list[str]:
    told = {
        "only the lock is there, so that texts, flags, endpoints and risks are not compared": side.folder
        is None,
        "no reports of the same run, so that reasons and symbols are not told": side.reports
        is None,
        "no saved search beside its reports, so that symbols are not compared": side.graph
        and side.symbols is None,
        "its upstream cannot be read, so that what upstream changed is known in part only": side.upstream
        is None,
    }
    return [f"{side.name}: {text}" for text, missing in told.items() if missing]


def told_between(sides: tuple[Side, Side], repository: str | None) -> tuple[list[Told], list[str]]:
    """Upstream's commits between the sides, and what keeps them from being told; `repository`:
    where history is, with ``@OLD..NEW`` where it knows neither the commits of the sides nor the
    tags of their releases; by default what the new side was read from, when that is git.
    """
    old, new = (side.manifest.upstream.reference for side in sides)
    text, at, bounds = (repository or "").rpartition("@")
    if at and ".." in bounds:
        text = text or "."
        old, _, new = bounds.partition("..")
    else:
        specs = [parse_spec(side.name) for side in reversed(sides) if side.name.startswith("git:")]
        folders = (
            spec.repository for spec in specs if isinstance(spec, GitSpec) and not spec.is_url
        )
        text = repository or next(folders, "")
    if not text or not old or not new:
        return [], [
            (
                "no repository with both commits, so that upstream's commits are not told: see "
                "--history"
            )
        ]
    try:
        return history(Path(text).expanduser(), old, new, NEEDED), []
    except InputError as error:
        return [], [f"upstream's commits are not told: {error.message}"]


def unknown_predicates(pair: Pair, rules: Path | None, jobs: int) -> tuple[list[Row], list[str]]:
    """Questions about platforms in the new tree that no rule names and the old one did not ask; and
    why there are none.

    A name that the old tree writes anywhere was asked before, as was all that an unchanged file
    asks.
    """
    old, new = pair.old, pair.new
    for side in (old, new):
        if side.folder is None or side.upstream is None:
            return [], [
                (
                    f"{side.name}: no tree or no upstream, so that unknown predicates are not "
                    "looked for"
                )
            ]
    assert new.folder is not None and new.upstream is not None, "just looked at"
    profile = load_profile(new.manifest.profile, rules)
    # A name that the old tree does not write stands in no file that it has, too.
    changed = {path for path, _, file in pair.differing() if file is not None}
    trees = Trees(new.upstream, new.folder, new.manifest, profile, jobs)
    left = find_leftovers(trees, changed)
    why = Reason("rule", "no rule names it")
    asked = [
        (s.name, f"beside {', '.join(s.beside)}", s.sites[0]) for s in left.suspects if s.sites
    ]
    rows = [
        *(
            Row(name, "unknown predicate", "", beside, *site, 0, why)
            for name, beside, site in asked
        ),
        *(
            Row(s.text, f"unknown: {s.kind}", "", s.where, s.path, s.line, 0, why)
            for s in left.unexplained
        ),
    ]
    before = b"\n".join(old.read(path) for path in old.files if path.endswith(".py"))

    def said(row: Row) -> bool:
        name = re.escape(row.subject.removesuffix("()").rpartition(".")[2])
        return re.search(rf"(?<!\w){name}(?!\w)".encode(), before) is not None

    groups = grouped(((row.kind, row.subject), row) for row in rows)
    return [first for first, *_ in groups.values() if not said(first)], []
