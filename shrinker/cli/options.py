"""Options that several commands share, and how they are read and answered."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from shrinker.project import rules_folder
from shrinker.values.errors import InputError


def profile_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completion of `--profile`."""
    folder = Path(ctx.params.get("rules") or rules_folder())
    return sorted(p.stem for p in (folder / "profiles").glob(f"{incomplete}*.toml"))


def level_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completion of `--level`: for faults only those that a default run asks."""
    levels = DEFAULT_LEVELS if ctx.command.name == "mutate" else LEVELS
    return [name for name in levels if name.startswith(incomplete)]


def rule_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completion of ids of rules; none where the rules cannot be read."""
    from shrinker.ruleset import load_profile

    folder = ctx.params.get("rules")
    with suppress(InputError):
        loaded = load_profile(ctx.params.get("profile") or DEFAULT_PROFILE, Path(folder) if folder else None)
        return sorted(name for name in loaded.places if name.startswith(incomplete))
    return []


_UPSTREAM = "release:VERSION, git:PATH_OR_URL@COMMIT, submodule or path:DIR."
_PROFILE = "Which rules; `shrinker profiles` lists them."
_RULES = "Folder of rule files with profiles/ in it; default: the project's, else shrinker's own."

Upstream = Annotated[str | None, typer.Option(help=_UPSTREAM)]
ThisUpstream = Annotated[str, typer.Argument(help=_UPSTREAM)]
Profile = Annotated[str, typer.Option(help=_PROFILE, autocompletion=profile_names)]
Target = Annotated[Path | None, typer.Option(help="Where the generated tree goes.")]
Out = Annotated[Path, typer.Option(help="The generated tree.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for an error.")]
Everything = Annotated[bool, typer.Option("--all", help="List what is explained too, with its reason.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes; default: one a core.")]
Reports = Annotated[Path | None, typer.Option(help="Reports of the tree; default: where shrink puts them.")]
Sample = Annotated[int | None, typer.Option(min=1, help="Ask for so many symbols, drawn at random, instead of a name.")]
Seed = Annotated[int, typer.Option(help="Of what is drawn: the same one draws the same symbols.")]
Rules = Annotated[Path | None, typer.Option(help=_RULES)]
RecordedUpstream = Annotated[str | None, typer.Option(help="Where upstream is; default: what SHRINK.json names.")]
TimeoutFactor = Annotated[float, typer.Option(min=0.1, help="Factor of all time limits, for slow or busy machines.")]

DEFAULT_LEVELS = ("form", "references", "capabilities")
LEVELS = (*DEFAULT_LEVELS, "embedders", "imports", "model", "server", "trace", "tests", "native", "gpu")
"""Evidence levels, as `--level` takes them: to load those that judge takes longer than to complete a word may."""
DEFAULT_PROFILE = "deepseek"
DEFAULT_OUT = Path("dist/sglang_deepseek")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def absolute(path: Path | None) -> Path | None:
    """The path from the root, None for None."""
    return path.absolute() if path is not None else None


def answer(document: Any, text: str | Iterable[str], *, as_json: bool, passed: bool = True) -> None:
    """Print a document, of a dataclass its fields, or its text or lines, and end with exit code 1 unless all is as it should be."""
    if as_json:
        print(json.dumps(document, indent=1, sort_keys=True, default=asdict))
    else:
        print(text if isinstance(text, str) else "".join(f"{line}\n" for line in text), end="")
    if not passed:
        raise typer.Exit(1)
