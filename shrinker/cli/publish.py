"""`shrinker publish`: a generated tree goes to a branch."""

from __future__ import annotations

from typing import Annotated

import typer

from shrinker.cli.options import DEFAULT_OUT, Json, Out, print_json


def publish(
    remote: Annotated[str, typer.Option("--remote", help="URL or folder of the repository.")],
    branch: Annotated[
        str, typer.Option("--branch", help="Branch that holds generated trees; made when it is not there.")
    ],
    out: Out = DEFAULT_OUT,
    as_json: Json = False,
) -> None:
    """Commit a generated tree on top of a branch and push it; never by force, and never over anything else."""
    from dataclasses import asdict

    from shrinker.cli.places import read_manifest
    from shrinker.upgrade.publish import publish as push

    place = out.absolute()
    done = push(place, read_manifest(place), remote, branch)
    if as_json:
        print_json(asdict(done))
    else:
        print(f"{branch}: {done.commit}{'' if done.new else ' (it had this tree already)'}")
