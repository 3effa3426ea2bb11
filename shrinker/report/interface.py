"""The content of `interface.json` and `interface.md`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches
from shrinker.values.entries import KEPT, Entries
from shrinker.values.interface import Difference, Interface, Refused

FORMAT = 1


def interface_groups(interface: Interface, entries: Entries, rules: Ruleset) -> dict[str, Any]:
    """What the page shows: the server's own flags apart from those of other programs."""
    classes = tuple(name for entry in rules.entries if entry.kind == "flag" for name in entry.classes)

    def own(row: Difference | Refused) -> bool:
        return any_name_matches(classes, row.where)

    refused = [row for row in interface.refused if row.subject.startswith("-")]
    return {
        "interface": interface,
        "server": [row for row in interface.flags if own(row)],
        "programs": [row for row in interface.flags if not own(row)],
        "refused": [row for row in refused if own(row)],
        "refused_programs": [row for row in refused if not own(row)],
        "refused_inside": [row for row in interface.refused if not row.subject.startswith("-")],
        "effects": [flag for flag in entries.flags if flag.effect != KEPT],
        "flags": len(entries.flags),
    }


def interface_data(interface: Interface, entries: Entries) -> dict[str, Any]:
    """The content of ``interface.json``."""
    effects = [asdict(flag) for flag in entries.flags if flag.effect != KEPT]
    return {"format": FORMAT, "unexplained": len(interface.unexplained()), **asdict(interface), "effects": effects}
