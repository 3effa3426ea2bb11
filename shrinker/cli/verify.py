"""`shrinker verify`: the evidence levels, one after the other."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shrinker.cli import options

if TYPE_CHECKING:
    from equivalence.levels import Expected, Following, LevelResult
    from shrinker.pipeline import Progress
    from shrinker.values.manifest import Manifest
    from shrinker.values.upstream import UpstreamTree


def verify(
    out: options.Out = options.DEFAULT_OUT,
    rest: Annotated[
        list[str] | None, typer.Argument(help="After --: options of the level gpu (`-- --help` lists them).")
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            help="form, references, capabilities, embedders, imports, model, server, trace, tests, native; may be given again; or gpu alone. "
            "Default: form, references and capabilities.",
            autocompletion=options.level_names,
        ),
    ] = None,
    program: Annotated[
        list[Path] | None,
        typer.Option(
            help="A wheel, or a folder with Python, notebooks or Markdown: does what it uses of the package still stand? May be given "
            "again; the level embedders asks these in place of the pinned wheels.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="All levels that need no GPU and no compiler; reports are written (verify.md, verify.json)."
        ),
    ] = False,
    upstream: options.RecordedUpstream = None,
    jobs: options.Jobs = options.CORES,
    reports: options.Reports = None,
    work: Annotated[
        Path | None, typer.Option(help="Folder for logs and answers of the runs, kept; default: none is.")
    ] = None,
    timeout_factor: options.TimeoutFactor = 1.0,
    where_upstream_runs: Annotated[
        bool,
        typer.Option(
            "--where-upstream-runs",
            help="What does not run on upstream's own tree here either, with the same error, is listed and fails nothing.",
        ),
    ] = False,
    tests: Annotated[
        Path | None,
        typer.Option(
            help="Folder `test` of upstream's repository at the same commit: the level tests runs what lies there."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Judge a generated tree again, by upstream, its lock and the files alone; imports, model, server and trace run both trees.

    The levels that run the trees need the environment that `make simulation` makes, and no GPU.
    """
    from equivalence.levels import LEVELS_BY_NAME, SIMULATED_LEVELS
    from equivalence.levels.tests import TESTS
    from shrinker.check.embedders import LEVEL as EMBEDDERS
    from shrinker.check.levels import EVIDENCE_LEVELS
    from shrinker.cli.gpu import GPU_LEVEL, NATIVE_LEVEL, verify_native, verify_on_gpus
    from shrinker.cli.progress import console_progress
    from shrinker.report.pages import render
    from shrinker.report.place import evidence_folder, open_recorded, read_manifest, reports_of
    from shrinker.report.verification import JSON_NAME, verification, write_verification
    from shrinker.values.errors import InputError

    known = [*EVIDENCE_LEVELS, EMBEDDERS, *SIMULATED_LEVELS]
    asked = [*([EMBEDDERS] if program else []), *([TESTS] if tests else [])]
    levels = level or (known if everything else asked or list(EVIDENCE_LEVELS))
    if levels == [GPU_LEVEL]:
        raise typer.Exit(verify_on_gpus(out, upstream, options.absolute(reports), rest or []))
    if rest:
        raise InputError("options after -- are those of the level gpu", "add --level gpu, or leave them out")
    here = (*known, *LEVELS_BY_NAME, NATIVE_LEVEL)
    for name in levels:
        if name not in here:
            raise InputError(f"no evidence level {name!r}", f"levels here: {', '.join(here)}, or gpu alone")
    if program and (everything or EMBEDDERS not in levels):
        raise InputError(
            "--program is asked by the level embedders alone, and enters no report", "leave the others out"
        )
    if tests and TESTS not in levels:
        raise InputError("--tests is for the level tests alone", "add --level tests, or leave it out")
    manifest = read_manifest(out)
    place = reports_of(out.absolute(), manifest, options.absolute(reports))
    written = evidence_folder(
        out.absolute(),
        place,
        JSON_NAME,
        # The lock is judged with the form.
        lambda data: {*data["levels"]} <= {*levels, "lock"} and data["where_upstream_runs"] == where_upstream_runs,
    )
    with console_progress() as progress:
        if everything and written != place:
            progress.note(
                f"{place / JSON_NAME} has more levels, or was asked for otherwise: this run writes to {written}"
            )
        tree = open_recorded(out, manifest.upstream, upstream, progress.note)
        running = {**SIMULATED_LEVELS, **LEVELS_BY_NAME}
        simulated = [name for name in running if name in levels]
        # First what costs nothing: a missing environment is an error of the first second.
        with open_setting(
            tree, out, manifest, place, simulated, options.absolute(work), timeout_factor, jobs, progress
        ) as setting:
            if setting is not None:
                setting = replace(setting, where_upstream_runs=where_upstream_runs, tests=options.absolute(tests))
            results = _static(tree, out, manifest, levels, jobs, options.absolute(reports), progress, program or [])
            for name in simulated:
                progress.phase(f"verify {name}")
                results.append(running[name](tree.root / "python", out.absolute() / "python", setting))
            if NATIVE_LEVEL in levels:
                progress.phase(f"verify {NATIVE_LEVEL}")
                results.append(verify_native(tree, out, manifest, jobs, progress))
    if everything:
        page = write_verification(written, manifest, results, where_upstream_runs=where_upstream_runs)
        progress.note(f"written: {page}")
    if as_json:
        data = verification(manifest, results, where_upstream_runs=where_upstream_runs)
        options.print_json(data if simulated else [result.evidence for result in results])
    else:
        print(render("verify.txt.jinja", results=results), end="")
    if not all(result.passed for result in results):
        raise typer.Exit(1)


