"""The levels as faults are judged by them: each says the first thing that it finds, and the costly ones run no more than they must."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from equivalence.levels import SIMULATED_LEVELS, Setting, SimulatedLevel, model
from equivalence.levels.replay import Replay
from equivalence.levels.scenarios import CONFIGURATIONS, RUNS
from shrinker.cache import Cache
from shrinker.check.levels import judge
from shrinker.check.trees import Trees
from shrinker.ruleset import Ruleset
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.upstream import UpstreamTree
from tools.mutation.faults import Fault
from tools.mutation.judge import Asked


def static_level(name: str, tree: UpstreamTree, rules: Ruleset | None, jobs: int, cache: Cache) -> Asked:
    """A level that reads the trees; the cache has the outcomes of the files that no fault touched.

    What the tree itself leaves open, of an upstream that nobody has answered for, notices no fault.
    """
    known: set[Finding] = set()

    def ask(folder: Path, manifest: Manifest, fault: Fault | None) -> str:
        found = judge(name, Trees(tree, folder, manifest, rules, jobs, cache), lambda line: None)
        if fault is None:
            known.update(found.open)
            return _first(found)
        fresh = tuple(finding for finding in found.held().findings if finding not in known)
        return _first(replace(found, passed=not fresh, findings=fresh))

    return ask


def simulated_level(name: str, tree: UpstreamTree, setting: Setting, told: Callable[[str], None]) -> Asked:
    """A level that runs the trees: upstream once, the tree itself once, a damaged copy where the fault may matter. `told` receives a
    line for each program that runs."""
    # A copy is a folder of its own, whose byte code nobody asks for again.
    simulation = replace(setting.simulation, compiled=setting.work / "compiled")
    replay = Replay()
    quiet = replace(setting, simulation=simulation, replay=replay, progress=told)
    parts = [*_parts(name)]

    def ask(folder: Path, manifest: Manifest, fault: Fault | None) -> str:
        replay.damaged = None if fault is None else fault.module
        for part in parts:
            if finding := _first(part(tree.root / "python", folder / "python", quiet).evidence):
                return finding
        return ""

    return ask


def _parts(name: str) -> Iterator[SimulatedLevel]:
    """The level, or pieces of it: the first finding is enough."""
    if name != "model":
        yield SIMULATED_LEVELS[name]
        return
    yield from (partial(model.run, configurations=(one,), runs=(), whole=False) for one in CONFIGURATIONS)
    yield from (partial(model.run, configurations=(), runs=(one,), whole=False) for one in RUNS)


def _first(found: Evidence) -> str:
    if found.passed:
        return ""
    first = found.findings[0]
    place = f"{first.path}:{first.line}: " if first.path else ""
    return f"{place}[{first.check}] {first.message}"
