"""Ask each level in turn whether it notices a fault; the first that does is enough."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from tools.mutation.faults import Fault
from tools.mutation.mutant import stand

Asked = Callable[[Path, Manifest, Fault | None], str]
"""A level: the first thing that it finds wrong with a tree that has this fault, in words; empty when it passes."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one fault."""

    fault: Fault
    caught_by: str
    """The first level that noticed it; empty for a survivor."""
    finding: str


def judge_all(out: Path, manifest: Manifest, faults: Iterable[Fault], levels: Mapping[str, Asked]) -> Iterator[Judged]:
    """Judge faults one after the other.

    Args:
        out: the generated tree.
        manifest: of `out`.
        faults: what to put into copies of it.
        levels: from the cheapest to the strictest.

    Raises:
        InputError: a level finds fault with the tree itself.
    """
    with stand(out, manifest) as copy:
        for name, level in levels.items():
            if finding := level(copy.folder, manifest, None):
                raise InputError(
                    f"{name} already finds fault with {out}: {finding}", "generate the tree again with `make shrink`"
                )
        for fault in faults:
            caught, finding = "", ""
            with copy.damaged(fault) as damaged:
                for name, level in levels.items():
                    if finding := level(copy.folder, damaged, fault):
                        caught = name
                        break
            yield Judged(fault, caught, finding)


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
