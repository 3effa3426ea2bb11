"""The values of a cross-check."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a tool's output."""

    tool: str
    path: str
    """Below the tree."""
    line: int
    kind: str
    """The tool's name for it: ``F841``, ``unused method``, ``missing-attribute``."""
    text: str
    """What it says, without a position: equal for the same finding in two trees."""
    subject: str = ""
    """The name that it speaks of, where it speaks of one."""
    reason: str = ""
    """Why upstream has it not; empty where none was found."""


ImportGraph = dict[str, int]
"""Imports of one tree, as pydeps sees them: a number for each of `COUNTED`."""
COUNTED = {
    "modules": "modules",
    "imports": "imports",
    "cycles": "groups of modules that import each other",
    "largest cycle": "modules in the largest",
}
"""What is counted, in words."""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """What the tools say of a generated tree beside its upstream."""

    counts: dict[str, tuple[int, int]]
    """Findings by tool, in upstream and in the generated tree."""
    new: tuple[Finding, ...]
    """Sorted; those that upstream does not have."""
    imports: tuple[ImportGraph, ImportGraph]
    """Of upstream and of the generated tree."""

    @property
    def unexplained(self) -> tuple[Finding, ...]:
        """New findings without a reason."""
        return tuple(item for item in self.new if not item.reason)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        names = ("upstream", "generated")
        shown = ("tool", "path", "line", "kind", "text", "reason")
        return {
            "findings": {tool: dict(zip(names, pair, strict=True)) for tool, pair in self.counts.items()},
            "imports": dict(zip(names, self.imports, strict=True)),
            "new": [{name: getattr(item, name) for name in shown} for item in self.new],
            "unexplained": len(self.unexplained),
        }

    def lines(self, everything: bool) -> Iterator[str]:
        """What a person reads; with `everything` explained findings too."""
        new, open_ = (Counter(item.tool for item in items) for items in (self.new, self.unexplained))
        yield f"{'':10}{'upstream':>10}{'generated':>11}{'new':>7}{'unexplained':>13}"
        for tool, (before, after) in self.counts.items():
            yield f"{tool:10}{before:>10,}{after:>11,}{new[tool]:>7,}{open_[tool]:>13,}"
        for name, said in COUNTED.items():
            before, after = (graph[name] for graph in self.imports)
            yield f"{'pydeps' if name == 'modules' else '':10}{before:>10,}{after:>11,}  {said}"
        shown = self.new if everything else self.unexplained
        yield from [""] if shown else []
        for item in shown:
            reason = f"\n    {item.reason}" if item.reason else ""
            yield f"{item.path}:{item.line}: {item.tool} {item.kind}: {item.text}{reason}"
