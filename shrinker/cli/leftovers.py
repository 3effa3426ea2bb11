"""`shrinker leftovers`: what of other platforms is left in a generated tree, and why."""

from __future__ import annotations

import typer

from shrinker.cli.options import (
    CORES,
    DEFAULT_OUT,
    Everything,
    Jobs,
    Json,
    Out,
    RecordedUpstream,
    Rules,
    absolute,
    print_json,
)


def leftovers(
    out: Out = DEFAULT_OUT,
    everything: Everything = False,
    upstream: RecordedUpstream = None,
    rules: Rules = None,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Print what of other platforms is left in the kept Python of a tree; exit 1 when something has no reason.

    Six classes: platform predicates, flags, environment variables, device and backend strings, imports of absent
    modules, other names. A leftover is right when a [[leftover]] rule says why. Beside them what folding must not
    leave: conditions without a name, empty blocks, literals that fail, undefined names, orphaned imports.
    """
    from shrinker.check.leftovers import find_leftovers
    from shrinker.check.trees import Trees
    from shrinker.cli.places import open_recorded, read_manifest
    from shrinker.cli.progress import console_progress
    from shrinker.report.leftovers import leftovers_data, leftovers_lines
    from shrinker.ruleset import load_profile

    manifest = read_manifest(out)
    profile = load_profile(manifest.profile, absolute(rules))
    with console_progress() as progress:
        if profile.digest != manifest.rules_hash:
            progress.note("the rules have changed since this tree was generated; it is judged by those of today")
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        progress.phase("leftovers")
        found = find_leftovers(Trees(tree, out, manifest, profile, jobs))
    if as_json:
        print_json(leftovers_data(found))
    else:
        reasons = {rule.id: rule.why for rule in profile.leftovers}
        print("\n".join(leftovers_lines(found, reasons, everything)))
    if not found.clean:
        raise typer.Exit(1)
