"""The levels that read trees, as faults are judged by them."""

from __future__ import annotations

from pathlib import Path

from shrinker.check.levels import EVIDENCE_LEVELS
from shrinker.values.manifest import Manifest
from tests.check.trees import Case
from tools.mutation import Fault
from tools.mutation.judge import Asked


def levels(trees: Case) -> dict[str, Asked]:
    def asked(name: str) -> Asked:
        def level(folder: Path, manifest: Manifest, fault: Fault | None) -> str:
            found = EVIDENCE_LEVELS[name](trees.tree, folder, manifest, jobs=1, progress=lambda line: None)
            return "" if found.passed else f"[{found.findings[0].check}] {found.findings[0].message}"

        return level

    return {name: asked(name) for name in EVIDENCE_LEVELS}
