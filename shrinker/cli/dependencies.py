"""`shrinker dependencies`: what a generated package requires, what it does not any more, and how large both are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shrinker.cli.options import DEFAULT_OUT, Json, Out, Reports, absolute, print_json


def dependencies(
    out: Out = DEFAULT_OUT,
    sizes: Annotated[
        bool, typer.Option("--sizes", help="Ask the package index how large each distribution is; needs a network.")
    ] = False,
    reports: Reports = None,
    as_json: Json = False,
) -> None:
    """Print the distributions that a generated package requires, and those that upstream requires and it does not."""
    from shrinker.cli.places import find_graph
    from shrinker.report.distributions import distribution_lines

    data = _read(find_graph(out.absolute(), absolute(reports)).with_name("dependencies.json"))
    known = _sizes(data) if sizes else None
    if as_json:
        print_json(data if known is None else {**data, "sizes": known})
    else:
        print("\n".join(distribution_lines(data, known)))


def _read(path: Path) -> dict[str, Any]:
    from shrinker.values.errors import InputError

    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: no list of dependencies: {error}", "generate the tree again with `make shrink`"
        ) from error
    return data


def _sizes(data: dict[str, Any]) -> dict[str, int | None]:
    from concurrent.futures import ThreadPoolExecutor

    from shrinker.source.index import download_size, index_url

    index = index_url()
    names = sorted(data["distributions"])
    wanted = [data["distributions"][name]["declared"][0][1] for name in names]
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(names, pool.map(lambda requirement: download_size(index, requirement), wanted), strict=True))
