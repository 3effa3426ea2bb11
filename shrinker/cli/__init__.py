"""The command line: generate a server from a release or commit of SGLang, judge it, and ask why something is in it or not.

Exit codes: 0 done, 1 evidence failed (`diff`: the trees differ; `doctor`: there is something to look at),
2 bad usage or input, 130 interrupted (Ctrl-C, SIGTERM).

With --json standard output holds exactly one JSON document and everything else goes to standard
error. A command that ends without its result (exit code 2 or 130, or 1 from `shrink`) gives the
document {"error": text, "exit": code, "next": what to do}.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shrinker import __version__
from shrinker.cli.crosscheck import cross_check
from shrinker.cli.dependencies import dependencies
from shrinker.cli.diff import diff
from shrinker.cli.doctor import doctor
from shrinker.cli.effect import effect
from shrinker.cli.ending import run
from shrinker.cli.follow import bump, publish
from shrinker.cli.help import Commands, examples
from shrinker.cli.kernels import kernels
from shrinker.cli.mutate import mutate
from shrinker.cli.options import (
    CORES,
    DEFAULT_OUT,
    DEFAULT_PROFILE,
    Jobs,
    Json,
    Out,
    Profile,
    Reports,
    Rules,
    Sample,
    Seed,
    Target,
    Upstream,
    absolute,
    print_json,
)
from shrinker.cli.rules import profiles, rules
from shrinker.cli.survivors import survivors
from shrinker.cli.verify import verify
from shrinker.values.errors import InputError

if TYPE_CHECKING:
    from shrinker.program.why import Step

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help=__doc__,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def shrink(
    upstream: Upstream = None,
    profile: Profile = DEFAULT_PROFILE,
    out: Target = None,
    jobs: Jobs = CORES,
    strict: Annotated[
        bool, typer.Option("--strict", help="Unknown predicates and rules without a match are errors.")
    ] = False,
    frozen: Annotated[bool, typer.Option("--frozen", help="Fail when the lock would change.")] = False,
    reports: Annotated[
        Path | None, typer.Option("--reports", help="Where reports go; default: reports/PROFILE or OUT.reports.")
    ] = None,
    rules: Rules = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Take nothing from earlier runs, and leave nothing for later ones.")
    ] = False,
    symbols: Annotated[
        bool, typer.Option("--symbols/--no-symbols", help="Remove definitions and statements that nothing names, too.")
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Move what shrinker did not write in OUT to OUT.backup-TIME.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Generate a tree, prove it at the levels form, references and capabilities, and write its lock and reports."""
    from shrinker.cache.workers import without_gc
    from shrinker.cli.progress import console_progress
    from shrinker.pipeline import Request
    from shrinker.pipeline import shrink as generate
    from shrinker.project import default_out

    target = out or default_out(profile)
    place = absolute(reports)
    request = Request(
        upstream,
        profile,
        target.absolute(),
        jobs,
        strict,
        frozen,
        place,
        rules=absolute(rules),
        reuse=not no_cache,
        symbols=symbols,
        force=force,
    )
    with without_gc(last=True), console_progress() as progress:
        result = generate(request, progress)
    document = {
        "out": str(target),
        "reports": str(result.reports),
        "summary": result.summary,
        "seconds": {k: round(v, 3) for k, v in result.timings.items()},
        "peak_memory_bytes": result.peak_memory,
        "rescued": result.rescued,
        "stale": list(result.stale),
        "moved_aside": [str(place) for place in result.aside],
    }
    if as_json:
        print_json(document)
        return
    from rich.console import Console

    from shrinker.report.summary import summary_table

    # A log has no width of its own.
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(summary_table(result.summary))
    total, peak = sum(result.timings.values()), result.peak_memory / 2**20
    for evidence in result.stale:
        print(f"stale evidence, of another tree: {evidence}")
    for place in result.aside:
        print(f"moved aside, what shrinker did not write: {place}")
    print(f"{target}: generated in {total:.1f} s, at most {peak:.0f} MiB. Reports: {result.reports}")


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

    graph = _graph(out, reports)
    chains = [c for each in _asked(name, sample, seed, graph, live=True) for c in answers.why(graph, each, every=every)]
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

    graph = _graph(out, reports)
    asked = _asked(name, sample, seed, graph, live=False)
    found = [answer for each in asked for answer in answers.why_not(graph, each, alive=why_live)]
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


def _asked(name: str | None, sample: int | None, seed: int, graph: Path, *, live: bool) -> list[str]:
    from shrinker.program import answers

    if (name is None) == (sample is None):
        raise InputError("one name or --sample is needed", "ask `shrinker why NAME` or `shrinker why --sample 20`")
    return [name] if name is not None else answers.sample(graph, sample or 0, seed, live=live)


def _graph(out: Path, reports: Path | None) -> Path:
    from shrinker.cli.places import find_graph

    return find_graph(out.absolute(), absolute(reports))


for _command in (
    shrink,
    verify,
    survivors,
    mutate,
    cross_check,
    dependencies,
    kernels,
    why,
    why_not,
    profiles,
    rules,
    effect,
    diff,
    doctor,
    bump,
    publish,
):
    _name = _command.__name__.replace("_", "-")
    app.command(_name, epilog=examples(_name))(_command)


@app.callback(invoke_without_command=True)
def _version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if show:
        print(f"shrinker {__version__}")
        raise typer.Exit(0)


def main() -> None:
    """Entry point."""
    # Only what is called: to prepare all commands takes as long as `why` takes to look its answer up.
    called = [command for command in app.registered_commands if command.name == "".join(sys.argv[1:2])]
    asked = copy(app)
    asked.registered_commands = called or app.registered_commands
    run(asked)
