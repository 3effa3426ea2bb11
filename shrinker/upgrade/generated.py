"""Generated trees in the cache folder, for commands that compare one and are given an upstream. They are not judged.

A tree is found by everything that it depends on: this tool, the rules, the profile, and upstream's identity and files.
"""

import contextlib
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from shrinker.cache import hash_of
from shrinker.cache.layer import tool_identity
from shrinker.cache.workers import Tell, run_in_child
from shrinker.pipeline import Progress, Request, shrink
from shrinker.pipeline.run import Told
from shrinker.project import project_folder
from shrinker.report.place import are_of, reports_beside
from shrinker.ruleset import load_profile
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder, forget, locked, touch
from shrinker.values.errors import InputError
from shrinker.values.upstream import UpstreamTree

MOST_TREES = 6
"""Trees that stay in the cache folder; one is 30 to 60 MiB with its reports."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tree to be had."""

    spec: str | None
    """None for the pinned upstream."""
    profile: str
    rules: Path | None
    upstream: UpstreamTree
    place: Path
    """Where it is, or will be."""

    @property
    def name(self) -> str:
        """As it was asked for."""
        return self.spec or self.upstream.identity.spec

    @property
    def ready(self) -> bool:
        """True when it is there, whole: the lock is put in place last."""
        return are_of(self.reports, self.place)

    @property
    def reports(self) -> Path:
        """Its reports."""
        return reports_beside(self.place)


def wanted(spec: str | None, profile: str, rules: Path | None, progress: Progress) -> Wanted:
    """Look a tree up. Raises InputError when the upstream or the rules cannot be read."""
    ruleset = load_profile(profile, rules)
    upstream = open_upstream(spec, repository=project_folder(), progress=progress.note)
    content = (f"{file.path}:{file.sha256}" for file in upstream.files)
    key = hash_of(tool_identity(), ruleset.digest, profile, repr(upstream.identity), *content).hex()[:32]
    return Wanted(spec, profile, rules, upstream, default_folder() / "generated" / key / "tree")


def generate(trees: list[Wanted], jobs: int, progress: Progress) -> None:
    """Make the trees that are not there; two at once where there are processes for both, since much of an analysis is one after the other.
    Raises InputError when one cannot be generated.
    """
    missing = [tree for tree in {tree.place: tree for tree in trees}.values() if not tree.ready]
    with contextlib.ExitStack() as stack:
        # In one order, so that two runs that want the same trees never wait for each other.
        for tree in sorted(missing, key=lambda tree: str(tree.place)):
            stack.enter_context(locked(tree.place.parent))
        missing = [tree for tree in missing if not tree.ready]
        if missing:
            progress.note(f"generating {' and '.join(tree.name for tree in missing)}")
        runs: list[Callable[[], object]] = [partial(_make, tree, jobs, progress) for tree in missing]
        if len(missing) == 2 and jobs > 1:
            # Two at once would be told in disorder.
            apart = (partial(_make, tree, jobs // 2, Told(lambda message: None)) for tree in missing)
            runs = [stack.enter_context(run_in_child(call)) for call in apart]
        for tree, run in zip(missing, runs, strict=True):
            try:
                run()
            except BrokenProcessPool as error:
                message = f"{tree.name} cannot be generated: its process was killed (often: out of memory)"
                raise InputError(message, "run again with JOBS=1") from error
    for tree in trees:
        touch(tree.place.parent)
    forget(default_folder() / "generated", {tree.place.parent for tree in trees}, MOST_TREES)


def _make(tree: Wanted, jobs: int, progress: Progress, *_: Tell) -> None:
    asked = Request(tree.spec, tree.profile, tree.place, jobs, reports=tree.reports, rules=tree.rules, judge=False)
    shrink(asked, progress)
