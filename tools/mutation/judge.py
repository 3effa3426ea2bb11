"""Ask each level in turn whether it notices a fault; the first that does is enough."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shrinker.check.levels import judge
from shrinker.check.trees import Trees
from shrinker.values.errors import InputError
from shrinker.values.outcome import Evidence, Finding
from tools.mutation.faults import Fault
from tools.mutation.mutant import stand


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one fault."""

    fault: Fault
    caught_by: str
    """The first level that noticed it; empty for a survivor."""
    finding: str


def judge_all(trees: Trees, faults: Iterable[Fault], levels: Sequence[str]) -> Iterator[Judged]:
    """Judge faults one after the other.

    Args:
        trees: upstream and the generated tree, in copies of which the faults are put.
        faults: of that tree.
        levels: that read the trees, from the cheapest to the strictest.

    Raises:
        InputError: a level finds fault with the tree itself.
    """
    with stand(trees.out, trees.manifest) as copy:
        whole = replace(trees, out=copy.folder)
        own = {name: _asked(name, whole) for name in levels}
        for name, found in own.items():
            if not found.passed:
                raise InputError(
                    f"{name} already finds fault with {trees.out}: {told(found.findings[0])}",
                    "generate the tree again with `make shrink`",
                )
        # What the tree itself leaves open, of an upstream that nobody has answered for, notices no fault.
        known = {name: frozenset(found.open) for name, found in own.items()}
        for fault in faults:
            with copy.damaged(fault) as manifest:
                caught, finding = _noticed(replace(whole, manifest=manifest), known)
            yield Judged(fault, caught, finding)


def _noticed(damaged: Trees, known: Mapping[str, Collection[Finding]]) -> tuple[str, str]:
    for name, before in known.items():
        for finding in _asked(name, damaged).held().findings:
            if finding not in before:
                return name, told(finding)
    return "", ""


def _asked(name: str, trees: Trees) -> Evidence:
    return judge(name, trees, lambda line: None)


def told(finding: Finding) -> str:
    """A finding in one line."""
    place = f"{finding.path}:{finding.line}: " if finding.path else ""
    return f"{place}[{finding.check}] {finding.message}"


def table(judged: Sequence[Judged], levels: Iterable[str]) -> list[list[str]]:
    """Rows of kind, faults, caught by each level, survivors; the last row sums them up."""
    names = [*levels]
    rows: list[list[str]] = []
    for kind in [*dict.fromkeys(j.fault.kind for j in judged), ""]:
        of_kind = [j for j in judged if kind in ("", j.fault.kind)]
        by = Counter(j.caught_by for j in of_kind)
        counts = [len(of_kind), *(by[name] for name in names), by[""]]
        rows.append([kind or "all", *map(str, counts)])
    return rows
