"""What a run of faults showed, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shrinker.values.manifest import Manifest
from tools.mutation.faults import Fault
from tools.mutation.judge import Judged, table

FORMAT = 2
_ARGUMENTS = (
    (
        ("function deleted", "method deleted", "class attribute deleted"),
        "without the survivor every import, name, look-up and text of the kept code still finds what it names, as *references* shows. "
        "So no statement of the tree can tell that it is gone, unless by listing what a module or class holds; "
        "it is there for code outside, or because a look-up of the same name on another object keeps it.",
    ),
    (
        ("import deleted",),
        "nothing in its file reads the name, and no kept code takes it from there, as *references* shows. What its module does "
        "while it is loaded, *imports* and *model* would miss.",
    ),
    (
        ("other branch taken",),
        "the test was decided by values that were followed through the code, further than the second reading of the rules goes. "
        "Where a program runs through it, *model*, *server* and *trace* tell.",
    ),
)
"""What can be said of survivors by their kinds, once *references* was asked."""


def mutation_data(
    judged: Sequence[Judged],
    levels: Sequence[str],
    manifest: Manifest,
    drawn: Mapping[int, Collection[Fault]],
    count: int,
) -> dict[str, Any]:
    """The content of ``mutation.json``: nothing in it depends on the machine or the time.

    Args:
        judged: what became of each fault.
        levels: that were asked.
        manifest: of the tree.
        drawn: the faults by the seed that drew them; one may be drawn by several.
        count: faults that were asked for by each seed; a small tree may not have so many.
    """
    noticed = {j.fault for j in judged if j.caught_by}
    return {
        "format": FORMAT,
        "profile": manifest.profile,
        "upstream": manifest.upstream.spec,
        "rules_hash": manifest.rules_hash,
        "seeds": [
            {"seed": seed, "asked": count, "faults": len(faults), "noticed": sum(fault in noticed for fault in faults)}
            for seed, faults in drawn.items()
        ],
        "levels": [*levels],
        "table": table(judged, levels),
        "faults": [
            {
                "kind": j.fault.kind,
                "path": j.fault.path,
                "line": j.fault.line,
                "subject": j.fault.subject,
                "caught_by": j.caught_by,
                "finding": j.finding,
            }
            for j in judged
        ],
    }


def arguments(data: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for when such a document was made: the levels, and of drawn faults each seed with its number."""
    drawn = (
        {"seeds": [[row["seed"], row.get("asked", row["faults"])] for row in data["seeds"]]} if "seeds" in data else {}
    )
    return {"levels": data["levels"], **drawn}


def mutation_page(data: Mapping[str, Any]) -> str:
    """The same in Markdown, with the survivors by name."""
    levels: list[str] = data["levels"]
    faults: list[dict[str, Any]] = data["faults"]
    left = [fault for fault in faults if not fault["caught_by"]]
    seeds: list[dict[str, int]] = data["seeds"]
    named = ", ".join(str(row["seed"]) for row in seeds)
    lines = [
        "# Does the evidence notice faults?",
        "",
        f"{len(faults)} faults, drawn with seed {named}, each put into a copy of the tree of `{data['upstream']}`, profile "
        f"`{data['profile']}`, whose manifest says that the damaged file is what was decided. The levels are asked from the "
        f"cheapest on; the first that notices counts. Noticed: {_share(len(faults) - len(left), len(faults))}.",
        "",
        *(f"- seed {row['seed']}: {_share(row['noticed'], row['faults'])}" for row in seeds if len(seeds) > 1),
        *([""] if len(seeds) > 1 else []),
        f"| kind | faults | {' | '.join(levels)} | survived |",
        "|---|---:|" + "---:|" * (len(levels) + 1),
        *(f"| {' | '.join(row)} |" for row in data["table"]),
        "",
        "## Survivors",
        "",
        *([f"- {fault['kind']}: `{fault['path']}:{fault['line']}` {fault['subject']}" for fault in left] or ["None."]),
    ]
    for kinds, argument in _ARGUMENTS if "references" in levels else ():
        if any(fault["kind"] in kinds for fault in left):
            lines += ["", f"Of {', '.join(kinds)}: {argument}"]
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def breakages_data(
    judged: Sequence[Judged], levels: Sequence[str], manifest: Manifest, skipped: Mapping[str, str]
) -> dict[str, Any]:
    """The content of ``breakages.json``.

    Args:
        judged: what became of each breakage.
        levels: that were asked.
        manifest: of the tree.
        skipped: breakages that nothing of this tree could suffer, and why.
    """
    return {
        "format": FORMAT,
        "profile": manifest.profile,
        "upstream": manifest.upstream.spec,
        "rules_hash": manifest.rules_hash,
        "levels": [*levels],
        "breakages": [
            {"name": j.fault.subject, "path": j.fault.path, "caught_by": j.caught_by, "finding": j.finding}
            for j in judged
        ],
        "skipped": [{"name": name, "why": why} for name, why in skipped.items()],
    }


def breakages_page(data: Mapping[str, Any]) -> str:
    """The same in Markdown."""
    rows = data["breakages"]
    caught = sum(bool(row["caught_by"]) for row in rows)
    lines = [
        "# What broke by hand",
        "",
        f"Each fault that pruning by hand made, put into a copy of the tree of `{data['upstream']}`, profile `{data['profile']}`. "
        f"Caught: {caught} of {len(rows)}.",
        "",
        "| breakage | where | caught by | what it says |",
        "|---|---|---|---|",
        *(
            f"| {row['name']} | `{row['path']}` | {row['caught_by'] or '**nothing**'} | {row['finding'].replace('|', chr(92) + '|')} |"
            for row in rows
        ),
    ]
    if data["skipped"]:
        lines += ["", "## Not in this tree", ""]
        lines += [f"- {row['name']}: {row['why']}" for row in data["skipped"]]
    return "\n".join(lines) + "\n"
