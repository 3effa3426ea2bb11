"""``questionable.txt``: what stays, and rules that are there, for little or no reason; by lines, columns separated by tabs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_NAMED = "by name"
_DEFINITIONS = ("function", "class", "member")
_ROOTS = ("root", "keep", "api")
"""Kinds of rules that keep something by naming it."""

Row = tuple[str, int, str]
"""A definition or rule, lines, and why to ask."""


def questionable(symbols: Mapping[str, Any], rules: Mapping[str, Any]) -> list[Row]:
    """Rules without effect, and rules that are wider than what they hit; then definitions that stay for nothing but an
    attribute of their name that is read somewhere. Each by lines.

    Args:
        symbols: the saved search.
        rules: the content of ``rules.json``.
    """
    found = (_rules(symbols, rules), _named(symbols))
    return [row for rows in found for row in sorted(rows, key=lambda row: (-row[1], row[0], row[2]))]


def questionable_list(folder: Path) -> str:
    """The text of the report.

    Args:
        folder: the reports of the run.
    """
    symbols, rules = (json.loads((folder / name).read_text("utf-8")) for name in ("symbols.json", "rules.json"))
    rows = ("\t".join(map(str, row)) for row in questionable(symbols, rules))
    return "".join(f"{row}\n" for row in ("# definition or rule\tlines\twhy to ask", *rows))


def _named(symbols: Mapping[str, Any]) -> Iterator[Row]:
    for number, (module, kind, name, first, last, _, live) in enumerate(symbols["units"]):
        edge = symbols["best"][3 * number + 1] if live else -1
        if edge >= 0 and symbols["kinds"][edge] == _NAMED and kind in _DEFINITIONS:
            yield f"{symbols['modules'][module][0]}.{name}", last - first + 1, "by name only"


def _rules(symbols: Mapping[str, Any], rules: Mapping[str, Any]) -> Iterator[Row]:
    others, best = symbols.get("others", ()), symbols.get("best", ())
    used = {others[source - len(symbols["units"])] for source in best[::3] if source >= len(symbols["units"])}
    for rule in rules["idle"]:
        yield rule, 0, f"a [[{rules['rules'][rule][0]}]] rule that did nothing in this tree"
    for rule, (kind, _) in rules["rules"].items():
        if kind in _ROOTS and rule in rules["effects"] and used and f"root:{rule}" not in used:
            yield rule, 0, f"a [[{kind}]] rule: all that it names is kept for something else, too"
    for rule, patterns in rules["wide"].items():
        lines = rules["effects"].get(rule, {}).get("lines", 0)
        kind = rules["rules"][rule][0]
        yield rule, lines, f"a [[{kind}]] rule that names modules which upstream has not: {', '.join(patterns)}"
