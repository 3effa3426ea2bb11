"""What a run of faults showed, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from shrinker.values.manifest import Manifest
from tools.mutation.faults import Fault
from tools.mutation.judge import Judged, table

_FORMAT = 2


def _of_tree(manifest: Manifest, levels: Sequence[str]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "profile": manifest.profile,
        "upstream": manifest.upstream.spec,
        "rules_hash": manifest.rules_hash,
        "levels": [*levels],
    }


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
        **_of_tree(manifest, levels),
        "seeds": [
            {"seed": seed, "asked": count, "faults": len(faults), "noticed": sum(fault in noticed for fault in faults)}
            for seed, faults in drawn.items()
        ],
        "table": table(judged, levels),
        "faults": [
            {
                **{name: getattr(j.fault, name) for name in ("kind", "path", "line", "subject")},
                "caught_by": j.caught_by,
                "finding": j.finding,
            }
            for j in judged
        ],
    }


def arguments(data: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for when such a document was made: the levels, and of drawn faults each seed with its number."""
    seeds = [[row["seed"], row.get("asked", row["faults"])] for row in data.get("seeds", ())]
    return {"levels": data["levels"], **({"seeds": seeds} if "seeds" in data else {})}


def mutation_page(data: Mapping[str, Any]) -> str:
    """The same in Markdown, with the survivors by name, and what can be said of them once *references* was asked."""
    left = [fault for fault in data["faults"] if not fault["caught_by"]]

    def said(kinds: Collection[str]) -> bool:
        return "references" in data["levels"] and any(fault["kind"] in kinds for fault in left)

    return _rendered("mutation.md.jinja", {**data, "left": left, "said": said, "share": _share})


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
        **_of_tree(manifest, levels),
        "breakages": [
            {"name": j.fault.subject, "path": j.fault.path, "caught_by": j.caught_by, "finding": j.finding}
            for j in judged
        ],
        "skipped": [{"name": name, "why": why} for name, why in skipped.items()],
    }


def breakages_page(data: Mapping[str, Any]) -> str:
    """The same in Markdown."""
    return _rendered("breakages.md.jinja", data)


def _rendered(template: str, data: Mapping[str, Any]) -> str:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return found.get_template(template).render(data)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"
