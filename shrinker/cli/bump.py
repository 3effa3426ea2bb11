"""`shrinker bump`: the pin of upstream moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shrinker.cli.options import (
    CORES,
    DEFAULT_PROFILE,
    Jobs,
    Json,
    Profile,
    Reports,
    Rules,
    Target,
    absolute,
    print_json,
)
from shrinker.values.errors import InputError


def bump(
    release: Annotated[str | None, typer.Option("--release", help="Version of the release to move to.")] = None,
    commit: Annotated[
        str | None, typer.Option("--commit", help="Commit, tag or branch to move to; with --release: the release's.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Folder or URL that has the commit; default: the submodule's URL.")
    ] = None,
    profile: Profile = DEFAULT_PROFILE,
    out: Target = None,
    reports: Reports = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", help="Write what a pull request needs here; default: print it.")
    ] = None,
    history: Annotated[
        str | None, typer.Option("--history", help="Repository of upstream, to name its commits.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what strict mode refuses.")] = False,
    repository: Annotated[Path | None, typer.Option("--repository", hidden=True)] = None,
    rules: Rules = None,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Move upstream.toml and the submodule's entry to another upstream, regenerate, judge, and tell what changed.

    When anything fails, the pin, the tree, the lock and the reports are as they were.
    """
    from dataclasses import asdict

    from shrinker.cache.workers import without_gc
    from shrinker.cli.progress import console_progress
    from shrinker.project import default_out, project_folder
    from shrinker.report.diff import pages
    from shrinker.upgrade.bump import Bump, bump_section
    from shrinker.upgrade.bump import bump as move

    root = absolute(repository) or project_folder()
    target = absolute(out) or root / default_out(profile)
    asked = Bump(
        root,
        release,
        commit,
        source,
        profile,
        target,
        absolute(reports) or root / "reports" / profile,
        jobs,
        strict,
        absolute(rules),
        history,
    )
    with without_gc(last=True), console_progress() as progress:
        done = move(asked, progress)
    left = bump_section(done)
    text = pages.markdown(done.review, pages.COMMENT_LIMIT - len(left)) + left
    if summary is not None:
        try:
            summary.write_text(text, "utf-8")
        except OSError as error:
            raise InputError(f"{summary}: {error.strerror or error}", "choose another place for the summary") from error
    if as_json:
        told = {"unknown": asdict(done.unknown), "stale": list(done.stale)}
        print_json({"before": done.before, "after": done.after, **told, **pages.review_json(done.review)})
    elif summary is None:
        print(text, end="")
