"""The checks of a generated tree, and the evidence levels that every run asks for, by name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from shrinker.check.capabilities.level import lost_capabilities, silent_names, unexplained_losses, wrongly_refused
from shrinker.check.declared import lost_commands, lost_targets
from shrinker.check.entries import judge_entries
from shrinker.check.form import COUNTS, changed_files
from shrinker.check.inevitable import inevitable_errors
from shrinker.check.listing import changed_lines, extra_files, files, own_files, unchanged_files
from shrinker.check.members import lost_bases, lost_decorators, lost_members, lost_stores
from shrinker.check.native import NATIVE, lost_sources
from shrinker.check.references import (
    dangling_paths,
    exported_names,
    imports,
    lost_imports,
    lost_tables,
    missing_data_files,
    module_attributes,
    star_names,
    undefined_names,
)
from shrinker.check.registrations import (
    lost_by_text,
    lost_dispatches,
    lost_imports_of_loops,
    lost_registrations,
    lost_rows,
)
from shrinker.check.trees import Seen, Trees
from shrinker.values.outcome import Evidence, Finding

EVIDENCE_LEVELS = FORM, REFERENCES, CAPABILITIES = "form", "references", "capabilities"
"""What every run asks for, a stricter level after the other."""


def _entries(trees: Trees, seen: Seen) -> None:
    """What the rules say of flags, requests and variables is refused where it comes in; else it is a question."""
    entered = judge_entries(trees)
    seen.look(len(entered.claims), "claims enforced")
    seen.look(len(entered.flags), "effects of flags")
    seen.open += entered.findings


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a generated tree."""

    name: str
    level: str
    run: Callable[[Trees, Seen], None]
    counts: tuple[str, ...] | None = None
    """Names of what it always counts, in the order of a report; its own by default."""


CHECKS = (
    Check("files", FORM, files),
    Check("extra files", FORM, extra_files),
    Check("own files", FORM, own_files),
    Check("unchanged files", FORM, unchanged_files),
    Check("changed files", FORM, changed_files, COUNTS),
    Check("changed lines", FORM, changed_lines),
    Check("undefined names", REFERENCES, undefined_names),
    Check("star-import names", REFERENCES, star_names),
    Check("imports", REFERENCES, imports),
    Check("module attributes", REFERENCES, module_attributes),
    Check("string paths", REFERENCES, dangling_paths),
    Check("data files", REFERENCES, missing_data_files),
    Check("exported names", REFERENCES, exported_names),
    Check("members", REFERENCES, lost_members),
    Check("stores", REFERENCES, lost_stores),
    Check("bases", REFERENCES, lost_bases),
    Check("decorators", REFERENCES, lost_decorators),
    Check("rows", REFERENCES, lost_rows),
    Check("rows", REFERENCES, lost_dispatches),
    Check("registrations", REFERENCES, lost_registrations),
    Check("names by text", REFERENCES, lost_by_text),
    Check("tables", REFERENCES, lost_tables),
    Check("native sources", REFERENCES, lost_sources, NATIVE),
    Check("crate targets", REFERENCES, lost_targets),
    Check("imports of loops", REFERENCES, lost_imports_of_loops),
    Check("commands", REFERENCES, lost_commands),
    Check("ways through", REFERENCES, inevitable_errors),
    Check("companions", REFERENCES, lost_imports),
    Check("entries", REFERENCES, _entries, ("claims enforced", "effects of flags")),
    Check("losses", CAPABILITIES, unexplained_losses, ()),
    Check("carried", CAPABILITIES, lost_capabilities, ("modules", "definitions")),
    Check("names", CAPABILITIES, silent_names),
    Check("refused", CAPABILITIES, wrongly_refused),
)
"""A new check is added here."""


def judge(level: str, trees: Trees, progress: Callable[[str], None]) -> Evidence:
    """Ask the checks of a level.

    Args:
        level: one of `EVIDENCE_LEVELS`.
        trees: what is judged.
        progress: receives one line a step.

    Returns:
        The evidence; `findings` is empty exactly when it passed. What *capabilities* finds is *open*: questions about an upstream that nobody has
        read, faults of the pinned one's tree. Without `[[dropped]]` rules it looks at nothing.

    Raises:
        InputError: ruff is missing or fails.
        ShrinkerError: a worker process was killed.
    """
    if level == CAPABILITIES and not (trees.rules and trees.rules.dropped):
        return Evidence(level, True, (), (), ())
    progress(f"{level}: {len(trees.manifest.files)} files")
    seen = Seen("")
    for check in CHECKS:
        if check.level == level:
            seen.check = check.name
            seen.counts.update(dict.fromkeys((check.name,) if check.counts is None else check.counts, 0))
            check.run(trees, seen)
    findings, inherited, questions = map(_sorted, (seen.findings, seen.inherited, seen.open))
    progress(f"{level}: {len(findings)} findings, {len(inherited)} inherited from upstream, {len(questions)} open")
    return Evidence(level, not findings, tuple(seen.counts.items()), findings, inherited, questions)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each thing once."""
    return tuple(sorted(set(findings), key=lambda f: (f.path, f.line, f.check, f.message)))
