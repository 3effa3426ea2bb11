"""How the rules fit an upstream: what every command would find wrong with a tree, in one table and
with one verdict.

Rules that were written for one release may say nothing of what another one has. Each command asks
about a part of that; here all of it is counted, so that no command is green beside another that is
red on the same tree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from packaging.requirements import Requirement

from shrinker.check.trees import Trees
from shrinker.program.decided import Analysis
from shrinker.program.reached import absent_names, reached, taken
from shrinker.program.symbols.why import Symbols
from shrinker.project import project_folder
from shrinker.report.place import some
from shrinker.report.summary import language
from shrinker.ruleset.models import Budget
from shrinker.source.pins import load_pins
from shrinker.values.distributions import Distributions
from shrinker.values.errors import InputError
from shrinker.values.leftovers import Leftovers
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import Evidence, Finding
from shrinker.values.relations import grouped

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that must be so for the rules to fit."""

    what: str
    count: int
    """How many there are that do not fit; 0 where all is well."""
    said: str
    """The first of them, in one line."""
    command: str
    """What lists all of them."""
    held: bool = True
    """False for what is only to be known."""


@dataclass(frozen=True, slots=True)
class Fit:
    """All of it, for one tree."""

    pinned: bool
    """True for the upstream whose reports this repository holds."""
    rows: tuple[Row, ...]

    @property
    def fits(self) -> bool:
        """True where no row that is held against the rules counts anything."""
        return not any(row.count and row.held for row in self.rows)

    @property
    def verdict(self) -> str:
        """One line: ``the rules fit this upstream`` or what does not."""
        bad = [f"{row.what} ({row.count:,})" for row in self.rows if row.count and row.held]
        which = (
            "the pinned upstream" if self.pinned else "this upstream, which is not the pinned one"
        )
        return (
            f"the rules fit {which}"
            if not bad
            else f"the rules do not fit {which}: {', '.join(bad)}"
        )

    def as_data(self) -> dict[str, Any]:
        """For ``summary.json``."""
        rows = [asdict(row) for row in self.rows]
        return {"fits": self.fits, "pinned": self.pinned, "rows": rows, "verdict": self.verdict}


def fit_lines(fit: Fit | None) -> list[str]:
    """Return what the command line prints: the verdict, and below it each row that counts
    anything.
    """
    if fit is None:
        return []
    rows = [row for row in fit.rows if row.count]
    return [
        f"verdict: {fit.verdict}",
        *(f"  {r.what}: {r.count:,} ({r.said}): {r.command}" for r in rows),
    ]


def judge_fit(
    trees: Trees,
    analysis: Analysis,
    evidence: Iterable[Evidence],
    refused: Sequence[Finding],
    left: Leftovers,
) -> Fit:
    """Count what does not fit; `refused` is what strict mode refuses, `left` what is left of other
    platforms in the tree.
    """
    rows = [
        *_evidence_rows(evidence),
        *_refused_rows(refused),
        _row(
            "leftovers without a reason",
            left.unexplained,
            "shrinker leftovers",
            lambda each: each.text,
        ),
        *_kernel_rows(trees, analysis),
        *_budget_rows(trees.stated.budget, trees.manifest, analysis.distributions),
    ]
    return Fit(load_pins(project_folder()).is_pinned(trees.manifest.upstream), tuple(rows))


def _row(
    what: str,
    found: Sequence[Any],
    command: str,
    name: Callable[[Any], str] = str,
    *,
    held: bool = True,
) -> Row:
    names = [*dict.fromkeys(name(each) for each in found)]
    return Row(what, len(found), ", ".join(some(names, _SHOWN)), command, held)


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}" if finding.line else finding.path


def _evidence_rows(evidence: Iterable[Evidence]) -> Iterator[Row]:
    for item in evidence:
        yield _row(
            f"findings of {item.level}",
            item.findings,
            f"shrinker verify --level {item.level}",
            _place,
        )
        yield _row(
            f"open questions of {item.level}",
            item.open,
            f"shrinker verify --level {item.level}",
            _place,
        )


_REFUSED: Mapping[str, str] = {
    "unmatched-rule": "rules that match nothing",
    "missing-root": "roots that are not there",
    "unnamed-predicate": "predicates that no rule names",
    "undecided-fact": "facts that folding could not use",
    "leftover": "leftovers that strict refuses",
    "unsupported-construct": "constructs that folding leaves",
    "interface": "flags and endpoints that changed without a rule",
}
"""Checks of strict mode, in words."""


def _refused_rows(refused: Sequence[Finding]) -> Iterator[Row]:
    by_check = grouped((finding.check, finding) for finding in refused)
    for check in {**_REFUSED, **by_check}:
        found = by_check.get(check, [])
        name = _rule_of if check == "unmatched-rule" else _place
        yield _row(_REFUSED.get(check, check), found, "shrinker check-upstream", name)


def _rule_of(finding: Finding) -> str:
    return finding.message.removeprefix("rule ").partition(" ")[0]


def _kernel_rows(trees: Trees, analysis: Analysis) -> Iterator[Row]:
    """Yield kernels that the profile is for: those that nothing leads to, and those that this
    upstream does not have.
    """
    rules = trees.stated.reaches
    try:
        found = reached(
            trees.out,
            Symbols({**analysis.symbols}, lambda: [[*edge] for edge in analysis.symbol_edges]),
            rules,
        )
        missing = [row.name for row in found if not row.steps]
    except InputError:
        missing = [name for rule in rules for name in rule.names]
    absent = absent_names(trees.source, missing)
    yield _row(
        "kernels that are not reached", [n for n in missing if n not in absent], "shrinker kernels"
    )
    yield _row("kernels that this upstream has not", sorted(absent), "shrinker kernels", held=False)
    graph = analysis.graph
    data = {
        "kept": graph.kept,
        "removed": {
            path: (removal.rule, removal.reason) for path, removal in graph.removed.items()
        },
        "uncertain": [(item.path, item.line, item.reason) for item in graph.uncertain],
    }
    stayed = [path for each in taken(data, trees.stated.removes) for path in each.left]
    yield _row("modules that a rule removes and that stay", stayed, "shrinker kernels")


def _budget_rows(budget: Budget, manifest: Manifest, required: Distributions) -> Iterator[Row]:
    """Yield what the tree exceeds of what the profile allows a bump."""
    file, most = f"rules/profiles/{manifest.profile}.toml", budget.lines
    lines = sum(entry.lines_after for entry in manifest.files if language(entry.path) == "Python")
    over = max(0, lines - most) if most is not None else 0
    said = f"{lines:,} of at most {most:,}" if over else ""
    yield Row("lines of Python over the budget", over, said, file)
    names = {Requirement(text).name for text in required.dependencies}
    yield _row("distributions that the budget forbids", sorted({*budget.forbidden} & names), file)
