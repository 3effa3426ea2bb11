"""The checks of a generated tree, and the evidence levels that every run asks for, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from shrinker.check import (
    capabilities,
    entries,
    form,
    inevitable,
    lost,
    native,
    reached,
    references,
    ruff,
)
from shrinker.check.trees import Seen, Trees
from shrinker.values.outcome import Evidence

EVIDENCE_LEVELS = FORM, REFERENCES, CAPABILITIES = "form", "references", "capabilities"
"""What every run asks for, a stricter level after the other."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a generated tree."""

    name: str
    level: str
    run: Callable[[Trees, Seen], None]
    counts: tuple[str, ...] | None = None
    """Names of what it always counts, in the order of a report; its own by default."""


CHECKS = (
    Check("files", FORM, form.files, ("files", form.EXTRA)),
    Check("unchanged files", FORM, form.upstreams_files, (form.OWN, "unchanged files")),
    Check("changed files", FORM, form.changed_files, form.COUNTS),
    Check("changed lines", FORM, form.changed_lines),
    Check("undefined names", REFERENCES, ruff.undefined_names, ruff.COUNTS),
    Check("imports", REFERENCES, references.imports),
    Check("module attributes", REFERENCES, references.module_attributes),
    Check("string paths", REFERENCES, references.dangling_paths),
    Check("data files", REFERENCES, references.missing_data_files),
    Check("exported names", REFERENCES, references.exported_names),
    Check("members", REFERENCES, lost.members),
    Check("stores", REFERENCES, lost.stores),
    Check("bases", REFERENCES, lost.bases),
    Check("decorators", REFERENCES, lost.decorators),
    Check("rows", REFERENCES, lost.rows),
    Check("rows", REFERENCES, lost.dispatches),
    Check("registrations", REFERENCES, lost.registrations),
    Check("names by text", REFERENCES, lost.names_by_text),
    Check("held modules", REFERENCES, reached.names_of_held_modules),
    Check("loaded submodules", REFERENCES, reached.loaded_submodules),
    Check("frames", REFERENCES, reached.locals_of_frames),
    Check("tables", REFERENCES, references.lost_tables),
    Check("native sources", REFERENCES, native.lost_sources, native.NATIVE),
    Check("crate targets", REFERENCES, references.lost_targets),
    Check("imports of loops", REFERENCES, lost.imports_of_loops),
    Check("commands", REFERENCES, references.lost_commands),
    Check("ways through", REFERENCES, inevitable.inevitable_errors),
    Check("companions", REFERENCES, references.lost_imports),
    Check("entries", REFERENCES, entries.unenforced_claims, entries.COUNTS),
    Check("losses", CAPABILITIES, capabilities.unexplained_losses, ()),
    Check("carried", CAPABILITIES, capabilities.lost_capabilities, ("modules", "definitions")),
    Check("names", CAPABILITIES, capabilities.silent_names),
    Check("refused", CAPABILITIES, capabilities.wrongly_refused),
)
"""A new check is added here."""


def judge(level: str, trees: Trees, progress: Callable[[str], None]) -> Evidence:
    """Ask the checks of one of `EVIDENCE_LEVELS`; `progress` receives one line a step.

    `findings` is empty exactly when the tree passed. What *capabilities* finds is *open*: questions
    about an upstream that nobody has read, faults of the pinned one's tree. Without `[[dropped]]`
    rules it looks at nothing. Raises InputError: ruff is missing or fails; ShrinkerError: a worker
    process was killed.
    """
    if level == CAPABILITIES and not (trees.rules and trees.rules.dropped):
        return Evidence(level, True, (), (), ())
    progress(f"{level}: {len(trees.manifest.files)} files")
    seen = Seen("")
    for check in CHECKS:
        if check.level == level:
            seen.check = check.name
            seen.counts.update(
                dict.fromkeys((check.name,) if check.counts is None else check.counts, 0)
            )
            check.run(trees, seen)
    order = attrgetter("path", "line", "check", "message")
    found = (seen.findings, seen.inherited, seen.open)
    findings, inherited, questions = (tuple(sorted(set(each), key=order)) for each in found)
    progress(
        f"{level}: {len(findings)} findings, {len(inherited)} inherited from upstream, "
        f"{len(questions)} open"
    )
    return Evidence(level, not findings, tuple(seen.counts.items()), findings, inherited, questions)
