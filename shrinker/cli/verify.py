"""`shrinker verify`: the evidence levels, one after the other; and `shrinker gpu-bundle`: what the
level *gpu* needs, to carry there.

Asked for by name alone are *native*, which compiles for as long as a build takes to begin, and
*gpu*, which takes GPUs, checkpoints and an environment.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shrinker.cli import options
from shrinker.values.errors import InputError
from shrinker.values.outcome import LevelResult

if TYPE_CHECKING:
    from equivalence.levels import Expected, Following
    from shrinker.check.trees import Trees
    from shrinker.pipeline import Progress

GPU_LEVEL, NATIVE_LEVEL = "gpu", "native"
_HERE = options.LEVELS[:-1]
_LEVEL = (
    f"{', '.join(_HERE)}; may be given again; or gpu alone. Default: form, references and "
    "capabilities."
)
_PROGRAM = (
    "A wheel, or a folder with Python, notebooks or Markdown: does what it uses of the package "
    "still stand? May be given "
    "again; the level embedders asks these in place of the pinned wheels."
)
_ALL = "All levels that need no GPU and no compiler; reports are written (verify.md, verify.json)."
_WHERE = (
    "What does not run on upstream's own tree here either, with the same error, is listed and "
    "fails nothing."
)
_REST = "After --: options of the level gpu (`-- --help` lists them)."
_WORK = "Folder for logs and answers of the runs, kept; default: none is."
_TESTS = (
    "Folder `test` of upstream's repository at the same commit: the level tests runs what lies "
    "there."
)
_WORDS = "pack or unpack, and its options behind `--`: `-- pack --help` tells them."


def verify(
    out: options.Out = options.DEFAULT_OUT,
    rest: Annotated[list[str] | None, typer.Argument(help=_REST)] = None,
    level: Annotated[
        list[str] | None, typer.Option(help=_LEVEL, autocompletion=options.level_names)
    ] = None,
    program: Annotated[list[Path] | None, typer.Option(help=_PROGRAM)] = None,
    everything: Annotated[bool, typer.Option("--all", help=_ALL)] = False,
    upstream: options.RecordedUpstream = None,
    jobs: options.Jobs = options.CORES,
    reports: options.Reports = None,
    work: Annotated[Path | None, typer.Option(help=_WORK)] = None,
    timeout_factor: options.TimeoutFactor = 1.0,
    where_upstream_runs: Annotated[
        bool, typer.Option("--where-upstream-runs", help=_WHERE)
    ] = False,
    tests: Annotated[Path | None, typer.Option(help=_TESTS)] = None,
    as_json: options.Json = False,
) -> None:
    """Judge a generated tree again, by upstream, its lock and the files alone; imports, model,
    server and trace run both trees.

    The levels that run the trees need the environment that `make simulation` makes, and no GPU.
    """
    from equivalence.levels import LEVELS_BY_NAME, SIMULATED_LEVELS
    from equivalence.levels.tests import TESTS
    from shrinker.check.embedders import LEVEL as EMBEDDERS
    from shrinker.check.levels import EVIDENCE_LEVELS, FORM
    from shrinker.check.trees import Trees
    from shrinker.pipeline import lock_evidence
    from shrinker.report.place import (
        evidence_folder,
        open_recorded,
        read_manifest,
        recorded_rules,
        render,
        reports_of,
    )
    from shrinker.report.verification import JSON_NAME, verification, write_verification

    known = [*EVIDENCE_LEVELS, EMBEDDERS, *SIMULATED_LEVELS]
    asked = [*([EMBEDDERS] if program else []), *([TESTS] if tests else [])]
    levels = level or (known if everything else asked or list(EVIDENCE_LEVELS))
    given = options.absolute(reports)
    if levels == [GPU_LEVEL]:
        raise typer.Exit(_verify_on_gpus(out, upstream, given, rest or []))
    if rest:
        raise InputError(
            "options after -- are those of the level gpu", "add --level gpu, or leave them out"
        )
    if unknown := next((name for name in levels if name not in _HERE), None):
        raise InputError(
            f"no evidence level {unknown!r}", f"levels here: {', '.join(_HERE)}, or gpu alone"
        )
    if program and (everything or EMBEDDERS not in levels):
        message = "--program is asked by the level embedders alone, and enters no report"
        raise InputError(message, "leave the others out")
    if tests and TESTS not in levels:
        raise InputError(
            "--tests is for the level tests alone", "add --level tests, or leave it out"
        )
    manifest = read_manifest(out)
    place = reports_of(out.absolute(), manifest, given)

    def same(data: Any) -> bool:
        # The lock is judged with the form.
        return {*data["levels"]} <= {*levels, "lock"} and data[
            "where_upstream_runs"
        ] == where_upstream_runs

    written = evidence_folder(out.absolute(), place, JSON_NAME, same)
    simulated = [name for name in (*SIMULATED_LEVELS, *LEVELS_BY_NAME) if name in levels]
    with options.console_progress() as progress:
        if everything and written != place:
            has = f"{place / JSON_NAME} has more levels, or was asked for otherwise"
            progress.note(f"{has}: this run writes to {written}")
        tree, rules = (
            open_recorded(out, manifest.upstream, upstream, progress.note),
            recorded_rules(manifest),
        )
        trees = Trees(tree, out, manifest, rules, jobs)
        if rules is None and not {*EVIDENCE_LEVELS}.isdisjoint(levels):
            said = f"the rules of {manifest.profile} are not those of this tree"
            progress.note(f"{said}: arms, registrations and tables are not judged")
        # First what costs nothing: a missing environment is an error of the first second.
        judged = {"where_upstream_runs": where_upstream_runs, "tests": options.absolute(tests)}
        folder = options.absolute(work)
        with open_setting(
            trees, place, simulated, folder, progress, patience=timeout_factor, **judged
        ) as setting:
            results = (
                [LevelResult(lock_evidence(out.absolute(), manifest, given))]
                if FORM in levels
                else []
            )
            for name in (name for name in _HERE if name in levels):
                progress.phase(f"verify {name}")
                results.append(_result(name, trees, setting, progress, program or []))
    if everything:
        page = write_verification(
            written, manifest, results, where_upstream_runs=where_upstream_runs
        )
        progress.note(f"written: {page}")
    data = verification(manifest, results, where_upstream_runs=where_upstream_runs)
    text = render("verify.txt.jinja", results=results)
    document = data if simulated else [result.evidence for result in results]
    options.answer(document, text, as_json=as_json, passed=data["passed"])


def _result(
    name: str, trees: "Trees", setting: Any, progress: "Progress", programs: list[Path]
) -> LevelResult:
    """Ask a level; `setting` is what the simulated ones run with, `programs` are asked in place of
    the pinned wheels.
    """
    from equivalence.levels import LEVELS_BY_NAME, SIMULATED_LEVELS
    from shrinker.cache import Cache
    from shrinker.check.levels import EVIDENCE_LEVELS
    from shrinker.pipeline.verification import embedders_evidence, judge_programs, verify_level
    from shrinker.source.cache import default_folder

    if name in EVIDENCE_LEVELS:
        start = time.monotonic()
        evidence = verify_level(name, trees, progress)
        return LevelResult(evidence, seconds=time.monotonic() - start)
    if name == NATIVE_LEVEL:
        return _verify_native(trees, progress)
    if run := {**SIMULATED_LEVELS, **LEVELS_BY_NAME}.get(name):
        return run(trees.source.root / "python", trees.out.absolute() / "python", setting)
    kept = replace(trees, cache=Cache(default_folder()))
    return (
        judge_programs(kept, programs)
        if programs
        else embedders_evidence(kept, progress, download=True)
    )


@contextmanager
def open_setting(
    trees: "Trees",
    reports: Path,
    levels: list[str],
    work: Path | None,
    progress: "Progress",
    **asked: Any,
) -> Iterator[Any]:
    """With what the simulated levels run, beside what is asked for; nothing where none of
    them is.
    """
    from equivalence.levels import Expected, Setting
    from equivalence.simulation.environment import simulation
    from shrinker.source.cache import default_folder

    if not levels:
        yield None
        return
    expected = Expected.read(reports / "interface.json")
    made = simulation(trees.source.declared.dependencies, compiled=default_folder() / "compiled")
    with tempfile.TemporaryDirectory(
        prefix="shrinker-verify-", ignore_cleanup_errors=True
    ) as scratch:
        place = work or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        following = _following(trees, expected, place) if "trace" in levels else None
        yield Setting(
            made, place, expected, progress.note, following=following, jobs=trees.jobs, **asked
        )


def _following(trees: "Trees", expected: "Expected", work: Path) -> "Following":
    """Return what follows upstream's lines, with what the profile says may be missing."""
    from equivalence.levels import Following
    from equivalence.trace.compare import Stated
    from shrinker.cache import Cache, hash_of
    from shrinker.cache.layer import tool_identity
    from shrinker.check.allowances import default_tokens
    from shrinker.check.trees import RuleIndex
    from shrinker.ruleset import load_profile
    from shrinker.source.cache import default_folder

    rules = load_profile(trees.manifest.profile)
    stated = Stated(
        default_tokens(trees.manifest.defaults),
        frozenset(value for row in expected.refused for value in row["values"]),
        tuple(call for fact in rules.facts for call in fact.calls),
        tuple(module for removal in rules.removes for module in removal.modules),
        RuleIndex(rules),
        tuple(name for removal in rules.removes for name in removal.definitions),
        tuple(call for rule in rules.pures for call in rule.calls),
    )
    content = hash_of(*(f"{file.path} {file.sha256}" for file in trees.source.files)).hex()
    layer = Cache(default_folder()).layer("executed", tool_identity("equivalence"))
    return Following(work, layer, content, stated)


