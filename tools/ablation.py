"""What a rule does by itself: the tree with all rules against the tree with all but that one.

`rules.md` counts what rests on a rule; several rules may rest on the same line, and what a decision
makes unreachable is counted for none of them. Here nothing is attributed: the tree is generated
without the rule, and compared.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shrinker.cache import Cache
from shrinker.pipeline import Progress, Request, Run, shrink
from shrinker.pipeline import generate as emit
from shrinker.ruleset import load_profile, without
from shrinker.source.cache import default_folder
from shrinker.syntax.parsing import parse
from shrinker.syntax.walk import definitions
from shrinker.upgrade.sides import generated
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.manifest import Manifest

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Change:
    """What comes and goes of one kind of thing when a rule is left out."""

    back: int = 0
    """Only in the tree without the rule: the rule removes it."""
    gone: int = 0
    """Only in the tree with it: the rule keeps it."""


@dataclass(frozen=True, slots=True)
class Alone:
    """The effect of one rule alone."""

    rule: str
    files: Change = Change()
    definitions: Change = Change()
    """Functions, classes and methods, by qualified name."""
    lines: Change = Change()
    """Of Python, net for each file."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """What `rules.md` counts for it: decisions, lines that these fold away, files removed, lines of
    these, nodes kept.
    """
    paths: tuple[str, ...] = ()
    """The files that come or go, sorted."""
    failed: str = ""
    """First lines of why there is no tree without the rule, or why it is refused; the counts are
    then 0.
    """


def alone(
    upstream: str | None,
    profile: str,
    rules: Path | None,
    ids: Sequence[str],
    jobs: int,
    progress: Progress,
    *,
    judge: bool = False,
) -> Iterator[Alone]:
    """Yield the effect of each of these rules, as soon as it is known.

    Args:
        upstream: as `shrink` takes it; None for the pinned one.
        rules: folder of rule files; None for this repository's.
        judge: hold the tree without a rule against its evidence, too.

    Raises:
        InputError: a rule that the profile does not have, or a tree that cannot be generated with
        all of them.
    """
    loaded = load_profile(profile, rules)
    # Before the first long run: one that the profile does not have is told now.
    others = {rule: without(loaded, (rule,)) for rule in ids}
    # Kept in the cache folder: who asks for a second rule does not wait for it again.
    [whole] = generated([upstream], profile, rules, jobs, progress)
    assert whole.folder is not None and whole.upstream is not None, "it was just generated"
    cache = Cache(default_folder())
    base = whole.folder, whole.manifest
    counted: Mapping[str, Mapping[str, int]] = whole.report("rules.json")["effects"]
    with tempfile.TemporaryDirectory(prefix="shrinker-effect-") as folder:
        for rule in ids:
            known = counted.get(rule, {})
            # Known at once; the comparison takes a run of its own.
            lines = known.get("folded_lines", 0) + known.get("lines", 0)
            progress.note(f"rules.md counts {lines:,} lines for {rule}; generating without it")
            out, reports = Path(folder, rule), Path(folder, "reports")
            try:
                if judge:
                    request = Request(
                        upstream, profile, out, jobs, reports=reports, rules=rules, without=(rule,)
                    )
                    manifest = shrink(request, progress).manifest
                else:
                    out.mkdir()
                    run = Run(whole.upstream, others[rule], jobs, progress, cache, explained=False)
                    manifest = emit(run, out)
            except (EvidenceError, InputError) as error:
                yield Alone(
                    rule, counted=known, failed="\n".join(str(error).splitlines()[: _SHOWN + 1])
                )
            else:
                yield _compared(rule, known, base, (out, manifest))


def _compared(rule: str, counted: Mapping[str, int], *sides: tuple[Path, Manifest]) -> Alone:
    """Return what folder and manifest of the tree of all rules, and of that without one,
    say of it.
    """
    old, new = ({f.path: f for f in manifest.files if f.lines_before} for _, manifest in sides)
    changed = [path for path in old.keys() & new.keys() if old[path].sha256 != new[path].sha256]
    back, gone = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    python = [path for path in (*changed, *back, *gone) if path.endswith(".py")]
    lines = [
        Counter({path: files[path].lines_after for path in python if path in files})
        for files in (old, new)
    ]
    before, after = (
        {
            (path, name)
            for path in files
            for name, _ in definitions(parse((folder / path).read_bytes()))
        }
        for (folder, _), files in zip(sides, lines, strict=True)
    )
    return Alone(
        rule,
        Change(len(back), len(gone)),
        Change(len(after - before), len(before - after)),
        Change((lines[1] - lines[0]).total(), (lines[0] - lines[1]).total()),
        counted,
        tuple(sorted((*back, *gone))),
    )
