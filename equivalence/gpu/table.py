"""The results of all cells as one document, one page and one table for the terminal."""

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from equivalence.gpu.span import pool

_GOOD = ("same", "spread", "measured", "fails in both", "not run")


def document(rows: Sequence[dict[str, Any]], hardware: dict[str, Any]) -> dict[str, Any]:
    """`gpu.json`: hardware, a count of results, and every cell."""
    results = dict(sorted(Counter(row["result"] for row in rows).items()))
    return {"hardware": hardware, "results": results, "cells": list(rows)}


def passed(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether something ran and no cell shows a difference, is open, is slower or fails in one tree alone."""
    ran = [row for row in rows if row["result"] != "not run"]
    slow = any(found.get("finding") for row in ran for found in row.get("measured", {}).values())
    return bool(ran) and not slow and all(row["result"] in _GOOD for row in ran)


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table, a line a cell."""
    width = max((len(row["cell"]) for row in rows), default=4)
    return [f"{row['cell']:{width}}  {row['result']:18}  {_remark(row)}" for row in rows]


def page(found: dict[str, Any], title: str) -> str:
    """`gpu.md`: needs jinja2, which torch needs, too."""
    import jinja2

    rows = found["cells"]
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "ratio": _ratio, "slashed": _slashed, "divided": operator.truediv}
    pooled = pool([tuple(row["alone_beside_others"]) for row in rows if "alone_beside_others" in row])
    values = {"title": title, "hardware": found["hardware"], "rows": rows, "pooled": pooled}
    return environment.get_template("gpu.md.jinja").render(values).rstrip() + "\n"


def _slashed(values: Iterable[Any] | None, form: str = "{}") -> str:
    """What upstream and the generated tree have, in one cell."""
    return " / ".join(map(form.format, values or ()))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _ratio(found: dict[str, Any] | None) -> str:
    if not found:
        return ""
    between = "" if found["low"] is None else f" ({found['low']:.3f} to {found['high']:.3f})"
    return f"{found['ratio']:.3f}{between}"


def _remark(row: dict[str, Any]) -> str:
    if row["result"] == "measured":
        ratios = {name: _ratio(found.get("generated")) for name, found in row["measured"].items()}
        return ", ".join(f"{name} {ratio}" for name, ratio in ratios.items() if ratio)
    if "requests" in row:
        counts = ", ".join(f"{count} {name}" for name, count in row["requests"].items())
        return f"{row['class']}: {counts}; {row['tokens']} tokens; kernels {row['kernels']} ({row['kernel_names']})"
    for name in ("upstream_error", "generated_error"):
        if row.get(name):
            return str((row[name]["errors"] or [row[name]["message"]])[-1])[:160]
    return str(row.get("error", ""))
