"""`shrinker explain`, and its short forms `shrinker why` and `shrinker why-not`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shrinker.cli.options import DEFAULT_OUT, Json, Out, Reports, Sample, Seed, absolute, print_json
from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from shrinker.program.answers import SavedRun
    from shrinker.program.why import Step


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="A rule, flag (--enable-lora), environment variable, endpoint, package, kernel, folder, file, module, class, function "
            "or member, or path:line of upstream or of the generated tree."
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
    from dataclasses import asdict

    from shrinker.cli.places import open_recorded, read_manifest
    from shrinker.report.explain import Explainer, Generated

    def upstream(path: str) -> str:
        tree = open_recorded(out, read_manifest(out).upstream, None, lambda text: None)
        return tree.read(path).decode("utf-8", "replace") if path in tree.by_path else ""

    explainer = Explainer(Generated(out.absolute(), _graph(out, reports), out, upstream))
    found = explainer.retained(name) if retained else explainer.explain(name)
    if as_json:
        print_json([asdict(answer) for answer in found])
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
    from dataclasses import asdict

    from shrinker.program import answers

    run = answers.SavedRun(_graph(out, reports))
    chains = [c for each in _asked(name, sample, seed, run, live=True) for c in answers.why(run, each, every=every)]
    if as_json:
        print_json([asdict(chain) for chain in chains])
        return
    for chain in chains:
        print(chain.target + (f"  (uncertain: {chain.uncertain})" if chain.uncertain else ""))
        print_steps(chain.steps)


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
    from dataclasses import asdict

    from shrinker.program import answers

    run = answers.SavedRun(_graph(out, reports))
    asked = _asked(name, sample, seed, run, live=False)
    found = [answer for each in asked for answer in answers.why_not(run, each, alive=why_live)]
    if as_json:
        print_json([asdict(answer) for answer in found])
        return
    for answer in found:
        if isinstance(answer, answers.Dropped):
            print(f"{answer.symbol} ({answer.path}:{answer.line}): {answer.rule}: {answer.reason}")
            for site in answer.named_by:
                print(f"  {site.path}:{site.line}: named by {site.source}: {site.fate}")
            # A line of a statement lives without what was decided there, which was said.
            if why_live and not answer.symbol.endswith(f":{answer.line}"):
                print("would live with:" if answer.alive else "no code that was removed names it")
                print_steps(answer.alive)
            continue
        print(f"{answer.path}: {answer.rule}: {answer.reason}")
        for path, line, state in answer.importers:
            print(f"  {path}:{line}: {state}")


def print_steps(steps: Iterable[Step]) -> None:
    """Edges of a chain, a line each."""
    for step in steps:
        place = f"  {step.path}:{step.line}" if step.path else ""
        print(f"  {step.src} --{step.kind}--> {step.dst}{place}")


def _asked(name: str | None, sample: int | None, seed: int, run: SavedRun, *, live: bool) -> list[str]:
    from shrinker.program import answers

    if (name is None) == (sample is None):
        raise InputError("one name or --sample is needed", "ask `shrinker why NAME` or `shrinker why --sample 20`")
    return [name] if name is not None else answers.sample(run, sample or 0, seed, live=live)


def _graph(out: Path, reports: Path | None) -> Path:
    from shrinker.cli.places import find_graph

    return find_graph(out.absolute(), absolute(reports))
