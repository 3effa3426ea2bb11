"""The values of a cross-check."""

from __future__ import annotations

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

    @property
    def identity(self) -> tuple[str, str, str]:
        """What two trees' findings are compared by."""
        return self.path, self.kind, self.text


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding that upstream does not have, and its reason."""

    finding: Finding
    reason: str
    """Empty where none was found."""


@dataclass(frozen=True, slots=True)
class ImportGraph:
    """Imports of one tree, as pydeps sees them."""

    modules: int
    imports: int
    cycles: int
    """Groups of more than one module that import each other."""
    largest: int
    """Modules in the largest of them."""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """What the tools say of a generated tree beside its upstream."""

    counts: dict[str, tuple[int, int]]
    """Findings by tool, in upstream and in the generated tree."""
    new: tuple[Explained, ...]
    """Sorted; those that upstream does not have."""
    imports: tuple[ImportGraph, ImportGraph]
    """Of upstream and of the generated tree."""

    @property
    def unexplained(self) -> tuple[Explained, ...]:
        """New findings without a reason."""
        return tuple(item for item in self.new if not item.reason)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        rows = [
            {
                "tool": i.finding.tool,
                "path": i.finding.path,
                "line": i.finding.line,
                "kind": i.finding.kind,
                "text": i.finding.text,
                "reason": i.reason,
            }
            for i in self.new
        ]
        names = ("upstream", "generated")
        return {
            "findings": {tool: dict(zip(names, pair, strict=True)) for tool, pair in self.counts.items()},
            "imports": {
                name: {"modules": g.modules, "imports": g.imports, "cycles": g.cycles, "largest cycle": g.largest}
                for name, g in zip(names, self.imports, strict=True)
            },
            "new": rows,
            "unexplained": len(self.unexplained),
        }
