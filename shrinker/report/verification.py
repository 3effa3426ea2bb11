"""What `verify` found, as JSON and as a page to read."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shrinker.report.page import PAGE, index_page
from shrinker.report.pages import readable, render, write_files
from shrinker.values.manifest import Manifest
from shrinker.values.outcome import LevelResult

JSON_NAME, PAGE_NAME = "verify.json", "verify.md"
_KINDS = ("findings", "inherited", "open")
_SHOWN = 40

NOT_SHOWN = (
    "No compiled kernel ran: kernels are references in PyTorch and Triton's own interpreter. That both trees call the same "
    "ones with the same tensors is shown; that these compute the right numbers on a GPU is not.",
    "Attention backends other than Triton and FlashAttention 3, DeepGEMM, FlashInfer's and CUTLASS's kernels have no "
    "reference, or one for a part of them; what reaches the others stops the run and fails the level.",
    "FP8 is compared tree against tree only. NVFP4 is built on the meta device and not computed, V3.2's sparse attention is "
    "computed with a cache in bf16: of what else they compute, only the levels that read the trees speak.",
    "No NCCL, no peer access, no multi-node run, no torch.compile, no overlap of streams.",
    "No speed: times of simulated runs say nothing of a GPU. The level gpu measures there.",
)
"""What the levels that need no GPU cannot show, whatever they find."""


def verification(manifest: Manifest, results: Sequence[LevelResult], *, where_upstream_runs: bool) -> dict[str, Any]:
    """The content of `verify.json`; `where_upstream_runs`: only what upstream itself can run here was judged."""
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
                **{kind: [asdict(finding) for finding in getattr(result.evidence, kind)] for kind in _KINDS},
                "figures": dict(result.figures),
                "limits": list(result.limits),
                "seconds": round(result.seconds, 1),
            }
            for result in results
        },
        "not_shown": list(NOT_SHOWN),
    }


def write_verification(
    folder: Path, manifest: Manifest, results: Sequence[LevelResult], *, where_upstream_runs: bool = False
) -> Path:
    """Write both into the folder of the tree's reports; returns the page's path."""
    data = verification(manifest, results, where_upstream_runs=where_upstream_runs)
    idle = [result.evidence.level for result in results if not result.ran]
    verdict = f"Every level that could run passed; not run here: {', '.join(idle)}." if idle else "Every level passed."
    if where_upstream_runs:
        verdict += " Only what upstream's own tree can run here was judged; what it cannot is listed level by level."
    verdict = verdict if data["passed"] else "**A level failed.**"
    told = {"manifest": manifest, "verdict": verdict, "results": results, "not_shown": NOT_SHOWN, "most": _SHOWN}
    page = render("verify.md.jinja", **told)
    # Not sorted: levels and checks stay in the order in which they were made.
    write_files(folder, {JSON_NAME: readable(data, ordered=False), PAGE_NAME: page})
    if (folder / PAGE).is_file():
        write_files(folder, {PAGE: index_page(folder, folder)})
    return folder / PAGE_NAME
