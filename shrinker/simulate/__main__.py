"""`python -m shrinker.simulate TREE [--capability 9.0] -- ARGUMENTS…`: run the simulation's Python on a tree."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from shrinker.simulate.environment import simulation
from shrinker.values.errors import ShrinkerError


def main() -> None:
    """Replaces this process by the simulated one."""
    parser = argparse.ArgumentParser(prog="python -m shrinker.simulate", description=__doc__)
    parser.add_argument("tree", type=Path, help="folder that holds the package sglang")
    parser.add_argument("--capability", default="9.0", help="compute capability, MAJOR.MINOR")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of Python")
    given = parser.parse_args()
    major, _, minor = given.capability.partition(".")
    arguments = given.arguments[1:] if given.arguments[:1] == ["--"] else given.arguments
    try:
        made = simulation(capability=(int(major), int(minor or 0)))
        if not (given.tree / "sglang").is_dir():
            sys.exit(f"error: {given.tree} holds no package sglang; name the folder python/ of a tree")
    except ShrinkerError as error:
        sys.exit(f"error: {error.message}\n  next: {error.next_step}")
    os.execve(made.python, [str(made.python), *arguments], made.variables(given.tree.resolve()))


if __name__ == "__main__":
    main()
