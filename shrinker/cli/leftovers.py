"""What should not be left in a generated tree: `shrinker leftovers` and `shrinker cross-check`."""

import json
from collections import Counter

from shrinker.cli import options
from shrinker.cli.progress import console_progress
from shrinker.values.leftovers import KINDS


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
    from shrinker.report.pages import render
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
    why = {rule.id: rule.why for rule in profile.leftovers}
    reasons = sorted(Counter(s.rule for s in found.leftovers if s.rule).items())
    positions = (f"{s.kind}: {s.position}{', idle' if s.idle else ''}" for s in found.unexplained)
    data = {
        "format": 3,
        "clean": not found.unexplained,
        "files": found.files,
        "leftovers": found.counts(),
        "reasons": dict(reasons),
        "unexplained_by_position": Counter(positions),
        "sites": found.leftovers,
        "suspects": found.suspects,
        "unmatched_rules": found.unmatched,
    }
    told = {"found": found, "why": why, "everything": everything, "kinds": KINDS, "reasons": reasons}
    options.answer(data, render("leftovers.txt.jinja", **told), as_json=as_json, passed=not found.unexplained)


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
    from shrinker.report.place import find_graph, open_recorded, read_manifest
    from tools.crosscheck.compare import cross_check as compare

    recorded = read_manifest(out).upstream
    graph = json.loads(find_graph(out.absolute(), options.absolute(reports)).read_text("utf-8"))
    with console_progress() as progress:
        tree = open_recorded(out, recorded, upstream, progress.note)
        progress.phase("cross-check")

        def judged(tool: str) -> None:
            progress.note(f"{tool} has judged both trees")

        found = compare(tree, out, graph, jobs=jobs, progress=judged)
    options.answer(found.as_json(), found.lines(everything), as_json=as_json, passed=not found.unexplained)
