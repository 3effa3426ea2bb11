"""Run every tool on its own copy of the same files, measure it, judge what it left."""

from __future__ import annotations

import ast
import gc
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.compare.contenders import CONTENDERS, Contender, Folder
from benchmarks.compare.judge import Judge, Occurrences, Outcome, parse
from benchmarks.compare.predicates import Predicates, flags_of_tree, predicates_of_rules
from benchmarks.figures import Spread
from benchmarks.process import Measurement, measure
from benchmarks.subjects.base import NotInstalledError
from shrinker.facts.environment import Environment
from shrinker.ruleset import Ruleset
from shrinker.syntax.imports import with_packages
from shrinker.values.upstream import UpstreamTree, modules_of

_PARSE = Path(__file__).resolve().parents[1] / "workloads" / "parse_all.py"
_LIMIT_SECONDS = 900.0
_TAIL = 300


@dataclass(frozen=True, slots=True)
class Row:
    """One tool."""

    name: str
    version: str
    did: str
    outcome: Outcome | None
    wall_seconds: Spread | None
    cpu_seconds: Spread | None
    memory_bytes: Spread | None
    passes: int | None
    """Until nothing changed; ``None`` for a tool that needs none."""
    given_up: int
    """Files that the tool itself refused to change, because it had broken them."""
    problem: str


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """Deciding all files by all rules, beside parsing the same files on the same cores, pair by
    pair.
    """

    decide_seconds: Spread
    """Facts and folding, wall time."""
    parse_seconds: Spread
    """Reading and parsing, wall time."""
    ratio: Spread
    cpu_ratio: Spread
    """Of the whole processes with the start of their interpreters: steadier on a machine that does
    other work.
    """
    memory_bytes: Spread


@dataclass(frozen=True, slots=True)
class Comparison:
    """All tools on one upstream."""

    upstream: str
    files: int
    lines: int
    predicates: Predicates
    flags: int
    """Flags given as the second list: names, counted in each module where they are one."""
    present: Occurrences
    """What upstream has in its conditions."""
    rows: tuple[Row, ...]
    decision: DecisionCost | None


def compare(
    tree: UpstreamTree,
    rules: Ruleset,
    *,
    runs: int,
    jobs: int,
    cores: Sequence[int],
    begins: Callable[[str], None] = lambda what: None,
    contenders: Sequence[Contender] = CONTENDERS,
) -> Comparison:
    """Compare on the modules of a tree that no rule removes.

    Args:
        tree: upstream.
        rules: the profile whose facts make the list.
        runs: how often each tool is measured; what it leaves is judged once, after the first run.
        jobs: processes or threads of a tool that can use several.
        cores: the only cores that a tool may use; empty for no restriction.
        begins: told before every measurement.
    """
    paths = compared_paths(tree, rules)
    with tempfile.TemporaryDirectory(prefix="shrinker-compare-") as scratch:
        folder = Path(scratch)
        original = folder / "upstream"
        for path in paths.values():
            (original / path).parent.mkdir(parents=True, exist_ok=True)
            (original / path).write_bytes(tree.read(path))
        predicates = predicates_of_rules(rules)
        flags = {
            paths[module]: found
            for module, found in flags_of_tree(predicates, _modules(original, paths)).items()
        }
        listed = {path: dict(found.direct) for path, found in sorted(flags.items()) if found.direct}
        given = {
            "calls": dict(predicates.calls),
            "dotted": dict(predicates.dotted),
            "flags": listed,
        }
        (folder / "predicates.json").write_text(json.dumps(given), "utf-8")
        bench = _Bench(
            folder, Judge(original, predicates, flags), runs, jobs, cores, rules.profile, begins
        )
        rows = tuple(bench.row(contender) for contender in contenders)
        return Comparison(
            upstream=tree.identity.spec,
            files=len(paths),
            lines=sum(len(tree.read(path).splitlines()) for path in paths.values()),
            predicates=predicates,
            flags=sum(map(len, listed.values())),
            present=bench.judge.upstream,
            rows=rows,
            decision=bench.decision(),
        )


def compared_paths(tree: UpstreamTree, rules: Ruleset) -> dict[str, str]:
    """Return module to path: all modules of the package but those that a rule removes."""
    paths = modules_of(tree.by_path)
    world = Environment(rules, {}, with_packages(paths))
    return {
        module: path
        for module, path in sorted(paths.items())
        if world.removed_module(module) is None
    }


