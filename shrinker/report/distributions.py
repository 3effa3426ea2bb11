"""The distributions that the generated package requires, as JSON."""

from __future__ import annotations

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
