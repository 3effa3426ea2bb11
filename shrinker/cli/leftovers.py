"""What should not be left in a generated tree: `shrinker leftovers` and `shrinker cross-check`."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import typer

from shrinker.cli import options
from shrinker.values.leftovers import KINDS, Leftovers


def leftovers(
    out: options.Out = options.DEFAULT_OUT,
    everything: options.Everything = False,
    upstream: options.RecordedUpstream = None,
    rules: options.Rules = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Print what of other platforms is left in the kept Python of a tree; exit 1 when something has no reason.

    Six classes: platform predicates, flags, environment variables, device and backend strings, imports of absent
    modules, other names. A leftover is right when a [[leftover]] rule says why.
    """
    from shrinker.check.leftovers import find_leftovers
    from shrinker.check.trees import Trees
    from shrinker.cli.progress import console_progress
    from shrinker.report.place import open_recorded, read_manifest
    from shrinker.ruleset import load_profile

    manifest = read_manifest(out)
    profile = load_profile(manifest.profile, options.absolute(rules))
    with console_progress() as progress:
        if profile.digest != manifest.rules_hash:
            progress.note("the rules have changed since this tree was generated; it is judged by those of today")
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        progress.phase("leftovers")
        found = find_leftovers(Trees(tree, out, manifest, profile, jobs))
    if as_json:
        options.print_json(_data(found))
    else:
        reasons = {rule.id: rule.why for rule in profile.leftovers}
        print(_text(found, reasons, everything), end="")
    if found.unexplained:
        raise typer.Exit(1)


def _data(found: Leftovers) -> dict[str, Any]:
    """Everything as one JSON document: counts first, then every site."""
    positions = Counter(f"{s.kind}: {s.position}" + (", idle" if s.idle else "") for s in found.unexplained)
    return {
        "format": 3,
        "clean": not found.unexplained,
        "files": found.files,
        "leftovers": found.counts(),
        "reasons": dict(sorted(Counter(s.rule for s in found.leftovers if s.rule).items())),
        "unexplained_by_position": dict(sorted(positions.items())),
        "sites": [asdict(s) for s in found.leftovers],
        "suspects": [asdict(s) for s in found.suspects],
        "unmatched_rules": list(found.unmatched),
    }


def _text(found: Leftovers, why: Mapping[str, str], everything: bool) -> str:
    """The same as text; with `everything` explained ones one by one, not only their number by reason."""
    from shrinker.report.pages import render

    reasons = sorted(Counter(s.rule for s in found.leftovers if s.rule).items())
    return render("leftovers.txt.jinja", found=found, why=why, everything=everything, kinds=KINDS, reasons=reasons)


def cross_check(
    out: options.Out = options.DEFAULT_OUT,
    everything: options.Everything = False,
    upstream: options.RecordedUpstream = None,
    reports: options.Reports = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Run ruff, vulture, pyrefly and pydeps on a tree and on its upstream; exit 1 when a new finding has no reason.

    A reason is computed: where the last use of a name stood in upstream, or what gave it a value, and the rule that took
    it away. The tools come with the environment that `make` prepares.
    """
    from shrinker.cli.progress import console_progress
    from shrinker.report.place import find_graph, open_recorded, read_manifest
    from tools.crosscheck.compare import cross_check as compare

    manifest = read_manifest(out)
    graph = json.loads(find_graph(out.absolute(), options.absolute(reports)).read_text("utf-8"))
    with console_progress() as progress:
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        progress.phase("cross-check")
        found = compare(
            tree, out, graph, jobs=jobs, progress=lambda tool: progress.note(f"{tool} has judged both trees")
        )
    if as_json:
        options.print_json(found.as_json())
    else:
        print("\n".join(found.lines(everything)))
    if found.unexplained:
        raise typer.Exit(1)
