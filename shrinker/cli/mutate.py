"""`shrinker mutate`: does the evidence notice faults?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shrinker.cli.options import CORES, DEFAULT_OUT, Jobs, Json, Out, RecordedUpstream, Reports, absolute, print_json

if TYPE_CHECKING:
    from shrinker.values.manifest import Manifest
    from shrinker.verify.mutation.judge import Judged


def mutate(
    out: Out = DEFAULT_OUT,
    count: Annotated[int, typer.Option("--count", min=1, help="How many faults.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Of the draw: the same seed draws the same faults.")] = 0,
    level: Annotated[list[str] | None, typer.Option(help="Ask only these, in this order. Default: all.")] = None,
    upstream: RecordedUpstream = None,
    reports: Reports = None,
    jobs: Jobs = CORES,
    as_json: Json = False,
) -> None:
    """Put faults into copies of a tree and ask each level, from the cheapest on, whether it notices them.

    Writes mutation.json and mutation.md beside the tree's other reports. Exit 1 when the levels form and references
    already find something wrong with the tree itself.
    """
    from shrinker.cache import Cache
    from shrinker.cli.places import open_recorded, read_manifest
    from shrinker.cli.progress import console_progress
    from shrinker.pipeline import reports_folder
    from shrinker.source.cache import default_folder
    from shrinker.values.errors import InputError
    from shrinker.verify import EVIDENCE_LEVELS
    from shrinker.verify.mutation import choose, judge_all
    from shrinker.verify.mutation.page import mutation_data, mutation_page

    names = level or list(EVIDENCE_LEVELS)
    for name in names:
        if name not in EVIDENCE_LEVELS:
            raise InputError(f"no level {name!r} to ask", f"levels here: {', '.join(EVIDENCE_LEVELS)}")
    manifest = read_manifest(out)
    cache = Cache(default_folder().absolute())
    with console_progress() as progress:
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)

        def asked(name: str) -> Callable[[Path, Manifest], str]:
            def ask(folder: Path, judged: Manifest) -> str:
                found = EVIDENCE_LEVELS[name](tree, folder, judged, jobs=jobs, progress=lambda line: None, cache=cache)
                return "" if found.passed else _first(found.findings)

            return ask

        levels = {name: asked(name) for name in names}
        progress.phase("the tree itself")
        for name, ask in levels.items():
            if finding := ask(out.absolute(), manifest):
                raise InputError(
                    f"{name} already finds fault with {out}: {finding}", "generate the tree again with `make shrink`"
                )
        progress.phase("faults")
        faults = choose(tree, out.absolute(), manifest, count=count, seed=seed)
        done: list[Judged] = []

        def told(judged: Judged) -> None:
            done.append(judged)
            progress.advance(len(done), len(faults))

        found = judge_all(out.absolute(), manifest, faults, levels, told)
    data = mutation_data(found, names, manifest, seed)
    folder = reports_folder(out, manifest.upstream, manifest.profile, absolute(reports))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mutation.json").write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", "utf-8")
    (folder / "mutation.md").write_text(mutation_page(data), "utf-8")
    if as_json:
        print_json(data)
    else:
        print(mutation_page(data), end="")


def _first(findings: Any) -> str:
    first = findings[0]
    return f"{first.path}:{first.line}: [{first.check}] {first.message}"
