"""With what a level runs: the simulation, a folder to work in, what is known to differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from equivalence.levels.following import Following
from equivalence.levels.replay import Replay
from equivalence.simulation import calls
from equivalence.simulation.environment import Simulation
from equivalence.simulation.running import Finished, run
from shrinker.values.errors import InputError

PROGRAMS = Path(__file__).resolve().parent / "programs"
Shown = TypeVar("Shown")
UPSTREAM, GENERATED = "upstream", "generated"
SIDES = (UPSTREAM, GENERATED)


@dataclass(frozen=True, slots=True)
class Expected:
    """Differences that the report on the interface lists (`interface.json`)."""

    flags: tuple[Mapping[str, Any], ...] = ()
    endpoints: tuple[Mapping[str, Any], ...] = ()
    refused: tuple[Mapping[str, Any], ...] = ()

    def refuses(self, options: Sequence[str]) -> str:
        """The first of a server's options that is refused, with its value; empty when all are taken. A field of the
        model's configuration counts as an option by the name under which it is refused."""
        gone = {row["subject"] for row in self.flags if row["kind"] == "removed"}
        for name, value in pairwise([*options, ""]):
            if name in gone:
                return name
            for row in self.refused:
                values, only = row.get("values") or (), row.get("only") or ()
                if row["subject"] != name:
                    continue
                if not values and not only:
                    return name
                if value in values or (only and value not in only):
                    return f"{name} {value}"
        return ""

    @staticmethod
    def read(path: Path) -> Expected:
        """From the report. Raises InputError when it is not there or not such a report."""
        try:
            data = json.loads(path.read_text("utf-8"))
            return Expected(tuple(data["flags"]), tuple(data["endpoints"]), tuple(data["refused"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}: the list of what may differ cannot be read: {error}",
                "generate the tree again with `make shrink`, or name its reports with --reports",
            ) from error


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended that was run on one tree."""

    data: Any
    """What it wrote as JSON; None when it failed."""
    finished: Finished
    called: Mapping[str, frozenset[str]]
    """Kernels and stubs that were called (`simulate.calls`)."""

    @property
    def failure(self) -> str:
        """Why there is no data; empty when there is."""
        if self.data is not None:
            return ""
        how = "ran past its time" if self.finished.code is None else f"ended with {self.finished.code}"
        return f"{how}: {self.finished.tail(6)}"


@dataclass(frozen=True, slots=True)
class Call:
    """One of `programs/`, and what it is given."""

    program: str
    arguments: Mapping[str, Mapping[str, Any]]
    """By side."""
    limit: float
    """Seconds, before `patience`."""
    name: str = ""
    """For the names of files, where the program runs more than once."""
    capability: tuple[int, int] | None = None
    """Of the device, where it is not the simulation's own."""
    follow: str = ""
    """All that it depends on, in words; upstream's lines are then followed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What every level is given beside the two trees."""

    simulation: Simulation
    work: Path
    """Folder for all that a level writes; left as it is."""
    expected: Expected = field(default_factory=Expected)
    progress: Callable[[str], None] = lambda line: None
    patience: float = 1.0
    """Factor of all time limits, for slow machines."""
    following: Following | None = None
    """Where the lines that upstream executes are kept; None: they are not followed."""
    memory: dict[str, Any] | None = None
    """What upstream showed, where many trees are compared with it: it is run once."""
    replay: Replay | None = None
    """What the generated tree showed, where copies of it are compared with upstream."""
    jobs: int = 1
    """Cores that may be used at once: from two on, both trees run at the same time."""
    where_upstream_runs: bool = False
    """What does not run on upstream's tree either, with the same error, is listed and is no finding."""

    def once(
        self,
        side: str,
        key: str,
        show: Callable[[], Shown],
        called: Callable[[Shown], Mapping[str, frozenset[str]]],
    ) -> Shown:
        """What a side shows, run or remembered.

        Args:
            side: which tree.
            key: all that the answer depends on beside the tree.
            show: runs the tree.
            called: what it called by kind, of what it showed.
        """
        if side == GENERATED and self.replay is not None:
            return self.replay.ask(key, show, called)
        if self.memory is None or side != UPSTREAM:
            return show()
        if key not in self.memory:
            self.memory[key] = show()
        known: Shown = self.memory[key]
        return known

    def python(
        self,
        side: str,
        tree: Path,
        name: str,
        arguments: Sequence[str | Path],
        *,
        limit: float,
        capability: tuple[int, int] | None = None,
        extra: Mapping[str, str] | None = None,
        follow: str = "",
    ) -> tuple[Finished, Mapping[str, frozenset[str]]]:
        """Run Python on a tree, simulated.

        Args:
            side: which tree, for the names of files.
            tree: folder that holds the package.
            name: what this run is, for the names of files.
            arguments: of Python.
            limit: seconds, before `patience`.
            capability: of the device, where it is not the simulation's own.
            extra: environment variables on top.
            follow: what the program is, in words that say all it depends on; upstream's lines are then followed.
        """
        folder = self.work / side / name
        log = folder / "calls"
        log.mkdir(parents=True, exist_ok=True)
        for old in log.glob("*.calls"):
            old.unlink()
        made = self.simulation if capability is None else self.simulation.on(capability)
        made, written = self.followed(side, tree, made, follow)

        def show() -> tuple[Finished, Mapping[str, frozenset[str]]]:
            finished = run(
                [made.python, *arguments],
                variables=made.with_log(log).variables(tree, extra),
                output=folder / "output.txt",
                limit=limit * self.patience,
                folder=folder,
            )
            if written is not None and self.following is not None and finished.code == 0:
                self.following.keep(follow, written)
            return finished, calls.read(log)

        return self.once(side, f"python {name} {arguments} {capability} {extra}", show, lambda shown: shown[1])

    def followed(self, side: str, tree: Path, made: Simulation, follow: str) -> tuple[Simulation, Path | None]:
        """The simulation that follows lines, and where it writes them: for upstream, where they are not known yet."""
        if side != UPSTREAM or not follow or self.following is None or self.following.known(follow) is not None:
            return made, None
        folder = self.following.folder(follow)
        return made.following(folder, tree / "sglang"), folder

    def program(self, side: str, tree: Path, call: Call) -> Outcome:
        """Run one of `programs/`, which takes a file of JSON and writes one."""
        name = call.name or call.program
        folder = self.work / side / name
        folder.mkdir(parents=True, exist_ok=True)
        given, result = folder / "given.json", folder / "result.json"
        text = json.dumps(dict(call.arguments[side]))

        def show() -> Outcome:
            given.write_text(text, "utf-8")
            result.unlink(missing_ok=True)
            command = [PROGRAMS / f"{call.program}.py", given, result]
            finished, called = replace(self, memory=None, replay=None).python(
                side, tree, name, command, limit=call.limit, capability=call.capability, follow=call.follow
            )
            data = json.loads(result.read_text("utf-8")) if result.is_file() else None
            return Outcome(data, finished, called)

        return self.once(
            side, f"program {call.program} {name} {text} {call.capability}", show, lambda shown: shown.called
        )


def slug(name: str) -> str:
    """A name as that of a folder."""
    return "".join(c if c.isalnum() else "-" for c in name.lower())


def modules(tree: Path) -> list[str]:
    """Dotted names of all modules of the package in a folder, sorted; no `__main__`, which runs when imported."""
    found = []
    for file in sorted((tree / "sglang").rglob("*.py")):
        parts = file.relative_to(tree).with_suffix("").parts
        if parts[-1] != "__main__" and all(part.isidentifier() for part in parts):
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found
