"""`shrinker diff`: what a reviewer must know of two generated trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shrinker.cli.options import CORES, DEFAULT_PROFILE, Jobs, Json, Rules, absolute, print_json, profile_names
from shrinker.values.errors import InputError

_SIDE = "A generated tree, a shrink.lock.json, or an upstream (release:VERSION, git:PATH_OR_URL@COMMIT, path:DIR)."


def diff(
    old: Annotated[str, typer.Argument(help=_SIDE)],
    new: Annotated[str, typer.Argument(help="The same, of the other side.")],
    profile: Annotated[
        str, typer.Option(help="Rules for a side that is an upstream.", autocompletion=profile_names)
    ] = DEFAULT_PROFILE,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the page for a comment here.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the whole page here.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, help="Characters of the Markdown page; 0: all. Default: GitHub's.")
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            help="Repository of upstream, to name its commits; REPOSITORY@OLD..NEW where it lacks their tags.",
        ),
    ] = None,
    old_upstream: Annotated[
        str | None, typer.Option("--old-upstream", help="Where OLD was generated from, when it is a tree or a lock.")
    ] = None,
    new_upstream: Annotated[str | None, typer.Option("--new-upstream", help="The same of NEW.")] = None,
    predicates: Annotated[
        bool, typer.Option("--predicates/--no-predicates", help="Look for platform questions that no rule names.")
    ] = True,
    rules: Rules = None,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Compare two generated trees: files, symbols, command line, endpoints, dependencies, kernels, risks, then the text.

    What is newly kept or removed comes with its reason. An upstream is generated first, or taken from the cache; its tree
    is compared and not judged: `shrink` and `bump` do that.
    Prints the Markdown page unless it goes to a file. Exit 0: the generated files are the same, 1: they differ, 2: error.
    """
    from shrinker.cache.workers import without_gc
    from shrinker.cli.progress import console_progress
    from shrinker.project import project_folder
    from shrinker.report.diff import pages
    from shrinker.source.pins import load_pins
    from shrinker.upgrade.sides import Options, compare_sides, open_sides

    place = absolute(rules)
    options = Options(profile, jobs, place, (old_upstream, new_upstream))
    with without_gc(last=True), console_progress() as progress:
        sides = open_sides((old, new), options, progress)
        progress.phase("compare")
        found = compare_sides(sides, (old, new), history=history, rules=place, jobs=jobs, predicates=predicates)
    text = pages.markdown(found, pages.COMMENT_LIMIT if limit is None else limit)
    if markdown is not None:
        _write(markdown, text)
    if html is not None:
        _write(html, pages.page(found, load_pins(project_folder()).submodule_url))
    if as_json:
        print_json(pages.review_json(found))
    elif markdown is None:
        print(text, end="")
    if found.different:
        raise typer.Exit(1)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}", "choose another place") from error
