"""`shrinker ablate`: what a rule does by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shrinker.cli.options import (
    CORES,
    DEFAULT_PROFILE,
    Jobs,
    Json,
    Profile,
    Rules,
    Upstream,
    absolute,
    print_json,
    rule_ids,
)

if TYPE_CHECKING:
    from tools.ablation import Alone


def ablate(
    names: Annotated[
        list[str],
        typer.Argument(metavar="RULE...", help="Ids of rules; `shrinker rules` lists them.", autocompletion=rule_ids),
    ],
    upstream: Upstream = None,
    profile: Profile = DEFAULT_PROFILE,
    rules: Rules = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Hold the tree without the rule against its evidence: is the rule needed?")
    ] = False,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Generate the tree without a rule and say what comes back and what goes: files, definitions, lines of Python.

    Nothing is written but the cache. With --judge, a rule without which the tree fails its evidence is said to be needed.
    """
    from dataclasses import asdict

    from shrinker.cli.progress import console_progress
    from tools.ablation import alone

    found: list[Alone] = []
    with console_progress() as progress:
        for row in alone(upstream, profile, absolute(rules), names, jobs, progress, judge=judge):
            found.append(row)
            if not as_json:
                print("\n".join(_lines(row)), flush=True)
    if as_json:
        print_json([asdict(row) for row in found])


def _lines(row: Alone) -> list[str]:
    rests = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in row.counted.items())
    counted = f"  rules.md counts {rests or 'nothing'}"
    if row.failed:
        return [f"{row.rule}: needed; without it {row.failed}", counted]
    said = [
        f"{name}: +{change.back:,} -{change.gone:,}"
        for name, change in (("files", row.files), ("definitions", row.definitions), ("lines", row.lines))
    ]
    return [f"{row.rule}: without it {', '.join(said)}", counted, *(f"  {path}" for path in row.paths)]
