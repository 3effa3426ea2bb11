"""`shrinker shrink`: generate a tree."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from shrinker.cli import options
from shrinker.cli.progress import console_progress
from shrinker.project import default_out

_STRICT = "Unknown predicates and rules without a match are errors."
_REPORTS = "Where reports go; default: reports/PROFILE or OUT.reports."
_NO_CACHE = "Take nothing from earlier runs, and leave nothing for later ones."
_FORCE = "Move what shrinker did not write in OUT to OUT.backup-TIME."


def shrink(
    upstream: options.Upstream = None,
    profile: options.Profile = options.DEFAULT_PROFILE,
    out: options.Target = None,
    jobs: options.Jobs = options.CORES,
    strict: Annotated[bool, typer.Option("--strict", help=_STRICT)] = False,
    frozen: Annotated[bool, typer.Option("--frozen", help="Fail when the lock would change.")] = False,
    reports: Annotated[Path | None, typer.Option(help=_REPORTS)] = None,
    rules: options.Rules = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help=_NO_CACHE)] = False,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: options.Json = False,
) -> None:
    """Generate a tree, prove it at the levels form, references and capabilities, and write its lock and reports."""
    from rich.console import Console

    from shrinker.cache.workers import without_gc
    from shrinker.pipeline import Request
    from shrinker.pipeline import shrink as generate
    from shrinker.report.summary import summary_table

    target = out or default_out(profile)
    given = (upstream, profile, target.absolute(), jobs, strict, frozen, options.absolute(reports))
    request = Request(*given, rules=options.absolute(rules), reuse=not no_cache, force=force)
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
    # A log has no width of its own.
    console = Console(width=None if sys.stdout.isatty() else 110)
    with console.capture() as table:
        console.print(summary_table(result.summary))
    total, peak = sum(result.timings.values()), result.peak_memory / 2**20
    lines = [
        table.get().rstrip("\n"),
        *(f"stale evidence, of another tree: {evidence}" for evidence in result.stale),
        *(f"moved aside, what shrinker did not write: {place}" for place in result.aside),
        f"{target}: generated in {total:.1f} s, at most {peak:.0f} MiB. Reports: {result.reports}",
    ]
    options.answer(document, lines, as_json=as_json)
