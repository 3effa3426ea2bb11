"""What a run of faults, or of wrong rules, showed, as JSON and as a page."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from shrinker.report.place import readable, templates, write_files
from shrinker.values.errors import InputError
from shrinker.values.manifest import Manifest
from tools.mutation.faults import Fault
from tools.mutation.judge import Judged, table

_FORMAT = 2
RULES = "mutation-rules"
"""Name of both files of a run of wrong rules."""
GOAL = 95
"""Per cent of the wrong rules that change the tree, which a default run is to notice."""


def _of_tree(manifest: Manifest) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "profile": manifest.profile,
        "upstream": manifest.upstream.spec,
        "rules_hash": manifest.rules_hash,
    }


def mutation_data(
    judged: Sequence[Judged],
    levels: Sequence[str],
    manifest: Manifest,
    drawn: Mapping[int, Sequence[Fault]],
    most: int,
) -> dict[str, Any]:
    """Return the content of ``mutation.json``: nothing in it depends on the machine or the time;
    `drawn`: the faults by the seed that drew them, of which one may be drawn by several; `most`:
    how many were asked for by each seed, of which a small tree may not have so many.
    """
    noticed = {j.fault for j in judged if j.caught_by}
    shown = ("kind", "path", "line", "subject")
    return {
        **_of_tree(manifest),
        "levels": [*levels],
        "seeds": [
            {
                "seed": seed,
                "asked": most,
                "faults": len(faults),
                "noticed": sum(fault in noticed for fault in faults),
            }
            for seed, faults in drawn.items()
        ],
        "table": table(judged, levels),
        "faults": [
            {
                **{name: getattr(j.fault, name) for name in shown},
                "caught_by": j.caught_by,
                "finding": j.finding,
            }
            for j in judged
        ],
    }


def arguments(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked for when such a document was made: the levels, and of drawn faults each
    seed with its number.
    """
    seeds = [[row["seed"], row.get("asked", row["faults"])] for row in data.get("seeds", ())]
    return {"levels": data["levels"], **({"seeds": seeds} if "seeds" in data else {})}


def mutation_page(data: Mapping[str, Any]) -> str:
    """Return the same in Markdown, with the survivors by name, and what can be said of them once
    *references* was asked.
    """
    left = [fault for fault in data["faults"] if not fault["caught_by"]]

    def said(kinds: Collection[str]) -> bool:
        return "references" in data["levels"] and any(fault["kind"] in kinds for fault in left)

    return rendered("mutation", {**data, "left": left, "said": said, "share": _share})


def breakages_data(
    judged: Sequence[Judged], levels: Sequence[str], manifest: Manifest, skipped: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of ``breakages.json``; `skipped`: what nothing of this tree could suffer,
    and why.
    """
    return {
        **_of_tree(manifest),
        "levels": [*levels],
        "breakages": [
            {
                "name": j.fault.subject,
                "path": j.fault.path,
                "caught_by": j.caught_by,
                "finding": j.finding,
            }
            for j in judged
        ],
        "skipped": [{"name": name, "why": why} for name, why in skipped.items()],
    }


def rules_header(manifest: Manifest, seed: int) -> dict[str, Any]:
    """Return what outcomes must agree in to stand in one report."""
    return {**_of_tree(manifest), "tree": manifest.tree, "seed": seed}


def read_outcomes(file: Path, head: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Outcomes of an earlier run; none where there is no file.

    Raises InputError where it holds what another run gave.
    """
    if not file.is_file():
        return []
    try:
        data = json.loads(file.read_text("utf-8"))
        other = [key for key, value in head.items() if data.get(key) != value]
        rows: list[dict[str, Any]] = data["rules"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"{file} cannot be read: {error!r}"
        raise InputError(said, "remove it, or name another folder with --reports") from error
    if other:
        said = f"{file} is of another run: {', '.join(other)} differ"
        raise InputError(said, "say --anew, or name another folder with --reports")
    return rows


def write_outcomes(
    folder: Path, head: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Write both files; returns the content of the JSON."""
    levels = sorted({row["caught_by"] for row in outcomes} - {""})
    table = []
    for kind in [*dict.fromkeys(row["kind"] for row in outcomes), "all"]:
        some = [row for row in outcomes if kind in ("all", row["kind"])]
        changing = [row for row in some if row["files"]]
        by = Counter(row["caught_by"] for row in changing)
        table.append([kind, len(some), len(changing), *(by[level] for level in levels), by[""]])
    data = {**head, "levels": levels, "table": table, "rules": [*outcomes]}
    write_both(folder, RULES, data, rules_page(data))
    return data


def write_both(folder: Path, name: str, data: Mapping[str, Any], page: str) -> None:
    """Write a document of this name, and its page."""
    write_files(folder, {f"{name}.json": readable(data), f"{name}.md": page})


def rules_page(data: Mapping[str, Any]) -> str:
    """Return the same in Markdown."""
    changing = [row for row in data["rules"] if row["files"]]
    survivors = [row for row in changing if not row["caught_by"]]
    share = 100 * (len(changing) - len(survivors)) / len(changing) if changing else 100.0
    whole = sum(row["whole"] for row in changing)
    said = {
        "changing": changing,
        "survivors": survivors,
        "share": share,
        "whole": whole,
        "goal": GOAL,
    }
    return rendered(RULES, {**data, **said})


def rendered(name: str, data: Mapping[str, Any]) -> str:
    """Return the page of this name in Markdown."""
    return templates(Path(__file__).parent).get_template(f"{name}.md.jinja").render(data)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"
