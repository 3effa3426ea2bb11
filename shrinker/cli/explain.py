"""What the reports of a tree answer: `shrinker explain`, its short forms `why` and `why-not`, `kernels` and `dependencies`."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shrinker.cli.options import DEFAULT_OUT, Json, Out, Reports, Rules, Sample, Seed, absolute, print_json
from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from shrinker.program.answers import SavedRun
    from shrinker.values.upstream import UpstreamTree


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="A rule, flag (--enable-lora), environment variable, endpoint, package, kernel, folder, file, module, class, function, "
            "member, path:line of upstream or of the generated tree, or a text that code says (a metric, a message)."
        ),
    ],
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    retained: Annotated[
        bool, typer.Option("--retained", help="Say what would leave with a file, folder, module, definition or rule.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say of anything whether it is in the tree, by which rule or chain, and what would change that."""
    from shrinker.report.explain import Explainer, Generated
    from shrinker.report.place import open_recorded, read_manifest

    @cache
    def recorded() -> "UpstreamTree":
        return open_recorded(out, read_manifest(out).upstream, None, lambda text: None)

    def upstream(path: str) -> str:
        tree = recorded()
        return tree.read(path).decode("utf-8", "replace") if path in tree.by_path else ""

    explainer = Explainer(Generated(out.absolute(), _run(out, reports).graph, out, upstream))
    found = explainer.retained(name) if retained else explainer.explain(name)
    if as_json:
        print_json(found)
        return
    for answer in found:
        print(f"{answer.verdict}: {answer.subject}")
        rows = [("upstream", answer.upstream), ("generated", answer.generated)]
        rows += [("" if number else "because", line) for number, line in enumerate(answer.because)]
        for label, line in (*rows, ("to change", answer.change)):
            if line:
                print(f"  {label:<10} {line}")


def why(
    name: Annotated[
        str | None,
        typer.Argument(help="Module, path, file name, distribution, kernel, module.Class.method or path:line."),
    ] = None,
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    every: Annotated[bool, typer.Option("--all", help="A chain for each place that names it.")] = False,
    sample: Sample = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Print the shortest chain from a root that keeps something in the tree."""
    from shrinker.program import answers

    run = _run(out, reports)
    asked = _asked(name, sample, seed, run, live=True)
    chains = [chain for each in asked for chain in answers.why(run, each, every=every)]
    if as_json:
        print_json(chains)
        return
    for chain in chains:
        print(chain.target + (f"  (uncertain: {chain.uncertain})" if chain.uncertain else ""))
        _print_lines(chain.steps)


def why_not(
    name: Annotated[
        str | None, typer.Argument(help="Module, path, file name, distribution, module.Class.method or path:line.")
    ] = None,
    out: Out = DEFAULT_OUT,
    reports: Reports = None,
    sample: Sample = None,
    seed: Seed = 0,
    why_live: Annotated[bool, typer.Option("--why-live", help="Say what would have kept it.")] = False,
    as_json: Json = False,
) -> None:
    """Print the rule, or the folded imports, that removed something."""
    from shrinker.program import answers

    run = _run(out, reports)
    asked = _asked(name, sample, seed, run, live=False)
    found = [answer for each in asked for answer in answers.why_not(run, each)]
    if as_json:
        print_json(found)
        return
    for answer in found:
        print(f"{answer.symbol} ({answer.path}:{answer.line})" if answer.symbol else answer.path, end=": ")
        print(f"{answer.rule}: {answer.reason}")
        _print_lines(answer.named_by)
        # A line of a statement lives without what was decided there, which was said.
        if why_live and answer.symbol and not answer.symbol.endswith(f":{answer.line}"):
            print("would live with:" if answer.alive else "no code that was removed names it")
            _print_lines(answer.alive)


def _print_lines(rows: Iterable[object]) -> None:
    for row in rows:
        print(f"  {row}")


def _asked(name: str | None, sample: int | None, seed: int, run: "SavedRun", *, live: bool) -> list[str]:
    from shrinker.program import answers

    if (name is None) == (sample is None):
        raise InputError("one name or --sample is needed", "ask `shrinker why NAME` or `shrinker why --sample 20`")
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
    as_json: Json = False,
) -> None:
    """Print the chain from the model to each kernel that `reach` rules name, and what `remove` rules left.

    Exit 1 when a kernel is not reached, or when a module that a rule removes is in the tree without being listed as
    rescued in uncertain.txt.
    """
    from shrinker.program.answers import SYMBOLS
    from shrinker.program.reached import reached, taken
    from shrinker.report.pages import render
    from shrinker.report.place import read_manifest
    from shrinker.ruleset import load_profile

    profile = load_profile(read_manifest(out.absolute()).profile, absolute(rules))
    run = _run(out, reports)
    if run.symbols is None:
        raise InputError(f"{run.graph.with_name(SYMBOLS)} is not there", "run `make shrink`")
    found = reached(out.absolute(), run.symbols, profile.reaches)
    systems = taken(run.data, profile.removes)
    if as_json:
        print_json({"kernels": found, "removed": systems})
    else:
        print(render("kernels.txt.jinja", found=found, systems=systems, chains=chains), end="")
    if not all(row.steps for row in found) or any(row.left for row in systems):
        raise typer.Exit(1)


def dependencies(
    out: Out = DEFAULT_OUT,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Ask the package index how large each distribution is; needs a network.")
    ] = False,
    reports: Reports = None,
    as_json: Json = False,
) -> None:
    """Print the distributions that a generated package requires, and those that upstream requires and it does not."""
    from shrinker.program.saved import load_report
    from shrinker.report.pages import render

    data = load_report(_run(out, reports).graph.with_name("dependencies.json"))
    known = _sizes(data) if sizes else None
    if as_json:
        print_json(data if known is None else {**data, "sizes": known})
    else:
        print(render("dependencies.txt.jinja", rows=data["distributions"], sizes=known), end="")


def _sizes(data: dict[str, Any]) -> dict[str, int | None]:
    from concurrent.futures import ThreadPoolExecutor

    from shrinker.source.index import download_size, index_url

    index = index_url()
    names = sorted(data["distributions"])
    wanted = [data["distributions"][name]["declared"][0][1] for name in names]
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(names, pool.map(lambda requirement: download_size(index, requirement), wanted), strict=True))
