"""`shrinker check-upstream`: what the rules do not know of an upstream."""

from __future__ import annotations

from typing import Annotated

import typer

from shrinker.cli.options import CORES, DEFAULT_PROFILE, Jobs, Json, Profile, Rules, ThisUpstream, absolute, print_json


def check_upstream(
    upstream: ThisUpstream,
    since: Annotated[
        str | None, typer.Option("--since", help="An upstream that the rules know; default: the one that is pinned.")
    ] = None,
    profile: Profile = DEFAULT_PROFILE,
    rules: Rules = None,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Say what the rules do not know of an upstream, with sites and rules to paste; exit 1 when there is anything.

    Unknown predicates, rules and roots without a match, new registries, package walks, entry points, package data,
    top-level folders and names of platforms. An ordinary run keeps what it does not know; a strict one fails on the first three.
    """
    from dataclasses import asdict

    from shrinker.cache.workers import without_gc
    from shrinker.cli.progress import console_progress
    from shrinker.upgrade.check_upstream import diagnose, symptom_lines

    with without_gc(last=True), console_progress() as progress:
        found = diagnose(upstream, since, profile, jobs, progress, absolute(rules))
    if as_json:
        print_json(asdict(found))
    else:
        print("\n".join(symptom_lines(found)))
    if found.symptoms:
        raise typer.Exit(1)
