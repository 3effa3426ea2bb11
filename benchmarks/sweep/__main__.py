"""`python -m benchmarks.sweep`.

Exit codes: 0 every tree passed its evidence, 1 one did not, 2 bad usage or input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.arguments import PROFILE, add_commits, add_rules
from benchmarks.sweep.choose import Chosen, chosen, listed, spread
from benchmarks.sweep.one import run_one
from benchmarks.sweep.rows import FOLDER, load, save
from shrinker.cache.layer import tool_identity
from shrinker.ruleset import load_profile
from shrinker.values.errors import InputError

_DEFAULT = FOLDER / "sweep.txt"


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep what is asked for, write the table after each upstream, and say how it went."""
    asked = _parser().parse_args(arguments)
    try:
        runs = _runs(asked)
        digests = {
            profile: load_profile(profile, asked.rules).digest
            for profile in sorted({profile for _, profile in runs})
        }
    except InputError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return 2
    order = [(side.name, profile) for side, profile in runs]
    rows = {} if asked.fresh else load(asked.folder)
    for side, profile in runs:
        key = (side.name, profile)
        identity = (digests[profile], tool_identity())
        row = rows.get(key)
        if row is None or (row.rules_hash, row.tool) != identity:
            row = run_one(side, profile, asked.jobs, asked.rules, asked.limit, identity)
            rows[key] = row
            save(asked.folder, rows, order)
        left = (
            f"{row.lines:,} of {row.lines_before:,} lines"
            if row.lines_before
            else row.cause.partition("\n")[0]
        )
        said = f"{side.name} {profile}: {row.outcome}, {left}, {row.wall_seconds:.0f} s"
        print(said, flush=True)
    return int(any(rows[key].outcome in ("failed", "killed") for key in order))


def _runs(asked: argparse.Namespace) -> list[tuple[Chosen, str]]:
    """List each upstream that is asked for with each of its profiles.

    Raises:
        InputError: a list cannot be read, or names no release and no commit.
    """
    specs: list[tuple[str, tuple[str, ...]]] = [(spec, ()) for spec in asked.upstream]
    if asked.list:
        specs += listed(asked.list)
    if asked.commits:
        commits = spread(asked.repository, asked.commits, asked.since, asked.until)
        specs += [(spec, ()) for spec in commits]
    runs = []
    for spec, named in specs or listed(_DEFAULT):
        side = chosen(spec)
        for profile in asked.profile or named or (PROFILE,):
            runs.append((side, profile))
    return runs


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__)
    parser.add_argument(
        "upstream", nargs="*", help="release:VERSION or git:PATH_OR_URL@COMMIT; default: sweep.txt"
    )
    parser.add_argument("--list", type=Path, help="file with one of these a line")
    parser.add_argument(
        "--commits", type=int, default=0, help="so many commits of --repository, spread evenly"
    )
    add_commits(parser)
    parser.add_argument(
        "--profile",
        action="append",
        help="instead of those that the list names; may be repeated; default: deepseek",
    )
    add_rules(parser, jobs=1)
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where sweep.json and SWEEP.md are"
    )
    parser.add_argument("--fresh", action="store_true", help="take nothing from sweep.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