def _verify_native(trees: "Trees", progress: "Progress") -> LevelResult:
    """Ask a compiler's front end about the kernel libraries of both trees.

    Raises InputError without nvcc, or without torch's headers.
    """
    from equivalence.levels.native import NativeSetting, run
    from equivalence.native.frontend import Compiler, find_nvcc, torch_headers
    from shrinker.cache import Cache
    from shrinker.cache.layer import tool_identity
    from shrinker.ruleset import load_profile
    from shrinker.source.cache import default_folder

    nvcc = find_nvcc()
    if not nvcc:
        raise InputError(
            "no nvcc was found", "install a CUDA toolkit, or put its bin folder on the search path"
        )
    companions = load_profile(trees.manifest.profile).companions
    folders = tuple(dict.fromkeys(rule.sources for rule in companions if rule.sources))
    layer = Cache(default_folder()).layer("native", tool_identity("equivalence"))
    setting = NativeSetting(
        Compiler(nvcc, torch_headers()), folders, layer, progress.note, trees.jobs
    )
    return run(trees.source.root, trees.out.absolute(), setting)


def _verify_on_gpus(
    out: Path, upstream: str | None, reports: Path | None, options: Sequence[str]
) -> int:
    """Run `python -m equivalence.gpu`, with further options, for a tree and the upstream that it
    was made from; returns the exit code.
    """
    from equivalence.gpu.__main__ import main
    from shrinker.report.place import open_recorded, read_manifest

    if {"-h", "--help"} & set(options):
        main(["--help"])
    tree = open_recorded(
        out, read_manifest(out).upstream, upstream, lambda text: print(text, file=sys.stderr)
    )
    given = ["--upstream", str(tree.root / "python"), "--generated", str(out.absolute() / "python")]
    given += ["--out", str(out.absolute().with_name(out.name + ".gpu"))]
    given += ["--reports", str(reports)] if reports else []
    return main([*given, *options])


def gpu_bundle(words: Annotated[list[str], typer.Argument(metavar="WORDS", help=_WORDS)]) -> None:
    """Pack wheels and folders for a machine without network into pieces, or unpack them there.

    Exit 1 when no wheel is found or a piece is not what was packed.
    """
    from equivalence.gpu.bundle import main

    raise typer.Exit(main(words))
