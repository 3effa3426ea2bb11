"""What a rule does by itself: the tree with all rules against the tree with all but that one.

`rules.md` counts what rests on a rule; several rules may rest on the same line, and what a decision makes unreachable
is counted for none of them. That figure is told, too. Beside it nothing is attributed: the tree is generated without the
rule, and compared.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shrinker.cache import Cache
from shrinker.pipeline import Progress, Request, Run, generation, shrink
from shrinker.ruleset import load_profile, without
from shrinker.source.cache import default_folder
from shrinker.syntax.parsing import parse
from shrinker.syntax.walk import definitions
from shrinker.upgrade.generated import generate, wanted
from shrinker.values.contents import MANIFEST
from shrinker.values.errors import EvidenceError, InputError
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import EmittedFile

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
    """What `rules.md` counts for it: decisions, lines that these fold away, files removed, lines of these, nodes kept."""
    paths: tuple[str, ...] = ()
    """The files that come or go, sorted."""
    failed: str = ""
    """First lines of why there is no tree without the rule, or why it is refused; the counts are then 0."""


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
    """The effect of each of these rules, as soon as it is known.

    Args:
        upstream: as `shrink` takes it; None for the pinned one.
        profile: whose rules.
        rules: folder of rule files; None for this repository's.
        ids: of rules of the profile.
        jobs: worker processes.
        judge: hold the tree without a rule against its evidence, too.

    Raises:
        InputError: a rule that the profile does not have, or a tree that cannot be generated with all of them.
    """
    loaded = load_profile(profile, rules)
    for rule in ids:
        # Before the first long run.
        without(loaded, (rule,))
    # Kept in the cache folder: who asks for a second rule does not wait for it again.
    tree = wanted(upstream, profile, rules, progress)
    cache = Cache(default_folder().absolute())
    generate([tree], jobs, progress)
    base = tree.place, Manifest.from_json((tree.place / MANIFEST).read_text("utf-8"), MANIFEST)
    counted: Mapping[str, Mapping[str, int]] = json.loads((tree.reports / "rules.json").read_text("utf-8"))["effects"]
    with tempfile.TemporaryDirectory(prefix="shrinker-effect-") as folder:
        place = Path(folder)

        for rule in ids:
            lines = sum(counted.get(rule, {}).get(name, 0) for name in ("folded_lines", "lines"))
            # Known at once; the comparison takes a run of its own.
            progress.note(f"rules.md counts {lines:,} lines for {rule}; generating without it")
            out = place / rule
            try:
                if judge:
                    request = Request(
                        upstream, profile, out, jobs, reports=place / "reports", rules=rules, without=(rule,)
                    )
                    manifest = shrink(request, progress).manifest
                else:
                    out.mkdir()
                    less = without(loaded, (rule,))
                    run = Run(tree.upstream, less, jobs, progress, cache, explained=False)
                    manifest = generation.generate(run, out)
            except (EvidenceError, InputError) as error:
                failed = "\n".join(str(error).splitlines()[: _SHOWN + 1])
                yield Alone(rule, counted=counted.get(rule, {}), failed=failed)
            else:
                yield compare(rule, counted.get(rule, {}), base, (out, manifest))


def compare(rule: str, counted: Mapping[str, int], base: tuple[Path, Manifest], other: tuple[Path, Manifest]) -> Alone:
    """Compare the trees with and without a rule.

    Args:
        rule: its id.
        counted: what the reports count for it.
        base: folder and manifest of the tree of all rules.
        other: the same of the tree without it.
    """
    old, new = ({f.path: f for f in manifest.files if f.lines_before} for _, manifest in (base, other))
    changed = [path for path in old.keys() & new.keys() if old[path].sha256 != new[path].sha256]
    back, gone = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    python = [path for path in (*changed, *back, *gone) if path.endswith(".py")]
    before = _definitions(base[0], (path for path in python if path in old))
    after = _definitions(other[0], (path for path in python if path in new))
    more = [_lines(new, path) - _lines(old, path) for path in python]
    return Alone(
        rule,
        Change(len(back), len(gone)),
        Change(len(after - before), len(before - after)),
        Change(sum(n for n in more if n > 0), -sum(n for n in more if n < 0)),
        counted,
        tuple(sorted((*back, *gone))),
    )


def _lines(files: dict[str, EmittedFile], path: str) -> int:
    return files[path].lines_after if path in files else 0


def _definitions(folder: Path, paths: Iterable[str]) -> set[tuple[str, str]]:
    return {(path, name) for path in paths for name, _ in definitions(parse((folder / path).read_bytes()))}
