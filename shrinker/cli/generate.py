"""Generate a tree: `shrinker shrink`; and from one upstream to the next: `shrinker diff`,
`check-upstream`, `bump` and `publish`.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from shrinker.cli import options
from shrinker.project import default_out, project_folder
from shrinker.values.errors import InputError

_STRICT = "Unknown predicates and rules without a match are errors."
_REPORTS = "Where reports go; default: reports/PROFILE or OUT.reports."
_NO_CACHE = "Take nothing from earlier runs, and leave nothing for later ones."
_FORCE = "Move what shrinker did not write in OUT to OUT.backup-TIME."
_SIDE = (
    "A generated tree, a shrink.lock.json, or an upstream (release:VERSION, "
    "git:PATH_OR_URL@COMMIT, path:DIR)."
)
_RULES = "Rules for a side that is an upstream."
_LIMIT = "Characters of the Markdown page; 0: all. Default: GitHub's."
_HISTORY = (
    "Repository of upstream, to name its commits; REPOSITORY@OLD..NEW where it lacks their tags."
)
_OLD_UPSTREAM = "Where OLD was generated from, when it is a tree or a lock."
_PREDICATES = "Look for platform questions that no rule names."
_SINCE = "An upstream that the rules know; default: the one that is pinned."
_COMMIT = "Commit, tag or branch to move to; with --release: the release's."
_SOURCE = "Folder or URL that has the commit; default: the submodule's URL."
_SUMMARY = "Write what a pull request needs here; default: print it."


def shrink(
    upstream: options.Upstream = None,
    profile: options.Profile = options.DEFAULT_PROFILE,
    out: options.Target = None,
    jobs: options.Jobs = options.CORES,
    strict: Annotated[bool, typer.Option("--strict", help=_STRICT)] = False,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Fail when the lock would change.")
    ] = False,
    reports: Annotated[Path | None, typer.Option(help=_REPORTS)] = None,
    rules: options.Rules = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help=_NO_CACHE)] = False,
    force: Annotated[bool, typer.Option("--force", help=_FORCE)] = False,
    as_json: options.Json = False,
) -> None:
    """Generate a tree, prove it at the levels form, references and capabilities, and write its lock
    and reports.
    """
    from rich.console import Console

    from shrinker.cache.workers import without_gc
    from shrinker.pipeline import Request
    from shrinker.pipeline import shrink as generate
    from shrinker.report.fit import fit_lines
    from shrinker.report.summary import summary_table

    target = out or default_out(profile)
    given = (upstream, profile, target.absolute(), jobs, strict, frozen, options.absolute(reports))
    request = Request(*given, rules=options.absolute(rules), reuse=not no_cache, force=force)
    with without_gc(last=True), options.console_progress() as progress:
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
        *fit_lines(result.fit),
        *(f"stale evidence, of another tree: {evidence}" for evidence in result.stale),
        *(f"moved aside, what shrinker did not write: {place}" for place in result.aside),
        f"{target}: generated in {total:.1f} s, at most {peak:.0f} MiB. Reports: {result.reports}",
    ]
    options.answer(document, lines, as_json=as_json)


def diff(
    old: Annotated[str, typer.Argument(help=_SIDE)],
    new: Annotated[str, typer.Argument(help="The same, of the other side.")],
    profile: Annotated[
        str, typer.Option(help=_RULES, autocompletion=options.profile_names)
    ] = options.DEFAULT_PROFILE,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the page for a comment here.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the whole page here.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help=_LIMIT)] = None,
    history: Annotated[str | None, typer.Option(help=_HISTORY)] = None,
    old_upstream: Annotated[str | None, typer.Option(help=_OLD_UPSTREAM)] = None,
    new_upstream: Annotated[str | None, typer.Option(help="The same of NEW.")] = None,
    predicates: Annotated[
        bool, typer.Option("--predicates/--no-predicates", help=_PREDICATES)
    ] = True,
    rules: options.Rules = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Compare two generated trees: files, symbols, command line, endpoints, dependencies, kernels,
    risks, then the text.

    What is newly kept or removed comes with its reason. An upstream is generated first, or taken
    from the cache; its tree is compared and not judged: `shrink` and `bump` do that. Prints the
    Markdown page unless it goes to a file. Exit 0: the generated files are the same, 1: they
    differ, 2: error.
    """
    from shrinker.cache.workers import without_gc
    from shrinker.report.diff import pages
    from shrinker.source.pins import load_pins
    from shrinker.upgrade.sides import compare_sides, open_sides

    place = options.absolute(rules)
    with without_gc(last=True), options.console_progress() as progress:
        sides = open_sides((old, new), (old_upstream, new_upstream), profile, place, jobs, progress)
        progress.phase("compare")
        found = compare_sides(sides, history=history, rules=place, jobs=jobs, predicates=predicates)
    text = pages.markdown(found, pages.COMMENT_LIMIT if limit is None else limit)
    if markdown is not None:
        _write(markdown, text)
    if html is not None:
        _write(html, pages.page(found, load_pins(project_folder()).submodule_url))
    shown = text if markdown is None else ""
    options.answer(pages.review_json(found), shown, as_json=as_json, passed=not found.different)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror or error}", "choose another place"
        ) from error


