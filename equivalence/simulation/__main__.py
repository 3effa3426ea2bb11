"""`python -m equivalence.simulation TREE [--capability 9.0] -- ARGUMENTS…`: run the simulation's
Python on a tree.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from equivalence.simulation.environment import simulation
from shrinker.values.errors import ShrinkerError


def main() -> None:
    """Replaces this process by the simulated one."""
    tree, capability, arguments = parse(sys.argv[1:])
    try:
        made = simulation(capability=capability)
        if not (tree / "sglang").is_dir():
            sys.exit(f"error: {tree} holds no package sglang; name the folder python/ of a tree")
    except ShrinkerError as error:
        sys.exit(f"error: {error.message}\n  next: {error.next_step}")
    os.execve(made.python, [str(made.python), *arguments], made.variables(tree.resolve()))


def parse(words: Sequence[str]) -> tuple[Path, tuple[int, int], list[str]]:
    """Return folder of the package, compute capability, and what is left to Python: all behind the
    first ``--``. Raises SystemExit where the words before it are not understood.
    """
    parser = argparse.ArgumentParser(
        prog="python -m equivalence.simulation",
        usage="%(prog)s [-h] [--capability CAPABILITY] tree -- ...",
        description=__doc__,
    )
    parser.add_argument("tree", type=Path, help="folder that holds the package sglang")
    parser.add_argument(
        "--capability", type=_capability, default=(9, 0), help="compute capability, MAJOR.MINOR"
    )
    end = words.index("--") if "--" in words else len(words)
    # By hand: argparse would take options that follow the tree for arguments of Python.
    given = parser.parse_args(words[:end])
    return given.tree, given.capability, list(words[end + 1 :])


def _capability(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


if __name__ == "__main__":
    main()