@contextmanager
def open_setting(
    tree: "UpstreamTree",
    out: Path,
    manifest: "Manifest",
    reports: Path,
    levels: list[str],
    work: Path | None,
    timeout_factor: float,
    jobs: int,
    progress: "Progress",
) -> Iterator[Any]:
    """With what the simulated levels run; nothing where none is asked for."""
    from equivalence.levels import Expected, Setting
    from equivalence.simulation.environment import simulation
    from shrinker.source.cache import default_folder

    if not levels:
        yield None
        return
    expected = Expected.read(reports / "interface.json")
    made = simulation(tree.declared.dependencies, compiled=default_folder() / "compiled")
    with tempfile.TemporaryDirectory(prefix="shrinker-verify-", ignore_cleanup_errors=True) as scratch:
        place = work or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        following = _following(tree, out, manifest, expected, place) if "trace" in levels else None
        yield Setting(made, place, expected, progress.note, timeout_factor, following, jobs=jobs)


def _following(tree: "UpstreamTree", out: Path, manifest: "Manifest", expected: "Expected", work: Path) -> "Following":
    """What follows upstream's lines, with what the profile says may be missing."""
    from equivalence.levels import Following
    from equivalence.trace.compare import Stated
    from shrinker.cache import Cache, hash_of
    from shrinker.cache.identity import tool_identity
    from shrinker.check.allowances import default_tokens
    from shrinker.check.rule_index import index_rules
    from shrinker.ruleset import load_profile
    from shrinker.source.cache import default_folder

    rules = load_profile(manifest.profile)
    index = index_rules(rules)
    stated = Stated(
        default_tokens(manifest.defaults),
        frozenset(value for row in expected.refused for value in row["values"]),
        tuple(call for fact in rules.facts for call in fact.calls),
        tuple(module for removal in rules.removes for module in removal.modules),
        index,
    )
    content = hash_of(*(f"{file.path} {file.sha256}" for file in tree.files)).hex()
    return Following(
        work, stated, Cache(default_folder().absolute()).layer("executed", tool_identity("equivalence")), content
    )


def _static(
    tree: "UpstreamTree",
    out: Path,
    manifest: "Manifest",
    levels: list[str],
    jobs: int,
    reports: Path | None,
    progress: "Progress",
    programs: list[Path],
) -> "list[LevelResult]":
    """The levels that run neither tree."""
    from shrinker.cache import Cache
    from shrinker.check.embedders import LEVEL as EMBEDDERS
    from shrinker.check.levels import EVIDENCE_LEVELS
    from shrinker.check.trees import Trees
    from shrinker.pipeline.verification import embedders_evidence, lock_evidence, verify_tree
    from shrinker.report.place import recorded_rules
    from shrinker.source.cache import default_folder
    from shrinker.values.outcome import LevelResult

    results = []
    trees = Trees(tree, out, manifest, recorded_rules(manifest), jobs)
    for name in [name for name in EVIDENCE_LEVELS if name in levels]:
        start = time.monotonic()
        (evidence,) = verify_tree(trees, [name], {}, progress)
        results.append(LevelResult(evidence, seconds=time.monotonic() - start))
    if "form" in levels:
        results.insert(0, LevelResult(lock_evidence(out.absolute(), manifest, reports)))
    if EMBEDDERS in levels:
        progress.phase(f"verify {EMBEDDERS}")
        trees = replace(trees, cache=Cache(default_folder().absolute()))
        results.append(embedders_evidence(trees, progress, download=True, programs=programs))
    return results
