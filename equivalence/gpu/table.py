"""The results of all cells as one document, one page and one table for the terminal."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.gpu.span import pool

_PROSE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""What a page says of its tables."""
_GOOD = ("same", "spread", "measured", "fails in both", "not run")


def document(rows: Sequence[dict[str, Any]], hardware: dict[str, Any]) -> dict[str, Any]:
    """`gpu.json`: hardware, a count of results, and every cell."""
    return {
        "hardware": hardware,
        "results": dict(sorted(Counter(row["result"] for row in rows).items())),
        "cells": list(rows),
    }


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
    """`gpu.md`."""
    hardware, rows = found["hardware"], found["cells"]
    parts = [
        f"# {title}",
        "",
        "Written by `shrinker verify --level gpu`; `gpu.json` has all that this page sums up.",
        "",
    ]
    for gpu in dict.fromkeys(hardware.get("gpus", [])):
        parts.append(f"- {hardware['gpus'].count(gpu)} x {gpu}, {hardware.get('cores')} cores; {hardware['date']}")
    parts.append("- " + ", ".join(f"{name} {version}" for name, version in hardware.get("versions", {}).items()))
    parts += [f"- {hardware['note']}"] if hardware.get("note") else []
    parts += ["", "## Answers", "", *_answers(rows), "", *_pairs(rows), *_odd(rows)]
    return "\n".join(parts).rstrip() + "\n"


def _answers(rows: Sequence[dict[str, Any]]) -> list[str]:
    result = [
        _PROSE["answers"],
        "",
        "| cell | what | result | class | servers | runs | requests | own | stray | kernels | ready s | host memory GB |",
        "| --- | --- | --- | --- | --- | --- | ---: | ---: | --- | --- | --- | --- |",
    ]
    for row in rows:
        if row["kind"] != "answers" or row["result"] == "not run":
            continue
        requests = sum(row.get("requests", {}).values())
        kernels = f"{row.get('kernel_names', 0)} {row.get('kernels', '')}" if "kernels" in row else ""
        ready = " / ".join(f"{value:.0f}" for value in row.get("ready_seconds", []) if value)
        memory = " / ".join(f"{value / 2**30:.1f}" for value in row.get("peak_host_bytes", []) if value)
        result.append(
            f"| {row['cell']} | {row['why']} | {row['result']} | {row.get('class', '')} | "
            f"{_both(row, 'servers')} | {_both(row, 'runs')} | {requests or ''} | "
            f"{row.get('own_differences', '')} | {_stray(row)} | {kernels} | {ready} | {memory} |"
        )
    result += _pooled(rows)
    if written := [row for row in rows if row.get("files")]:
        told = [f"{row['cell']} {row['files'][0]} / {row['files'][1]}, {row['files'][2]} alike" for row in written]
        result += ["", f"Files that the servers wrote (upstream / generated): {'; '.join(told)}."]
    absent = [row for row in rows if row["result"] == "not run"]
    if missing := [row["cell"] + (f" ({row['lacks']})" if row.get("lacks") else "") for row in absent]:
        result += ["", f"Not run: {', '.join(missing)}."]
    return result


def _pooled(rows: Sequence[dict[str, Any]]) -> list[str]:
    pooled = pool([tuple(row["alone_beside_others"]) for row in rows if "alone_beside_others" in row])
    (mine, of), (theirs, among) = pooled.upstream, pooled.generated
    if not mine + theirs:
        return []
    said = _PROSE["strays"].format(of=of, mine=mine, among=among, theirs=theirs, probability=pooled.probability)
    return ["", said]


def _pairs(rows: Sequence[dict[str, Any]]) -> list[str]:
    chosen = [row for row in rows if row["kind"] != "answers" and row["result"] == "measured"]
    if not chosen:
        return []
    result = [
        "## Times",
        "",
        _PROSE["times"],
        "",
        "| cell | quantity | upstream | generated | ratio | pairs (blocks) | ratio of the copy | pairs (blocks) | |",
        "| --- | --- | ---: | ---: | --- | ---: | --- | ---: | --- |",
    ]
    for row in chosen:
        for quantity, found in row["measured"].items():
            mine, copy = found.get("generated"), found.get("control")
            if mine is None:
                continue
            result.append(
                f"| {row['cell']} | {quantity} | {_number(mine['upstream'])} | {_number(mine['other'])} | {_ratio(mine)} | "
                f"{_counts(mine)} | {_ratio(copy)} | {_counts(copy)} | "
                f"{'**finding**' if found.get('finding') else ''} |"
            )
    return [*result, ""]


def _stray(row: dict[str, Any]) -> str:
    if "alone" not in row:
        return ""
    chance = row.get("alone_probability")
    return " / ".join(str(sum(side)) for side in row["alone"]) + ("" if chance is None else f", p {chance:.2f}")


def _both(row: dict[str, Any], key: str) -> str:
    return " / ".join(map(str, row.get(key, ())))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _ratio(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    between = "" if found["low"] is None else f" ({found['low']:.3f} to {found['high']:.3f})"
    return f"{found['ratio']:.3f}{between}"


def _counts(found: dict[str, Any] | None) -> str:
    return f"{found['pairs']} ({found['blocks']})" if found else ""


def _odd(rows: Sequence[dict[str, Any]]) -> list[str]:
    result = []
    for row in rows:
        if row["result"] in ("same", "measured", "not run"):
            continue
        result += [f"### {row['cell']}: {row['result']}", "", f"`{row['arguments']}`", ""]
        for name in ("upstream_error", "generated_error"):
            if row.get(name):
                said = (row[name]["errors"] or row[name]["tail"] or [row[name]["message"]])[-1]
                result += [f"- {name.split('_')[0]}: {row[name]['message']}: `{said.strip()[:300]}`"]
        for name in ("kernels_only_upstream", "kernels_only_generated"):
            result += [f"- {name.replace('_', ' ')}: `{kernel[:200]}`" for kernel in row.get(name, [])[:10]]
        for key, (left, right) in row.get("settings", {}).items():
            result.append(f"- setting {key}: `{left}` / `{right}`")
        for item in row.get("differences", []):
            chance = "" if item.get("probability") is None else f", p {item['probability']}"
            result.append(
                f"- {item['request']}: {item['result']}{chance}; {item['count']} fields, upstream itself {item['own']}"
            )
            for found in item["first"] if item["result"] in ("outside", "open", "lone") else ():
                result.append(f"  - {found['path']}: `{found['left']}` / `{found['right']}`")
        result.append("")
    return ["## What is not the same", "", *result] if result else []


def _remark(row: dict[str, Any]) -> str:
    if row["result"] == "measured":
        return ", ".join(
            f"{name} {_ratio(found['generated'])}" for name, found in row["measured"].items() if "generated" in found
        )
    if "requests" in row:
        counts = ", ".join(f"{count} {name}" for name, count in row["requests"].items())
        return f"{row['class']}: {counts}; {row['tokens']} tokens; kernels {row['kernels']} ({row['kernel_names']})"
    for name in ("upstream_error", "generated_error"):
        if row.get(name):
            return str((row[name]["errors"] or [row[name]["message"]])[-1])[:160]
    return str(row.get("error", ""))
