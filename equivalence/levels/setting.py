"""With what a level runs: the simulation, a folder to work in, what is known to differ."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from equivalence.checkpoints import writer
from equivalence.processes import Finished, process_environment, run
from equivalence.simulation import calls, executed
from equivalence.simulation.environment import Simulation
from equivalence.trace.compare import Stated
from shrinker.cache import Layer, pack, unpack
from shrinker.values.errors import InputError

UPSTREAM, GENERATED = SIDES = ("upstream", "generated")
PROGRAMS = Path(__file__).resolve().parent / "programs"
ROOT = Path(__file__).resolve().parents[2]
"""Folder of this package, for a process that is not simulated."""
_SECONDS = 120
"""For the processes of a server to write, before `patience`."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Differences that the report on the interface lists (`interface.json`)."""

    flags: tuple[Mapping[str, Any], ...] = ()
    endpoints: tuple[Mapping[str, Any], ...] = ()
    refused: tuple[Mapping[str, Any], ...] = ()

    def refuses(self, options: Sequence[str]) -> str:
        """Return the first of a server's options that is refused, with its value; empty when all
        are taken. A field of the model's configuration counts as an option by the name under which
        it is refused.
        """
        gone = [row["subject"] for row in self.flags if row["kind"] == "removed"]
        for name, value in pairwise([*options, ""]):
            if name in gone:
                return name
            for row in (row for row in self.refused if row["subject"] == name):
                values, only = row.get("values") or (), row.get("only") or ()
                if not values and not only:
                    return name
                if value in values or (only and value not in only):
                    return f"{name} {value}"
        return ""

    @classmethod
    def read(cls, path: Path) -> Self:
        """From the report. Raises InputError when it is not there or not such a report."""
        try:
            data = json.loads(path.read_text("utf-8"))
            return cls(tuple(data["flags"]), tuple(data["endpoints"]), tuple(data["refused"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            next_step = (
                "generate the tree again with `make shrink`, or name its reports with --reports"
            )
            raise InputError(
                f"{path}: the list of what may differ cannot be read: {error}", next_step
            ) from error


@dataclass(slots=True)
class Following:
    """What is known of upstream's lines, and where they are written."""

    work: Path
    layer: Layer
    """Remembers from run to run."""
    upstream: str
    """What upstream this is, for the key."""
    stated: Stated = field(default_factory=Stated)
    """What may be missing because a person said so."""
    _known: dict[str, executed.Executed] = field(default_factory=dict)

    def known(self, program: str) -> executed.Executed | None:
        """Return lines of a program, in words that say all it depends on beside upstream; None when
        it was not followed.
        """
        if program not in self._known and (
            data := self.layer.load(self._keys(program)).get(program)
        ):
            self._known[program] = executed.Executed(*unpack(data))
        return self._known.get(program)

    def folder(self, program: str) -> Path:
        """Return an empty folder for the processes of a program to write into."""
        executed.clear(self._place(program))
        return self._place(program)

    def keep(self, program: str) -> None:
        """Remember what the processes of a program wrote."""
        found = self._known[program] = executed.read(self._place(program))
        self.layer.save(
            self._keys(program), {program: pack((dict(found.running), dict(found.importing)))}
        )

    def keep_living(self, program: str, patience: float) -> None:
        """The same of processes that still run; nothing is remembered when one of them does not
        write.
        """
        if executed.ask(self._place(program), _SECONDS * patience):
            self.keep(program)

    def _keys(self, program: str) -> dict[str, bytes]:
        return {program: self.layer.key(self.upstream, program)}

    def _place(self, program: str) -> Path:
        return self.work / "executed" / hashlib.sha256(program.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended that was run on one tree."""

    data: Any
    """What it wrote as JSON; None when it failed."""
    finished: Finished
    called: calls.Called

    @property
    def failure(self) -> str:
        """Why there is no data; empty when there is."""
        if self.data is not None:
            return ""
        how = (
            "ran past its time"
            if self.finished.code is None
            else f"ended with {self.finished.code}"
        )
        return f"{how}: {self.finished.tail(6)}"


@dataclass(frozen=True, slots=True)
class Call:
    """One of `programs/`, and what it is given."""

    program: str
    arguments: Mapping[str, Mapping[str, Any]]
    """By side."""
    limit: float
    """Seconds, before `patience`."""
    name: str
    """What files and people call it."""
    capability: tuple[int, int] = (9, 0)
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
    jobs: int = 1
    """Cores that may be used at once: from two on, both trees run at the same time."""
    where_upstream_runs: bool = False
    """What does not run on upstream's tree either, with the same error, is listed and is no
    finding.
    """
    tests: Path | None = None

    def prepared(
        self, side: str, tree: Path, name: str, follow: str, **device: Any
    ) -> tuple[Simulation, Path, str]:
        """Return the simulation of one run, its folder, and what is kept of it as executed lines:
        nothing where they are known.

        Args:
            name: what this run is, for the names of files.
            follow: what the program is, in words that say all it depends on; upstream's lines are
                then followed.
            device: `capability` or `devices` (`Settings`).
        """
        folder = self.work / side / name
        executed.clear(log := folder / "calls")
        made = self.simulation.seeing(log=str(log), **device)
        if (
            side != UPSTREAM
            or not follow
            or self.following is None
            or self.following.known(follow) is not None
        ):
            return made, folder, ""
        lines = self.following.folder(follow)
        return made.seeing(executed=str(lines), followed=str(tree / "sglang")), folder, follow

    def program(self, side: str, tree: Path, call: Call) -> Outcome:
        """Run one of `programs/` on a tree."""
        made, folder, kept = self.prepared(
            side, tree, call.name, call.follow, capability=call.capability
        )
        given, limit = dict(call.arguments[side]), call.limit * self.patience
        finished, data = exchange(
            made.python, call.program, given, folder, made.variables(tree), limit
        )
        if kept and self.following is not None and finished.code == 0:
            self.following.keep(kept)
        return Outcome(data, finished, calls.read(folder / "calls"))

    def checkpoint(self, config: Mapping[str, Any]) -> Path:
        """Return the folder of a tiny checkpoint with this `config.json`, made once.

        Raises RuntimeError where it cannot be made.
        """
        text = json.dumps(config, indent=1, sort_keys=True)
        maker = "".join(
            path.read_text("utf-8")
            for path in sorted(Path(str(writer.__file__)).parent.glob("*.*"))
        )
        folder = (
            self.work / "checkpoints" / hashlib.sha256((maker + text).encode()).hexdigest()[:12]
        )
        if (folder / "config.json").is_file():
            return folder
        self.progress(f"checkpoint: {config['architectures'][0]}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "given.json").write_text(text, "utf-8")
        variables, limit = process_environment({"PYTHONPATH": str(ROOT)}), 300 * self.patience
        command: list[str | Path] = [
            self.simulation.python,
            "-m",
            writer.__name__,
            folder / "given.json",
            folder,
        ]
        finished = run(command, variables=variables, output=folder / "output.txt", limit=limit)
        if finished.code != 0:
            raise RuntimeError(f"the checkpoint in {folder} could not be made: {finished.tail()}")
        return folder


def exchange(
    python: Path,
    program: str,
    given: Mapping[str, Any],
    folder: Path,
    variables: Mapping[str, str],
    limit: float,
) -> tuple[Finished, Any]:
    """Run one of `programs/`, which takes a file of JSON and writes one: how it ended, and what it
    wrote; None where it wrote nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked, result = folder / "given.json", folder / "result.json"
    asked.write_text(json.dumps(given), "utf-8")
    result.unlink(missing_ok=True)
    command: list[str | Path] = [python, PROGRAMS / f"{program}.py", asked, result]
    finished = run(command, variables=variables, output=folder / "output.txt", limit=limit)
    return finished, json.loads(result.read_text("utf-8")) if result.is_file() else None


def slug(name: str) -> str:
    """Return a name as that of a folder."""
    return "".join(c if c.isalnum() else "-" for c in name.lower())