def _modules(folder: Path, paths: dict[str, str]) -> dict[str, ast.Module]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        trees = {module: parse(folder / path) for module, path in paths.items()}
    finally:
        if enabled:
            gc.enable()
    return {
        module: tree if tree is not None else ast.Module([], []) for module, tree in trees.items()
    }


class _Bench:
    """One upstream's scratch folder."""

    def __init__(
        self,
        folder: Path,
        judge: Judge,
        runs: int,
        jobs: int,
        cores: Sequence[int],
        profile: str,
        begins: Callable[[str], None],
    ) -> None:
        self.judge = judge
        self._folder, self._runs, self._jobs, self._cores = folder, runs, jobs, cores
        self._profile, self._begins = profile, begins

    def row(self, contender: Contender) -> Row:
        """Measure one tool, and judge what it left after the first run."""
        try:
            version = contender.version()
        except NotInstalledError as error:
            return Row(
                contender.name,
                "",
                contender.did,
                None,
                None,
                None,
                None,
                None,
                0,
                f"{error}; `make bench` installs it",
            )
        taken: list[Measurement] = []
        outcome, problem = None, ""
        told: dict[str, Any] = {}
        for run in range(1, self._runs + 1):
            self._begins(f"{contender.name}, run {run} of {self._runs}")
            place = self._place()
            measured = self._measure(contender.command(place))
            problem = self._problem(measured)
            if problem:
                break
            taken.append(measured)
            if run == 1:
                outcome = self.judge.judge(place.tree)
                told = self._told()
        return Row(
            name=contender.name,
            version=version,
            did=contender.did,
            outcome=outcome,
            wall_seconds=Spread.of([m.wall_seconds for m in taken]) if taken else None,
            cpu_seconds=Spread.of([m.cpu_seconds for m in taken]) if taken else None,
            memory_bytes=Spread.of([m.memory_bytes for m in taken]) if taken else None,
            passes=told.get("passes"),
            given_up=told.get("given_up", 0),
            problem=problem,
        )

    def decision(self) -> DecisionCost | None:
        """Deciding beside parsing; ``None`` when one of them failed."""
        fold = Contender("deciding", "", "fold_tree", ("--dry",), "")
        decided, parsed, cpu, memory = [], [], [], []
        for run in range(1, self._runs + 1):
            self._begins(f"deciding and parsing, run {run} of {self._runs}")
            place = self._place()
            measured = self._measure(fold.command(place))
            if self._problem(measured):
                return None
            seconds = self._told()["seconds"]
            decided.append(seconds["facts"] + seconds["fold"])
            memory.append(measured.memory_bytes)
            parsing = self._measure(
                [sys.executable, str(_PARSE), str(place.tree), "--jobs", str(self._jobs)]
            )
            if self._problem(parsing):
                return None
            parsed.append(self._told()["seconds"])
            cpu.append(measured.cpu_seconds / parsing.cpu_seconds)
        ratio = Spread.of([ours / theirs for ours, theirs in zip(decided, parsed, strict=True)])
        return DecisionCost(
            Spread.of(decided), Spread.of(parsed), ratio, Spread.of(cpu), Spread.of(memory)
        )

    def _place(self) -> Folder:
        work, cache = self._folder / "work", self._folder / "cache"
        for folder in (work, cache):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._folder / "upstream", work)
        cache.mkdir()
        return Folder(work, self._folder / "predicates.json", cache, self._jobs, self._profile)

    def _measure(self, command: list[str]) -> Measurement:
        return measure(
            command,
            folder=self._folder,
            environment={**os.environ, **Contender.environment()},
            cores=self._cores,
            limit_seconds=_LIMIT_SECONDS,
        )

    def _told(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(
            (self._folder / "stdout").read_text("utf-8").splitlines()[-1]
        )
        return told

    def _problem(self, measured: Measurement) -> str:
        if measured.timed_out:
            return f"stopped at its time limit of {_LIMIT_SECONDS:g} s"
        if measured.exit_code == 0:
            return ""
        said = (
            (self._folder / "stderr")
            .read_text("utf-8", "replace")
            .replace(str(self._folder), "SCRATCH")
        )
        return f"exit code {measured.exit_code}: {' '.join(said.split())[-_TAIL:]}"
