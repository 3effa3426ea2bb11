"""The levels that read trees, as faults are judged by them."""

from __future__ import annotations

from pathlib import Path

from shrinker.check.levels import EVIDENCE_LEVELS, judge
from shrinker.check.trees import Trees
from shrinker.values.manifest import Manifest
from tests.check.trees import Case
from tools.mutation import Fault
from tools.mutation.judge import Asked


def levels(trees: Case) -> dict[str, Asked]:
    def asked(name: str) -> Asked:
        def level(folder: Path, manifest: Manifest, fault: Fault | None) -> str:
            found = judge(name, Trees(trees.tree, folder, manifest), lambda line: None)
            return "" if found.passed else f"[{found.findings[0].check}] {found.findings[0].message}"

        return level

    return {name: asked(name) for name in EVIDENCE_LEVELS}
