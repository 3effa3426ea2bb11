"""What the tool reads of a server's flags is what upstream's own parser offers, in the simulation,
release by release.
"""

import ast
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from equivalence.simulation.environment import simulation
from shrinker.program.interface.offers import Offer, read_offered
from shrinker.program.interface.syntax import Syntax
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.values.errors import InputError
from shrinker.values.upstream import UpstreamTree, modules_of
from tests.integration.conftest import PINNED
from tests.integration.shrunk import REPOSITORY, Shrunk
from tests.simulations import simulation_python

pytestmark = pytest.mark.network

RELEASES = ("0.5.20", "0.5.21", "0.5.22", PINNED)
SERVER = "sglang.srt.server_args.ServerArgs"
"""The command line of the server."""
PROGRAM = Path(__file__).with_name("flags.txt")
Told = Mapping[str, tuple[str, ...] | None]
"""Each name of each flag, with its choices; None where any value is taken."""


def _open(release: str) -> UpstreamTree:
    """Give a release; the test is skipped where neither the cache nor the index has it.

    The default one is always asked for.
    """
    try:
        return open_upstream(f"release:{release}", repository=REPOSITORY)
    except InputError as error:
        if release == PINNED:
            raise
        pytest.skip(f"{error.message}: {error.next_step}")


def _read(upstream: UpstreamTree) -> list[Offer]:
    """The server's flags as the tool reads them in the text of a release."""
    offered = read_offered(Syntax(modules_of(upstream.by_path), upstream.read))
    return [offer for offer in offered.flags if offer.group == SERVER]


def _parsed(package: Path, declared: tuple[str, ...], folder: Path) -> Told:
    """Flags that the parser of a tree offers, asked in the simulation."""
    made, result = (
        simulation(declared, compiled=default_folder() / "compiled"),
        folder / "flags.json",
    )
    command = [str(made.python), str(PROGRAM), str(result)]
    ended = subprocess.run(
        command,
        env=made.variables(package),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    rows = json.loads(result.read_text("utf-8"))
    return {
        name: None if choices is None else tuple(choices)
        for names, choices in rows
        for name in names
    }


@dataclass(frozen=True)
class _Literal:
    """Choices of an offer: the texts that are written as such, and how many there are."""

    texts: frozenset[str]
    count: int

    @classmethod
    def of(cls, offer: Offer) -> "_Literal":
        """Read those of an offer; a name such as `Backend.FULL` counts and says no text."""
        written = {choice.text for choice in offer.choices or ()}
        nodes = (ast.parse(text, mode="eval").body for text in written)
        return cls(
            frozenset(str(node.value) for node in nodes if isinstance(node, ast.Constant)),
            len(written),
        )


@pytest.mark.parametrize("release", RELEASES)
def test_the_flags_of_a_release_are_those_of_its_parser(release: str, tmp_path: Path) -> None:
    simulation_python()
    upstream = _open(release)
    told = _parsed(upstream.root / "python", upstream.declared.dependencies, tmp_path)
    read = _read(upstream)
    names = {name for offer in read for name in offer.names}
    assert len(told) > 300
    assert sorted(told.keys() - names) == [] and sorted(names - told.keys()) == []
    with_choices = [offer for offer in read if offer.choices is not None]
    assert len(with_choices) > 40
    for offer in with_choices:
        written, offered = _Literal.of(offer), told[offer.subject]
        assert offered is not None and len({*offered}) == written.count, offer.subject
        assert written.texts <= {*offered}, offer.subject


def test_the_report_says_how_the_flags_of_the_tree_differ(newest: Shrunk, tmp_path: Path) -> None:
    simulation_python()
    declared = newest.upstream.declared.dependencies
    before, after = (_parsed(package, declared, tmp_path) for package in newest.trees)
    rows = json.loads((newest.reports / "interface.json").read_text("utf-8"))["flags"]
    rows = [row for row in rows if row["where"] == SERVER]
    gone = {name for row in rows if row["kind"] == "removed" for name in row["names"]}
    # A profile may leave every flag and refuse values of them.
    assert before.keys() - after.keys() == gone
    assert after.keys() <= before.keys()
    fewer = {row["subject"] for row in rows if row["kind"] in ("choice removed", "choices changed")}
    changed = {name for name in after if before[name] != after[name]}
    assert (
        {row["subject"] for row in rows if row["kind"] == "choice removed"}
        <= changed
        <= _all_names(newest, fewer)
    )
    listed = [
        (row["subject"], ast.literal_eval(row["before"]))
        for row in rows
        if row["kind"] == "choice removed"
    ]
    for subject, choice in listed:
        assert str(choice) in (before[subject] or ()) and str(choice) not in (
            after[subject] or ()
        ), (subject, choice)


def _all_names(shrunk: Shrunk, subjects: set[str]) -> set[str]:
    """All names of some flags."""
    return {
        name
        for offer in _read(shrunk.upstream)
        if offer.subject in subjects
        for name in offer.names
    }
