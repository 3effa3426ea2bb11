"""The tools of the comparison, and what each was asked to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.subjects.base import distribution_version, script
from shrinker import __version__

_CHECKOUT = Path(__file__).resolve().parents[2]
_WORKLOADS = Path(__file__).resolve().parents[1] / "workloads"


@dataclass(frozen=True, slots=True)
class Folder:
    """Where one run of one tool works."""

    tree: Path
    """A copy of upstream's files, to be changed in place."""
    predicates: Path
    """JSON document of the list."""
    cache: Path
    """Empty cache folder for shrinker."""
    jobs: int
    profile: str


@dataclass(frozen=True, slots=True)
class Contender:
    """One row of the table."""

    name: str
    distribution: str
    """Of the tool; empty for shrinker itself."""
    workload: str
    """File in `benchmarks/workloads`."""
    options: tuple[str, ...]
    did: str
    """What it was told, for the reader of the table."""

    def version(self) -> str:
        """Raises NotInstalledError."""
        return (
            distribution_version(self.distribution)
            if self.distribution
            else f"shrinker {__version__}"
        )

    def command(self, folder: Folder) -> list[str]:
        """Return the process to measure. Raises NotInstalledError."""
        start = [sys.executable, str(_WORKLOADS / f"{self.workload}.py"), str(folder.tree)]
        if self.workload == "fold_tree":
            own = (
                "--jobs",
                str(folder.jobs),
                "--cache",
                str(folder.cache),
                "--profile",
                folder.profile,
            )
            return [*start, *own, *self.options]
        given = [*start, str(folder.predicates), *self.options]
        if self.workload == "run_ast_grep":
            return [*given, "--tool", script("ast-grep"), "--threads", str(folder.jobs)]
        return given

    @staticmethod
    def environment() -> dict[str, str]:
        """Variables to set besides those of this process."""
        return {"PYTHONPATH": str(_CHECKOUT)}


_NO_FLAGS = "the predicates alone, no flags"
_SIMPLE = (
    "a block is unwrapped only when it is one simple statement, since Piranha moves no line to "
    "another indentation"
)

CONTENDERS: Sequence[Contender] = (
    Contender(
        "shrinker, the list",
        "",
        "fold_tree",
        ("--facts",),
        (
            "the facts on calls and names alone, without the list of flags, which it finds by "
            "itself; no reachability"
        ),
    ),
    Contender(
        "shrinker, all rules",
        "",
        "fold_tree",
        (),
        (
            "the whole profile: environment switches, absent and removed modules, domains too; "
            "no reachability"
        ),
    ),
    Contender(
        "Piranha, cautious",
        "polyglot-piranha",
        "run_piranha",
        ("--unwrap", "simple"),
        f"predicates and flags; own clean-up rules, as it has none for Python; {_SIMPLE}",
    ),
    Contender(
        "Piranha, bold",
        "polyglot-piranha",
        "run_piranha",
        ("--unwrap", "all"),
        "the same, but every decided block takes the place of its `if`",
    ),
    Contender(
        "Piranha, no flags",
        "polyglot-piranha",
        "run_piranha",
        ("--no-flags",),
        f"as cautious, but {_NO_FLAGS}",
    ),
    Contender(
        "ast-grep",
        "ast-grep-cli",
        "run_ast_grep",
        (),
        (
            "predicates and flags; YAML rules for constants, one for each shape of an `if` with "
            "up to 8 clauses"
        ),
    ),
    Contender(
        "ast-grep, no flags",
        "ast-grep-cli",
        "run_ast_grep",
        ("--no-flags",),
        f"the same, but {_NO_FLAGS}",
    ),
)
