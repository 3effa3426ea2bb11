"""What the reports of a tree answer: `shrinker explain`, its short forms `why` and `why-not`,
`kernels` and `dependencies`.
"""

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shrinker.cli.options import (
    DEFAULT_OUT,
    Json,
    Out,
    RecordedUpstream,
    Reports,
    Rules,
    Sample,
    Seed,
    absolute,
    answer,
)
from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from shrinker.program.answers import SavedRun
    from shrinker.values.upstream import UpstreamTree

_ANYTHING = (
    "A rule, flag (--enable-lora), environment variable, endpoint, package, kernel, folder, "
    "file, module, class, function, "
    "member, path:line of upstream or of the generated tree, or a text that code says (a metric, "
    "a message)."
)
_RETAINED = "Say what would leave with a file, folder, module, definition or rule."
_KEPT = "Module, path, file name, distribution, kernel, module.Class.method or path:line."
_REMOVED = "Module, path, file name, distribution, module.Class.method or path:line."
_SIZES = "Ask the package index how large each distribution is; needs a network."


def explain(
    name: Annotated[str, typer.Argument(help=_ANYTHING)],
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    retained: Annotated[bool, typer.Option("--retained", help=_RETAINED)] = False,
    as_json: Json = False,
) -> None:
    """Say of anything whether it is in the tree, by which rule or chain, and what would change
    that.
    """
    from shrinker.report.explain import Explainer, Generated
    from shrinker.report.place import open_recorded, read_manifest

    @cache
    def recorded() -> "UpstreamTree":
        return open_recorded(out, read_manifest(out).upstream, None, lambda text: None)

    def upstream(path: str) -> str:
        tree = recorded()
        return tree.read(path).decode("utf-8", "replace") if path in tree.by_path else ""

    explainer = Explainer(Generated(_run(out, reports).graph, out.absolute(), out, upstream))
    found = explainer.retained(name) if retained else explainer.explain(name)
    lines: list[str] = []
    for one in found:
        because = [("" if number else "because", line) for number, line in enumerate(one.because)]
        rows = (
            ("upstream", one.upstream),
            ("generated", one.generated),
            *because,
            ("to change", one.change),
        )
        lines += [
            f"{one.verdict}: {one.subject}",
            *(f"  {label:<10} {line}" for label, line in rows if line),
        ]
    answer(found, lines, as_json=as_json)


def why(
    name: Annotated[str | None, typer.Argument(help=_KEPT)] = None,
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    every: Annotated[
        bool, typer.Option("--all", help="A chain for each place that names it.")
    ] = False,
    sample: Sample = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Print the shortest chain from a root that keeps something in the tree."""
    from shrinker.program import answers

    run = _run(out, reports)
    asked = _asked(name, sample, seed, run, live=True)
    chains = [chain for each in asked for chain in answers.why(run, each, every=every)]
    lines: list[str] = []
    for chain in chains:
        lines.append(
            chain.target + (f"  (uncertain: {chain.uncertain})" if chain.uncertain else "")
        )
        lines += (f"  {step}" for step in chain.steps)
    answer(chains, lines, as_json=as_json)


def why_not(
    name: Annotated[str | None, typer.Argument(help=_REMOVED)] = None,
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    sample: Sample = None,
    seed: Seed = 0,
    why_live: Annotated[
        bool, typer.Option("--why-live", help="Say what would have kept it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the rule, or the folded imports, that removed something."""
    from shrinker.program import answers

    run = _run(out, reports)
    asked = _asked(name, sample, seed, run, live=False)
    found = [one for each in asked for one in answers.why_not(run, each)]
    lines: list[str] = []
    for one in found:
        subject = f"{one.symbol} ({one.path}:{one.line})" if one.symbol else one.path
        lines += [f"{subject}: {one.rule}: {one.reason}", *(f"  {site}" for site in one.named_by)]
        # A line of a statement lives without what was decided there, which was said.
        if why_live and one.symbol and not one.symbol.endswith(f":{one.line}"):
            lines.append("would live with:" if one.alive else "no code that was removed names it")
            lines += (f"  {step}" for step in one.alive)
    answer(found, lines, as_json=as_json)


def _asked(
    name: str | None, sample: int | None, seed: int, run: "SavedRun", *, live: bool
) -> list[str]:
    from shrinker.program import answers

    if (name is None) == (sample is None):
        raise InputError(
            "one name or --sample is needed",
            "ask `shrinker why NAME` or `shrinker why --sample 20`",
        )
    return [name] if name is not None else answers.sample(run, sample or 0, seed, live=live)


def _run(out: Path, reports: Path | None) -> "SavedRun":
    from shrinker.program.answers import SavedRun
    from shrinker.report.place import find_graph

    return SavedRun(find_graph(out.absolute(), absolute(reports)))


def kernels(
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    rules: Rules = None,
    chains: Annotated[bool, typer.Option(help="Print each chain, not only its length.")] = True,
    upstream: RecordedUpstream = None,
    as_json: Json = False,
) -> None:
    """Print the chain from the model to each kernel that `reach` rules name, and what `remove`
    rules left.

    Exit 1 when a kernel that upstream has is not reached, or when a module that a rule removes is
    in the tree without being listed as rescued in uncertain.txt.
    """
    from shrinker.program.answers import SYMBOLS
    from shrinker.program.reached import absent_names, reached, taken
    from shrinker.report.place import open_recorded, read_manifest, render
    from shrinker.ruleset import load_profile

    manifest = read_manifest(out.absolute())
    profile = load_profile(manifest.profile, absolute(rules))
    run = _run(out, reports)
    if not run.symbols.units:
        raise InputError(f"{run.graph.with_name(SYMBOLS)} is not there", "run `make shrink`")
    found = reached(out.absolute(), run.symbols, profile.reaches)
    systems = taken(run.data, profile.removes)
    missing, absent = [row.name for row in found if not row.steps], frozenset[str]()
    if missing:
        tree = open_recorded(out, manifest.upstream, upstream, lambda text: None)
        absent = absent_names(tree, missing)
    text = render("kernels.txt.jinja", found=found, absent=absent, systems=systems, chains=chains)
    passed = absent.issuperset(missing) and not any(row.left for row in systems)
    data = {"kernels": found, "not_in_upstream": sorted(absent), "removed": systems}
    answer(data, text, as_json=as_json, passed=passed)


def dependencies(
    out: Out = DEFAULT_OUT,
    sizes: Annotated[bool, typer.Option("--sizes", help=_SIZES)] = False,
    reports: Reports = None,
    as_json: Json = False,
) -> None:
    """Print the distributions that a generated package requires, and those that upstream requires
    and it does not.
    """
    from shrinker.program.saved import load_report
    from shrinker.report.place import render

    data = load_report(_run(out, reports).graph.with_name("dependencies.json"))
    rows, known = data["distributions"], None
    if sizes:
        from concurrent.futures import ThreadPoolExecutor

        from shrinker.source.index import download_size, index_url

        wanted = (row["declared"][0][1] for row in rows.values())
        with ThreadPoolExecutor(8) as pool:
            known = dict(
                zip(rows, pool.map(partial(download_size, index_url()), wanted), strict=True)
            )
    text = render("dependencies.txt.jinja", rows=rows, sizes=known)
    answer(data if known is None else {**data, "sizes": known}, text, as_json=as_json)
