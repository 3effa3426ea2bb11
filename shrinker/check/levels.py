"""The checks of a generated tree, and the evidence levels that every run asks for, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from shrinker.cache import Cache
from shrinker.check.bases import lost_bases
from shrinker.check.capabilities import CAPABILITIES, verify_capabilities
from shrinker.check.commands import lost_commands
from shrinker.check.companions import lost_imports
from shrinker.check.decorators import lost_decorators
from shrinker.check.entries import judge_entries
from shrinker.check.form import COUNTS, changed_files
from shrinker.check.imports import exported_names, imports, module_attributes
from shrinker.check.listing import extra_files, files, own_files, unchanged_files
from shrinker.check.loop_imports import lost_imports_of_loops
from shrinker.check.members import lost_members
from shrinker.check.native import NATIVE, lost_sources
from shrinker.check.registrations import lost_by_text
from shrinker.check.registry import Check, Seen, evidence
from shrinker.check.rows import lost_dispatches, lost_rows
from shrinker.check.strings import dangling_paths, missing_data_files
from shrinker.check.tables import lost_tables
from shrinker.check.trees import Trees
from shrinker.check.undefined import star_names, undefined_names
from shrinker.ruleset import Ruleset
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence
from shrinker.values.upstream import UpstreamTree

FORM, REFERENCES = "form", "references"


class Level(Protocol):
    """What every evidence level is: a function from two trees to evidence."""

    def __call__(
        self,
        tree: UpstreamTree,
        out: Path,
        manifest: Manifest,
        *,
        jobs: int,
        progress: Callable[[str], None],
        cache: Cache | None = None,
        rules: Ruleset | None = None,
    ) -> Evidence: ...


def _entries(trees: Trees, seen: Seen) -> None:
    """What the rules say of flags, requests and variables is refused where it comes in; else it is a question."""
    if trees.rules is not None:
        entered = judge_entries(
            trees.source, trees.out, trees.manifest, trees.rules, jobs=trees.jobs, cache=trees.cache
        )
        seen.look(len(entered.claims), "claims enforced")
        seen.look(len(entered.flags), "effects of flags")
        seen.open += entered.findings


CHECKS: tuple[Check[Trees], ...] = (
    Check("files", FORM, files),
    Check("extra files", FORM, extra_files),
    Check("own files", FORM, own_files),
    Check("unchanged files", FORM, unchanged_files),
    Check("changed files", FORM, changed_files, COUNTS),
    Check("undefined names", REFERENCES, undefined_names),
    Check("star-import names", REFERENCES, star_names),
    Check("imports", REFERENCES, imports),
    Check("module attributes", REFERENCES, module_attributes),
    Check("string paths", REFERENCES, dangling_paths),
    Check("data files", REFERENCES, missing_data_files),
    Check("exported names", REFERENCES, exported_names),
    Check("members", REFERENCES, lost_members),
    Check("bases", REFERENCES, lost_bases),
    Check("decorators", REFERENCES, lost_decorators),
    Check("rows", REFERENCES, lost_rows),
    Check("rows", REFERENCES, lost_dispatches),
    Check("names by text", REFERENCES, lost_by_text),
    Check("tables", REFERENCES, lost_tables),
    Check("native sources", REFERENCES, lost_sources, NATIVE),
    Check("imports of loops", REFERENCES, lost_imports_of_loops),
    Check("commands", REFERENCES, lost_commands),
    Check("companions", REFERENCES, lost_imports),
    Check("entries", REFERENCES, _entries, ("claims enforced", "effects of flags")),
)
"""A new check is added here."""


def judge(
    level: str,
    tree: UpstreamTree,
    out: Path,
    manifest: Manifest,
    *,
    jobs: int,
    progress: Callable[[str], None],
    cache: Cache | None = None,
    rules: Ruleset | None = None,
) -> Evidence:
    """Ask the checks of a level.

    Args:
        level: ``form`` or ``references``.
        tree: upstream, as the `source` phase gave it.
        out: the generated tree, in the layout of upstream's repository.
        manifest: what `out` says of itself.
        jobs: number of processes.
        progress: receives one line a step.
        cache: what was found of files before; by default none. Every file is hashed in any case.
        rules: those by which the tree was made; without them the checks that need them look at nothing.

    Returns:
        The evidence; `findings` is empty exactly when it passed.

    Raises:
        InputError: ruff is missing or fails.
        ShrinkerError: a worker process was killed.
    """
    progress(f"{level}: {len(manifest.files)} files")
    trees = Trees(tree, out, manifest, rules, jobs, cache or Cache.off())
    found = evidence(level, (check(trees) for check in CHECKS if check.level == level))
    progress(f"{level}: {len(found.findings)} findings, {len(found.inherited)} inherited from upstream")
    return found


EVIDENCE_LEVELS: Mapping[str, Level] = MappingProxyType(
    {FORM: partial(judge, FORM), REFERENCES: partial(judge, REFERENCES), CAPABILITIES: verify_capabilities}
)
"""The levels by name."""
