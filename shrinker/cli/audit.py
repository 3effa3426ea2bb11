"""Audits of a tree, `shrinker leftovers` and `cross-check`, and of its evidence, `mutate`: does it
notice faults, and wrong rules?
"""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shrinker.cli import options
from shrinker.values.errors import InputError
from shrinker.values.leftovers import KINDS

if TYPE_CHECKING:
    from tools.mutation.faults import Fault
    from tools.mutation.judge import Judged

_SEED = "Of the draw: the same draws the same faults. Again: that many more. Default: 0."
_BREAKAGES = "Instead of drawn faults: what broke by hand. Fails when one survives."
_RULES = "Instead: wrong rules, each planted among the right ones; a tree is made with each."
_ANEW = "With --rules: begin again where the reports hold a run of other arguments."
_LEVEL = "Ask these, in this order. Default: form, references, capabilities."


def leftovers(
    out: options.Out = options.DEFAULT_OUT,
    everything: options.Everything = False,
    upstream: options.RecordedUpstream = None,
    rules: options.Rules = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Print what of other platforms is left in the kept Python of a tree; exit 1 when something has
    no reason.

    Six classes: platform predicates, flags, environment variables, device and backend strings,
    imports of absent modules, other names. A leftover is right when a [[leftover]] rule says why.
    """
    from shrinker.check.leftovers import find_leftovers
    from shrinker.check.trees import Trees
    from shrinker.report.place import open_recorded, read_manifest, render
    from shrinker.ruleset import load_profile

    manifest = read_manifest(out)
    profile = load_profile(manifest.profile, options.absolute(rules))
    with options.console_progress() as progress:
        if profile.digest != manifest.rules_hash:
            progress.note(
                "the rules have changed since this tree was generated; it is judged by those of "
                "today"
            )
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
    told = {
        "found": found,
        "why": why,
        "everything": everything,
        "kinds": KINDS,
        "reasons": reasons,
    }
    options.answer(
        data, render("leftovers.txt.jinja", **told), as_json=as_json, passed=not found.unexplained
    )


def cross_check(
    out: options.Out = options.DEFAULT_OUT,
    everything: options.Everything = False,
    upstream: options.RecordedUpstream = None,
    reports: options.Reports = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Run ruff, vulture, pyrefly and pydeps on a tree and on its upstream; exit 1 when a new
    finding has no reason.

    A reason is computed: where the last use of a name stood in upstream, or what gave it a value,
    and the rule that took it away. The tools come with the environment that `make` prepares.
    """
    from shrinker.report.place import find_graph, open_recorded, read_manifest
    from tools.crosscheck.compare import cross_check as compare

    recorded = read_manifest(out).upstream
    graph = json.loads(find_graph(out.absolute(), options.absolute(reports)).read_text("utf-8"))
    with options.console_progress() as progress:
        tree = open_recorded(out, recorded, upstream, progress.note)
        progress.phase("cross-check")

        def judged(tool: str) -> None:
            progress.note(f"{tool} has judged both trees")

        found = compare(tree, out, graph, jobs=jobs, progress=judged)
    options.answer(
        found.as_json(), found.lines(everything), as_json=as_json, passed=not found.unexplained
    )


def mutate(
    out: options.Out = options.DEFAULT_OUT,
    count: Annotated[int, typer.Option(min=1, help="How many faults a seed.")] = 200,
    seed: Annotated[list[int] | None, typer.Option(help=_SEED)] = None,
    breakages: Annotated[bool, typer.Option("--breakages", help=_BREAKAGES)] = False,
    rules: Annotated[bool, typer.Option("--rules", help=_RULES)] = False,
    anew: Annotated[bool, typer.Option("--anew", help=_ANEW)] = False,
    level: Annotated[
        list[str] | None, typer.Option(help=_LEVEL, autocompletion=options.level_names)
    ] = None,
    upstream: options.RecordedUpstream = None,
    reports: options.Reports = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Put faults into copies of a tree and ask each level that reads the trees, from the cheapest
    on, whether it notices them.

    That takes two seconds a fault. Writes mutation.json and mutation.md (breakages.json,
    breakages.md) beside the tree's other reports; into OUT.reports where these have what was asked
    for otherwise. A tree in which a level finds fault by itself is refused.

    With --rules, wrong rules are drawn from upstream's own names within the kept code, the tree is
    generated with each, and all that a default run asks is asked: a minute or more for each.
    Written after each to mutation-rules.json and mutation-rules.md; the same command goes on where
    it was cut off.
    """
    seeds = seed or [0]
    if rules:
        if len(seeds) > 1:
            raise InputError(
                "--rules draws by one --seed", "give one; --count says how many are drawn"
            )
        place = options.absolute(reports)
        _mutate_rules(out, count, seeds[0], upstream, place, jobs, anew=anew, as_json=as_json)
        return
    from shrinker.cache import Cache
    from shrinker.check.levels import EVIDENCE_LEVELS
    from shrinker.check.trees import Trees
    from shrinker.report.place import (
        evidence_folder,
        open_recorded,
        read_manifest,
        recorded_rules,
        reports_of,
    )
    from shrinker.source.cache import default_folder
    from tools.mutation.faults import breakage_fault, choose, declared, why_skipped
    from tools.mutation.judge import judge_all
    from tools.mutation.page import (
        arguments,
        breakages_data,
        mutation_data,
        mutation_page,
        rendered,
        write_both,
    )

    names = level or list(EVIDENCE_LEVELS)
    for name in names:
        if name not in EVIDENCE_LEVELS:
            raise InputError(
                f"no level {name!r} to ask", f"levels here: {', '.join(EVIDENCE_LEVELS)}"
            )
    manifest = read_manifest(out)
    tree_folder = out.absolute()
    folder = reports_of(tree_folder, manifest, options.absolute(reports))
    name = "breakages" if breakages else "mutation"
    asked = (
        {"levels": names}
        if breakages
        else {"levels": names, "seeds": [[each, count] for each in seeds]}
    )
    kept = evidence_folder(
        tree_folder, folder, f"{name}.json", lambda data: arguments(data) == asked
    )
    with options.console_progress() as progress:
        if kept != folder:
            progress.note(
                f"{folder / name}.json is of other arguments and stays: this run writes to {kept}"
            )
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        trees = Trees(
            tree, tree_folder, manifest, recorded_rules(manifest), jobs, Cache(default_folder())
        )
        progress.phase("faults")
        skipped: dict[str, str] = {}
        drawn: dict[int, list[Fault]] = {}
        if breakages:
            put = [(each, breakage_fault(each, tree, tree_folder, manifest)) for each in declared()]
            faults = [fault for _, fault in put if fault is not None]
            skipped = {
                each.name: why_skipped(each, tree, manifest) for each, fault in put if fault is None
            }
        else:
            drawn = {
                each: choose(tree, tree_folder, manifest, count=count, seed=each) for each in seeds
            }
            faults = [*dict.fromkeys(fault for each in drawn.values() for fault in each)]
        found: list[Judged] = []
        for judged in judge_all(trees, faults, names):
            found.append(judged)
            where = (
                f"{judged.fault.kind}: {judged.fault.path}:{judged.fault.line} "
                f"{judged.fault.subject}"
            )
            progress.note(f"{judged.caught_by or 'SURVIVES'}: {where}")
            progress.advance(len(found), len(faults))
    if breakages:
        data = breakages_data(found, names, manifest, skipped)
        page = rendered(name, data)
    else:
        data = mutation_data(found, names, manifest, drawn, count)
        page = mutation_page(data)
    write_both(kept, name, data, page)
    passed = not breakages or all(judged.caught_by for judged in found)
    options.answer(data, page, as_json=as_json, passed=passed)


def _mutate_rules(
    out: Path,
    count: int,
    seed: int,
    upstream: str | None,
    asked: Path | None,
    jobs: int,
    *,
    anew: bool,
    as_json: bool,
) -> None:
    """See `mutate`, of wrong rules.

    Raises InputError when the rules are not those of the tree, or its reports are of other
    arguments.
    """
    from shrinker.report.place import (
        evidence_folder,
        open_recorded,
        read_manifest,
        recorded_rules,
        reports_of,
    )
    from tools.mutation.page import RULES, read_outcomes, rules_header, rules_page, write_outcomes
    from tools.mutation.planting import plant
    from tools.mutation.wrong_rules import draw

    manifest = read_manifest(out)
    rules = recorded_rules(manifest)
    if rules is None:
        message = f"{out} was made by other rules than those of {manifest.profile} here"
        raise InputError(message, "run `make shrink` first")
    place = reports_of(out.absolute(), manifest, asked)
    head = rules_header(manifest, seed)
    folder = evidence_folder(
        out.absolute(), place, f"{RULES}.json", lambda data: data["seed"] == seed
    )
    done = [] if anew else read_outcomes(folder / f"{RULES}.json", head)
    with options.console_progress() as progress:
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        wrong = draw(tree, out, manifest, count=count, seed=seed)
        judged = {(row["kind"], row["subject"]) for row in done}
        if rest := judged - {(one.kind, one.subject) for one in wrong}:
            message = (
                f"{folder / RULES}.json holds {len(rest)} rule(s) more than --count {count} draws"
            )
            raise InputError(
                message, "ask for as many, say --anew, or another folder with --reports"
            )
        for outcome in plant(tree, rules, wrong, jobs, progress, judged):
            done.append(asdict(outcome))
            state = outcome.caught_by or ("SURVIVES" if outcome.files else "changes nothing")
            progress.note(
                f"{len(done)} of {len(wrong)}: {state}: {outcome.kind}: {outcome.subject}"
            )
            write_outcomes(folder, head, done)
    data = write_outcomes(folder, head, done)
    options.answer(data, rules_page(data), as_json=as_json)
