"""Two observations of a cell, judged: answers, class, settings, choices, kernels."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from shrinker.verify.serving import Record, compare, judge

_SHOWN = 10


def judge_cell(upstream: dict[str, Any], generated: dict[str, Any]) -> dict[str, Any]:
    """The verdict of a cell.

    `result` is `same` (every answer identical), `spread` (identical or within what upstream does to itself),
    `differs`, `fails in both` (the configuration does not run in upstream either), or `fails in generated`,
    `fails in upstream`.
    """
    broken = ("error" in upstream, "error" in generated)
    if any(broken):
        name = {(True, True): "fails in both", (False, True): "fails in generated", (True, False): "fails in upstream"}[
            broken
        ]
        return {"result": name, "upstream_error": _error(upstream), "generated_error": _error(generated)}
    first, again = (Record.of(document) for document in upstream["passes"])
    verdicts = [v for document in generated["passes"] for v in judge(first, again, Record.of(document))]
    counts = Counter(v.result for v in verdicts)
    tokens = sum(_tokens(answer.body) for answer in first.answers.values())
    beside = {
        "classes": upstream["classes"] == generated["classes"],
        "settings": _changed(upstream["settings"], generated["settings"]),
        "settings_gone": sorted(upstream["settings"].keys() - generated["settings"].keys()),
        "choices_only_upstream": sorted(set(upstream["choices"]) - set(generated["choices"])),
        "choices_only_generated": sorted(set(generated["choices"]) - set(upstream["choices"])),
        **_kernels(upstream.get("kernels") or {}, generated.get("kernels") or {}),
    }
    result = "same"
    if counts["differs"] or not beside["classes"] or beside["settings"] or beside["kernels"] == "differ":
        result = "differs"
    elif counts["spread"]:
        result = "spread"
    elif counts["unanswered"]:
        result = "differs"
    return {
        "result": result,
        "requests": dict(sorted(counts.items())),
        "own_differences": len(compare(first, again)),
        "tokens": tokens,
        "class": ", ".join(upstream["classes"]),
        **beside,
        "differences": [
            {
                "request": v.request,
                "result": v.result,
                "own": v.own,
                "first": [asdict(d) for d in v.differences[:3]],
                "count": len(v.differences),
            }
            for v in verdicts
            if v.result != "identical"
        ][:_SHOWN],
    }


def _changed(upstream: dict[str, Any], generated: dict[str, Any]) -> dict[str, list[Any]]:
    """Settings that both have, with values that differ."""
    return {
        key: [upstream[key], generated[key]] for key in upstream if key in generated and upstream[key] != generated[key]
    }


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


def _tokens(body: Any) -> int:
    """New tokens of an answer: what a verdict of `same` speaks for."""
    if isinstance(body, dict):
        meta = body.get("meta_info") or body.get("usage") or {}
        return int(meta.get("completion_tokens") or 0) if isinstance(meta, dict) else 0
    return 0


def _error(seen: dict[str, Any]) -> dict[str, Any] | None:
    if "error" not in seen:
        return None
    return {
        "message": seen["error"],
        "errors": seen.get("errors", [])[-5:],
        "tail": seen.get("tail", "").splitlines()[-15:],
    }
