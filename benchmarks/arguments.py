"""Arguments that several measurements share."""

from __future__ import annotations

import argparse
from pathlib import Path

PROFILE = "deepseek"
"""The profile of a measurement that names none."""


def add_run(parser: argparse.ArgumentParser, *, jobs: int) -> None:
    """Add how each run generates: ``--profile``, ``--rules``, ``--jobs``."""
    parser.add_argument("--profile", default=PROFILE)
    add_rules(parser, jobs=jobs)


def add_rules(parser: argparse.ArgumentParser, *, jobs: int) -> None:
    """Add ``--rules`` and ``--jobs``.

    Args:
        jobs: processes of a run that names no number.
    """
    parser.add_argument("--rules", type=Path, help="folder of rule files")
    parser.add_argument("--jobs", type=int, default=jobs)


def add_commits(parser: argparse.ArgumentParser) -> None:
    """Which commits are run, and for how long: ``--repository``, ``--since``, ``--until``,
    ``--limit`` in seconds.
    """
    parser.add_argument("--repository", type=Path, default=Path("upstream"))
    parser.add_argument("--since", default="2025-11-01")
    parser.add_argument("--until", default="2026-07-31")
    parser.add_argument(
        "--limit", type=float, default=1800, help="seconds after which one run is killed"
    )
