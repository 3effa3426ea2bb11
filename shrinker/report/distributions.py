"""The distributions that the generated package requires, as JSON and as the lines of `shrinker dependencies`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shrinker.values.distributions import Distribution, Distributions

FORMAT = 1


def distributions_data(found: Distributions) -> dict[str, Any]:
    """``dependencies.json``: every declared distribution, and what is left of the extras."""
    return {
        "format": FORMAT,
        "distributions": {
            row.name: {
                "kept": row.kept,
                "state": row.state,
                "reason": row.reason,
                "rule": row.rule,
                "imports": list(row.imports),
                "needed_by": row.needed_by,
                "declared": [list(pair) for pair in row.declared],
                "first": list(row.users[0]) if row.users else None,
                "places_in_upstream": len(row.importers),
            }
            for row in found.rows
        },
        "dependencies": list(found.dependencies),
        "extras": {name: list(rows) for name, rows in found.extras.items()},
        "dropped_extras": dict(found.dropped_extras),
    }


def extras_text(row: Distribution) -> str:
    """Where a distribution is declared: its extras, ``-`` for a plain dependency."""
    return ", ".join(dict.fromkeys(extra or "-" for extra, _ in row.declared))


def distribution_lines(data: Mapping[str, Any], sizes: Mapping[str, int | None] | None = None) -> Iterator[str]:
    """One line a distribution, those that stay first, and what they sum up to.

    Args:
        data: the content of ``dependencies.json``.
        sizes: bytes to download by name; None for one whose size the index does not tell.
    """
    rows: Mapping[str, Mapping[str, Any]] = data["distributions"]
    for kept, title in ((True, "required"), (False, "dropped")):
        names = sorted(name for name, row in rows.items() if row["kept"] is kept)
        total = ""
        if sizes is not None:
            known = [found for name in names if (found := sizes.get(name)) is not None]
            total = f", {sum(known) / 1e6:,.1f} MB to download ({len(names) - len(known)} of unknown size)"
        yield f"{title}: {len(names)}{total}"
        for name in names:
            row = rows[name]
            known_size = (sizes or {}).get(name)
            said = "?" if known_size is None else f"{known_size / 1e6:,.1f} MB"
            size = "" if sizes is None else f" {said:>10}"
            extras = ",".join(dict.fromkeys(extra for extra, _ in row["declared"] if extra))
            where = f" [{extras}]" if extras and all(extra for extra, _ in row["declared"]) else ""
            place = f" ({row['first'][0]}:{row['first'][1]})" if row["first"] else ""
            loader = f" (loaded by {row['needed_by']})" if row["needed_by"] else ""
            yield f"  {name + where:<40}{size} {row['state']}: {row['reason']}{loader}{place}"
