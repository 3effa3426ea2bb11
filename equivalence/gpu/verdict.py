"""The observations of a cell, judged: answers, class, settings, choices, kernels; all cells as a
document, a page and a table.
"""

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from equivalence.gpu.shapes import compare_tables
from equivalence.gpu.span import Judgement, alone, judge_spans, pool
from equivalence.serving.record import Answer, Answers, mask, settings
from equivalence.serving.script import INTERFACE

_SHOWN = 10
_UNBUILT = ("version", "0.0.0.dev0")
"""What upstream says of itself where no build has written its version: a folder of its sources.

The tree has its own.
"""
_WITHIN = ("member", "span", "lone")
_GOOD = ("same", "spread", "measured", "fails in both", "not run")


def judge_cell(
    upstream: Sequence[dict[str, Any]], generated: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the verdict of a cell, from what was seen of each server of either tree (the first of
    each decides what ran).

    `result` is `same` (every answer of every run identical), `spread` (identical, or within what
    upstream's own runs span), `open` (upstream differs from itself, or one run stands alone, and
    too few runs were made to say; or one tree alone launches a kernel for a batch, which servers
    cut as they like), `differs`, `fails in both` (the configuration does not run in upstream
    either), or `fails in generated`, `fails in upstream`.
    """
    whole = [[seen for seen in side if "error" not in seen] for side in (upstream, generated)]
    if not all(whole):
        where = "both" if not any(whole) else "generated" if whole[0] else "upstream"
        errors = [
            None if good else _error(side[0])
            for side, good in zip((upstream, generated), whole, strict=True)
        ]
        return {
            "result": f"fails in {where}",
            "upstream_error": errors[0],
            "generated_error": errors[1],
        }
    sides = [[[_answers(passed) for passed in seen["passes"]] for seen in side] for side in whole]
    judgements = judge_spans(*sides)
    lone = alone(*sides)
    counts: Counter[str] = Counter(judgement.result for judgement in judgements)
    first, other = whole[0][0], whole[1][0]
    # By the list of today of what says nothing, whatever it was when they were written down.
    known, theirs = settings(first["settings"]), settings(other["settings"])
    beside = {
        "classes": all(seen["classes"] == first["classes"] for side in whole for seen in side),
        "settings": {
            key: [value, theirs[key]]
            for key, value in known.items()
            if theirs.get(key, value) != value and (key, value) != _UNBUILT
        },
        "settings_gone": sorted(known.keys() - theirs.keys()),
        "choices_only_upstream": _only(whole[0], whole[1]),
        "choices_only_generated": _only(whole[1], whole[0]),
        **_files(first.get("written"), other.get("written")),
        **_kernels(*map(_profiled, whole)),
    }
    tables = compare_tables(*whole)
    batch = _compare_batches(*whole)
    result = "same"
    own_tables = tables.get("only_upstream") or tables.get("only_generated")
    other_kernels = beside["kernels"] == "differ" or own_tables
    doubtful = counts["open"] or batch.get("batch_kernels") == "differ"
    if counts["outside"] or not beside["classes"] or beside["settings"] or other_kernels:
        result = "differs"
    elif doubtful or (counts["lone"] and not lone.chance):
        result = "open"
    elif counts["unanswered"]:
        result = "differs"
    elif any(counts[name] for name in _WITHIN):
        result = "spread"
    return {
        "result": result,
        "requests": dict(sorted(counts.items())),
        "servers": [len(side) for side in whole],
        "runs": [sum(map(len, side)) for side in sides],
        "own_differences": sum(judgement.own > 0 for judgement in judgements),
        "alone": [list(lone.upstream), list(lone.generated)],
        "alone_beside_others": [*map(_beside_others, whole, (lone.upstream, lone.generated))],
        "alone_probability": None if lone.probability is None else round(lone.probability, 4),
        "tokens": sum(_tokens(answer.body) for answer in sides[0][0][0].values()),
        "class": ", ".join(first["classes"]),
        **beside,
        **({"tables": tables} if tables else {}),
        **batch,
        "differences": [
            _shown(judgement) for judgement in judgements if judgement.result != "identical"
        ][:_SHOWN],
    }


def _beside_others(seen: Sequence[dict[str, Any]], counts: Sequence[int]) -> list[int]:
    """Return the counts of a tree's servers, without the one that warmed the caches if there are
    others: while it runs, its cell has no other.
    """
    return [count for each, count in zip(seen, counts, strict=True) if not each.get("warms")] or [
        *counts
    ]


def in_doubt(row: dict[str, Any]) -> bool:
    """Tell whether another server of each tree could change the verdict."""
    counts = row.get("requests", {})
    return row["result"] == "open" or bool(counts.get("outside"))


def _answers(document: dict[str, Any]) -> Answers:
    """Return what is judged of a pass, with the list of volatile fields of today, whatever it was
    when the pass was written down.
    """
    answers = {name: Answer(**answer) for name, answer in document.items() if name not in INTERFACE}
    return {name: replace(answer, body=mask(answer.body)) for name, answer in answers.items()}


def _shown(judgement: Judgement) -> dict[str, Any]:
    return {
        "request": judgement.request,
        "result": judgement.result,
        "own": judgement.own,
        "probability": None if judgement.probability is None else round(judgement.probability, 4),
        "first": [asdict(difference) for difference in judgement.differences[:3]],
        "count": len(judgement.differences),
    }


def _only(side: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> list[str]:
    """Choices that every server of one tree logs and none of the other's."""
    every = set.intersection(*(set(seen["choices"]) for seen in side))
    return sorted(every - set().union(*(seen["choices"] for seen in other)))


def _profiled(side: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return the kernels of the last server that was profiled: the first one may still have been
    compiling.
    """
    return next((dict(seen["kernels"]) for seen in reversed(side) if seen.get("kernels")), {})


def _kernels(upstream: dict[str, int], generated: dict[str, int]) -> dict[str, Any]:
    if not upstream or not generated:
        return {"kernels": "not profiled", "kernel_names": len(upstream or generated)}
    # Launches may differ by a step of the overlapping scheduler; names may not.
    return {
        "kernels": "same" if upstream.keys() == generated.keys() else "differ",
        "kernel_names": len(upstream),
        "kernel_launches": [sum(upstream.values()), sum(generated.values())],
        "kernels_only_upstream": sorted(upstream.keys() - generated.keys()),
        "kernels_only_generated": sorted(generated.keys() - upstream.keys()),
    }


def _compare_batches(
    upstream: Sequence[dict[str, Any]],
    generated: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Compare the kernels of a batch, which a server may cut in two.

    What one tree alone has, each of its servers has. Empty where a tree has none.
    """
    mine = [set(seen["batch_kernels"]) for seen in upstream if seen.get("batch_kernels")]
    theirs = [set(seen["batch_kernels"]) for seen in generated if seen.get("batch_kernels")]
    if not mine or not theirs:
        return {}
    only_mine = set.intersection(*mine) - set.union(*theirs)
    only_theirs = set.intersection(*theirs) - set.union(*mine)
    return {
        "batch_kernels": "differ" if only_mine or only_theirs else "same",
        "batch_kernel_names": len(set.union(*mine)),
        "batch_kernels_only_upstream": sorted(only_mine),
        "batch_kernels_only_generated": sorted(only_theirs),
    }


def _files(upstream: dict[str, int] | None, generated: dict[str, int] | None) -> dict[str, Any]:
    """Return how many files the first server of each tree wrote, and how many of them the other one
    wrote, too.
    """
    if upstream is None or generated is None:
        return {}
    both = sum(min(count, generated.get(name, 0)) for name, count in upstream.items())
    return {"files": [sum(upstream.values()), sum(generated.values()), both]}


def _tokens(body: Any) -> int:
    """New tokens of an answer: what a verdict of `same` speaks for."""
    meta = (body.get("meta_info") or body.get("usage")) if isinstance(body, dict) else None
    return int(meta.get("completion_tokens") or 0) if isinstance(meta, dict) else 0


def _error(seen: dict[str, Any]) -> dict[str, Any]:
    return {
        "message": seen["error"],
        "errors": seen.get("errors", [])[-5:],
        # A page is committed: no lines of code, and no paths of the machine.
        "tail": [
            line for line in seen.get("tail", "").splitlines()[-15:] if not line.startswith(" ")
        ],
    }


def document(rows: Sequence[dict[str, Any]], hardware: dict[str, Any]) -> dict[str, Any]:
    """`gpu.json`: hardware, a count of results, and every cell."""
    results = dict(sorted(Counter(row["result"] for row in rows).items()))
    return {"hardware": hardware, "results": results, "cells": list(rows)}


def passed(rows: Sequence[dict[str, Any]]) -> bool:
    """Tell whether something ran and no cell shows a difference, is open, is slower or fails in one
    tree alone.
    """
    ran = [row for row in rows if row["result"] != "not run"]
    slow = any(found.get("finding") for row in ran for found in row.get("measured", {}).values())
    return bool(ran) and not slow and all(row["result"] in _GOOD for row in ran)


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table, a line a cell."""
    width = max((len(row["cell"]) for row in rows), default=4)
    return [f"{row['cell']:{width}}  {row['result']:18}  {_remark(row)}" for row in rows]


def page(found: dict[str, Any], title: str) -> str:
    """`gpu.md`: needs jinja2, which torch needs, too."""
    import jinja2

    rows = found["cells"]
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "number": _number,
        "ratio": _ratio,
        "slashed": _slashed,
        "divided": operator.truediv,
    }
    pooled = pool(
        [tuple(row["alone_beside_others"]) for row in rows if "alone_beside_others" in row]
    )
    values = {"title": title, "hardware": found["hardware"], "rows": rows, "pooled": pooled}
    return environment.get_template("gpu.md.jinja").render(values).rstrip() + "\n"


def _slashed(values: Iterable[Any] | None, form: str = "{}") -> str:
    """Return what upstream and the generated tree have, in one cell."""
    return " / ".join(map(form.format, values or ()))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _ratio(found: dict[str, Any] | None) -> str:
    if not found:
        return ""
    between = ""
    if found["low"] is not None:
        between = f" ({found['low']:.3f} to {found['high']:.3f})"
    elif found.get("own_low") is not None:
        between = f" ({found['own_low']:.3f} to {found['own_high']:.3f} of these servers)"
    return f"{found['ratio']:.3f}{between}"


def _remark(row: dict[str, Any]) -> str:
    if row["result"] == "measured":
        ratios = {name: _ratio(found.get("generated")) for name, found in row["measured"].items()}
        return ", ".join(f"{name} {ratio}" for name, ratio in ratios.items() if ratio)
    if "requests" in row:
        counts = ", ".join(f"{count} {name}" for name, count in row["requests"].items())
        kernels = f"kernels {row['kernels']} ({row['kernel_names']})"
        told = f"{row['class']}: {counts}; {row['tokens']} tokens; {kernels}"
        measured = row.get("measured", {}).items()
        rates = [(name, found["generated"]) for name, found in measured if "per_second" in name]
        return ", ".join([told, *(f"{name} {_ratio(found)}" for name, found in rates)])
    for name in ("upstream_error", "generated_error"):
        if row.get(name):
            return str((row[name]["errors"] or [row[name]["message"]])[-1])[:160]
    return str(row.get("error", ""))