def check_upstream(
    upstream: options.ThisUpstream,
    since: Annotated[str | None, typer.Option(help=_SINCE)] = None,
    profile: options.Profile = options.DEFAULT_PROFILE,
    rules: options.Rules = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Say what the rules do not know of an upstream, with sites and rules to paste; exit 1 when
    there is anything.

    Unknown predicates, rules and roots without a match, new registries, package walks, entry
    points, package data, top-level folders and names of platforms. An ordinary run keeps what it
    does not know; a strict one fails on the first three.
    """
    from shrinker.cache.workers import without_gc
    from shrinker.report.place import render
    from shrinker.upgrade.check_upstream import SECTIONS, diagnose

    with without_gc(last=True), options.console_progress() as progress:
        found = diagnose(upstream, since, profile, jobs, progress, options.absolute(rules))
    text = render("check-upstream.txt.jinja", found=found, sections=SECTIONS)
    options.answer(found, text, as_json=as_json, passed=not found.symptoms)


def bump(
    release: Annotated[str | None, typer.Option(help="Version of the release to move to.")] = None,
    commit: Annotated[str | None, typer.Option(help=_COMMIT)] = None,
    source: Annotated[str | None, typer.Option(help=_SOURCE)] = None,
    profile: options.Profile = options.DEFAULT_PROFILE,
    out: options.Target = None,
    reports: options.Reports = None,
    summary: Annotated[Path | None, typer.Option(help=_SUMMARY)] = None,
    history: Annotated[
        str | None, typer.Option(help="Repository of upstream, to name its commits.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse what strict mode refuses.")
    ] = False,
    repository: Annotated[Path | None, typer.Option(hidden=True)] = None,
    rules: options.Rules = None,
    jobs: options.Jobs = options.CORES,
    as_json: options.Json = False,
) -> None:
    """Move upstream.toml and the submodule's entry to another upstream, regenerate, judge, and tell
    what changed.

    When anything fails, the pin, the tree, the lock and the reports are as they were. A tree that
    was refused lies in OUT.rejected; where the budget refused it, --summary holds the comparison
    all the same.
    """
    from shrinker.cache.workers import without_gc
    from shrinker.report.diff import pages
    from shrinker.upgrade.bump import Bump, RefusedBump, bump_section
    from shrinker.upgrade.bump import bump as move

    root = options.absolute(repository) or project_folder()
    asked = Bump(
        repository=root,
        release=release,
        commit=commit,
        source=source,
        profile=profile,
        out=options.absolute(out) or root / default_out(profile),
        reports=options.absolute(reports) or root / "reports" / profile,
        jobs=jobs,
        strict=strict,
        rules=options.absolute(rules),
        history=history,
    )
    refused: RefusedBump | None = None
    with without_gc(last=True), options.console_progress() as progress:
        try:
            done = move(asked, progress)
        except RefusedBump as error:
            refused, done = error, error.done
    left = bump_section(done)
    text = pages.markdown(done.review, pages.COMMENT_LIMIT - len(left)) + left
    if summary is not None:
        _write(summary, text)
    if refused is not None:
        raise refused
    told = {name: getattr(done, name) for name in ("before", "after", "unknown", "stale")}
    options.answer(
        {**told, **pages.review_json(done.review)}, text if summary is None else "", as_json=as_json
    )


def publish(
    remote: Annotated[str, typer.Option(help="URL or folder of the repository.")],
    branch: Annotated[
        str, typer.Option(help="Branch that holds generated trees; made when it is not there.")
    ],
    out: options.Out = options.DEFAULT_OUT,
    as_json: options.Json = False,
) -> None:
    """Commit a generated tree on top of a branch and push it; never by force, and never over
    anything else.
    """
    from shrinker.report.place import read_manifest
    from shrinker.upgrade.publish import publish as push

    place = out.absolute()
    done = push(place, read_manifest(place), remote, branch)
    text = f"{branch}: {done.commit}{'' if done.new else ' (it had this tree already)'}\n"
    options.answer(done, text, as_json=as_json)
