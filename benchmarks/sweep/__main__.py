"""`python -m benchmarks.sweep`.

Exit codes: 0 every tree passed its evidence, 1 one did not, 2 bad usage or input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.arguments import add_commits, add_run
from benchmarks.sweep.choose import chosen, listed, spread
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
        specs = [*asked.upstream, *(listed(asked.list) if asked.list else ())]
        if asked.commits:
            specs += spread(asked.repository, asked.commits, asked.since, asked.until)
        sides = [chosen(spec) for spec in specs or listed(_DEFAULT)]
        identity = (load_profile(asked.profile, asked.rules).digest, tool_identity())
    except InputError as error:
        print(f"error: {error.message}\nnext: {error.next_step}", file=sys.stderr)
        return 2
    rows = {} if asked.fresh else load(asked.folder)
    for side in sides:
        row = rows.get(side.name)
        if row is None or (row.profile, row.rules_hash, row.tool) != (asked.profile, *identity):
            row = run_one(side, asked.profile, asked.jobs, asked.rules, asked.limit, identity)
            rows[side.name] = row
            save(asked.folder, rows, [other.name for other in sides])
        left = (
            f"{row.lines:,} of {row.lines_before:,} lines"
            if row.lines_before
            else row.cause.partition("\n")[0]
        )
        print(f"{side.name}: {row.outcome}, {left}, {row.wall_seconds:.0f} s", flush=True)
    return int(any(rows[side.name].outcome in ("failed", "killed") for side in sides))


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
    add_run(parser, jobs=1)
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where sweep.json and SWEEP.md are"
    )
    parser.add_argument("--fresh", action="store_true", help="take nothing from sweep.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
