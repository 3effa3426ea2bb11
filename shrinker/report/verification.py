"""What `verify` found, as JSON and as a page to read; and ``index.html`` of a run, which tells of
it, too: one file, without a network, to look at the tree before reading about it. That has a map of
all files by lines (ECharts, copied from its npm package: Apache-2.0), a search over files and
symbols, and the tables of the other reports. It is made of what lies beside it, so that it says
nothing that the reports do not.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from shrinker.program.saved import load_report
from shrinker.report.effects import QUESTIONABLE
from shrinker.report.place import SHARED, document, readable, render, templates, write_files
from shrinker.values.graph import UNREACHABLE
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import LevelResult
from shrinker.values.relations import grouped

JSON_NAME, PAGE_NAME, INDEX = "verify.json", "verify.md", "index.html"
_KINDS = ("findings", "inherited", "open")
_SHOWN = 40
_MOST = 800
"""Rows of a table of the index that goes on for long."""

NOT_SHOWN = (
    "No compiled kernel ran: kernels are references in PyTorch and Triton's own interpreter. "
    "That both trees call the same "
    "ones with the same tensors is shown; that these compute the right numbers on a GPU is not.",
    "Attention backends other than Triton and FlashAttention 3, DeepGEMM, FlashInfer's and "
    "CUTLASS's kernels have no "
    "reference, or one for a part of them; what reaches the others stops the run and fails "
    "the level.",
    "FP8 is compared tree against tree only. NVFP4 is built on the meta device and not computed, "
    "V3.2's sparse attention is "
    "computed with a cache in bf16: of what else they compute, only the levels that read the "
    "trees speak.",
    "No NCCL, no peer access, no multi-node run, no torch.compile, no overlap of streams.",
    "No speed: times of simulated runs say nothing of a GPU. The level gpu measures there.",
)
"""What the levels that need no GPU cannot show, whatever they find."""


def verification(
    manifest: Manifest, results: Sequence[LevelResult], *, where_upstream_runs: bool
) -> dict[str, Any]:
    """Return the content of `verify.json`; `where_upstream_runs`: only what upstream itself can run
    here was judged.
    """
    return {
        "format": 1,
        "profile": manifest.profile,
        "upstream": manifest.upstream.spec,
        "rules_hash": manifest.rules_hash,
        "tree": manifest.tree,
        "tool_version": manifest.tool_version,
        "passed": all(result.passed for result in results),
        "where_upstream_runs": where_upstream_runs,
        "levels": {
            result.evidence.level: {
                "passed": result.passed,
                "ran": result.ran,
                "checks": dict(result.evidence.checks),
                **{
                    kind: [asdict(finding) for finding in getattr(result.evidence, kind)]
                    for kind in _KINDS
                },
                "figures": dict(result.figures),
                "limits": list(result.limits),
                "seconds": round(result.seconds, 1),
            }
            for result in results
        },
        "not_shown": list(NOT_SHOWN),
    }


def write_verification(
    folder: Path,
    manifest: Manifest,
    results: Sequence[LevelResult],
    *,
    where_upstream_runs: bool = False,
) -> Path:
    """Write both into the folder of the tree's reports; returns the page's path."""
    data = verification(manifest, results, where_upstream_runs=where_upstream_runs)
    page = render("verify.md.jinja", manifest=manifest, data=data, results=results, most=_SHOWN)
    # Not sorted: levels and checks stay in the order in which they were made.
    write_files(folder, {JSON_NAME: readable(data, ordered=False), PAGE_NAME: page})
    if (folder / INDEX).is_file():
        write_index(folder, folder)
    return folder / PAGE_NAME


def write_index(folder: Path, earlier: Path) -> None:
    """Write the page of a folder of reports; `earlier`: where ``verify.json`` is, if it is
    anywhere. Raises InputError when a report cannot be read.
    """
    data = _data(folder, earlier)
    # `</script>` within a text would end the script that holds it.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    script = (SHARED / "echarts.min.js").read_text("utf-8")
    page = templates(SHARED, escaped=True).get_template("index.html.jinja")
    write_files(folder, {INDEX: page.render(head=data["head"], data=text, echarts=script)})


def _data(folder: Path, earlier: Path) -> dict[str, Any]:
    names = ("summary", "graph", "symbols", "rules", "dependencies")
    summary, graph, symbols, rules, required = (
        load_report(folder / f"{name}.json") for name in names
    )
    verified = document(earlier / JSON_NAME)
    # Path, lines before and after, whether it is kept, and why.
    files = [
        (path, int(before), int(after), 1, why)
        for path, before, after, why in _rows(folder, "keep.txt")
    ]
    for path, before, rule, why in _rows(folder, "remove.txt"):
        files.append((path, int(before), 0, 0, why if rule == UNREACHABLE else f"{rule}: {why}"))
    lines = {path: after for path, _, after, _, _ in files}
    # A few reasons stand for thousands of files.
    reasons = {why: at for at, why in enumerate(dict.fromkeys(why for *_, why in files))}
    gone = grouped(
        (path, part)
        for name, rows in graph["gone"].items()
        for path, line in rows
        for part in (name, line)
    )
    effects, counted = rules["effects"], ("decisions", "folded_lines", "files", "lines")
    return {
        "head": {
            "profile": summary["profile"],
            "upstream": summary["upstream"]["spec"],
            "before": sum(row[1] for row in files),
            "after": sum(row[2] for row in files),
        },
        "files": [(*row, reasons[why]) for *row, why in files],
        "reasons": [*reasons],
        "symbols": _symbols(symbols),
        "lost": [
            [f"{module}.{name}", line, rule, why]
            for module, name, line, _, rule, why in symbols["gone"]
        ],
        "gone": gone,
        "retained": graph["retained"],
        "optional": graph["optional"],
        "rules": [
            [
                id,
                kind,
                graph["whys"].get(id, ""),
                *(effects.get(id, {}).get(key, 0) for key in counted),
            ]
            for id, (kind, _) in rules["rules"].items()
        ],
        "questionable": [
            [name, int(n), why] for name, n, why in islice(_rows(folder, QUESTIONABLE), _MOST)
        ],
        "uncertain": [
            [at, why, lines.get(at.partition(":")[0], 0)]
            for at, why in _rows(folder, "uncertain.txt")
        ],
        "errors": [*_rows(folder, "errors.txt")],
        "distributions": [
            [name, row["kept"], row["reason"]] for name, row in required["distributions"].items()
        ],
        "fit": summary.get("fit", {}),
        "evidence": [*_evidence(summary, verified, graph["tree"])],
        "limits": verified.get("not_shown", []),
    }


def _symbols(symbols: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the page says of definitions, as short as it can be read: they are 70,000 of a
    newer release.

    Units come in the order of their modules. Of each module a text of its names, those that are
    gone with a minus, and how many lines each is below the one before; of each node the last step
    of its best chain. Nodes that are no definitions stay where a chain passes them.
    """
    modules, best, others = symbols["modules"], symbols["best"], symbols["others"]
    named, lines = defaultdict[int, list[str]](list), defaultdict[int, list[int]](list)
    for at, _, name, line, *_, live in symbols["units"]:
        named[at].append(("" if live else "-") + name[len(modules[at][0]) + 1 :])
        lines[at].append(line)
    units = [
        (" ".join(named[at]), [line - before for before, line in pairwise([0, *lines[at]])])
        for at in range(len(modules))
    ]
    first = len(symbols["units"])
    told = [
        *range(first),
        *(at for at, name in enumerate(others, first) if name.startswith("module:")),
    ]
    shown = set(told)
    while told:
        # Each node has one chain, so that only the nodes that chains pass are found.
        if (
            (edge := best[told.pop()])
            and first <= edge[0] < first + len(others)
            and edge[0] not in shown
        ):
            shown.add(edge[0])
            told.append(edge[0])
    new = {node: at for at, node in enumerate(sorted(shown))}
    steps = [best[node] or (-1, 0, 0) for node in new]
    return {
        "modules": modules,
        "units": units,
        "best": [number for node, *how in steps for number in (new.get(node, -1), *how)],
        "others": [others[node - first] for node in new if node >= first],
        "kinds": symbols["kinds"],
    }


def _rows(folder: Path, name: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in (folder / name).read_text("utf-8").splitlines()[1:])


def _evidence(
    summary: Mapping[str, Any], verified: Mapping[str, Any], tree: str
) -> Iterator[list[Any]]:
    """Level, what came of it, how much was looked at, and of which tree where it is not
    this one.
    """
    levels = {level["level"]: (level, True, "") for level in summary["evidence"]}
    for name, level in verified.get("levels", {}).items():
        other = "" if verified["tree"] == tree else f"another one, {verified['tree'][:12]}"
        levels.setdefault(name, (level, level["ran"], other))
    for name, (level, ran, other) in levels.items():
        said = "passed" if level["passed"] else "failed"
        yield [name, said if ran else "not run", sum(level["checks"].values()), other]
