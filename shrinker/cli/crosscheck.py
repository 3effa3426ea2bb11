"""`shrinker cross-check`: what ruff, vulture, pyrefly and pydeps see of a generated tree and not of its upstream."""

from __future__ import annotations

import json

import typer

from shrinker.cli.options import (
    CORES,
    DEFAULT_OUT,
    Everything,
    Jobs,
    Json,
    Out,
    RecordedUpstream,
    Reports,
    absolute,
    print_json,
)


def cross_check(
    out: Out = DEFAULT_OUT,
    everything: Everything = False,
    upstream: RecordedUpstream = None,
    reports: Reports = None,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Run ruff, vulture, pyrefly and pydeps on a tree and on its upstream; exit 1 when a new finding has no reason.

    A reason is computed: where the last use of a name stood in upstream, or what gave it a value, and the rule that took
    it away. The tools come with the environment that `make` prepares.
    """
    from shrinker.cli.places import find_graph, open_recorded, read_manifest
    from shrinker.cli.progress import console_progress
    from tools.crosscheck import cross_check as compare

    manifest = read_manifest(out)
    graph = json.loads(find_graph(out.absolute(), absolute(reports)).read_text("utf-8"))
    with console_progress() as progress:
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        progress.phase("cross-check")
        found = compare(
            tree, out, graph, jobs=jobs, progress=lambda tool: progress.note(f"{tool} has judged both trees")
        )
    if as_json:
        print_json(found.as_json())
    else:
        print("\n".join(found.lines(everything)))
    if found.unexplained:
        raise typer.Exit(1)
