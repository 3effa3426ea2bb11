"""The two trees, the environment that both run in, and the commands that start something there."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Tree:
    """A tree under test: `name` is `upstream` or `generated`, `root` the folder that holds the package `sglang`."""

    name: str
    root: Path

    def digest(self) -> str:
        """Hash of every Python file's path and content; what a kept observation must agree with."""
        total = hashlib.sha256()
        for path in sorted(self.root.rglob("*.py")):
            total.update(
                f"{path.relative_to(self.root).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
            )
        return total.hexdigest()[:16]


@dataclass(frozen=True)
class Environment:
    """Where both servers run.

    Attributes:
        python: the interpreter.
        packages: folders put behind the tree on the module path (where packages were installed with `--target`).
        variables: set for every server.
        start: what comes before the module's name; a shim of a simulation may put itself there.
    """

    python: str = sys.executable
    packages: Sequence[Path] = ()
    variables: dict[str, str] = field(default_factory=dict)
    start: Sequence[str] = ()

    def command(self, *arguments: str) -> list[str]:
        """A command line of the interpreter."""
        return [self.python, *self.start, *arguments]

    def overlay(self, tree: Tree, gpus: Sequence[int] = ()) -> dict[str, str | None]:
        """What is set for a process of the tree: nothing of it may come from the network or depend on hash order."""
        path = [str(tree.root), *map(str, self.packages)]
        overlay: dict[str, str | None] = {
            "PYTHONPATH": ":".join(path),
            "PYTHONUNBUFFERED": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": None,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
        }
        if gpus:
            overlay["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        before = self.variables.get("PYTHONPATH")
        overlay.update(self.variables)
        if before:
            overlay["PYTHONPATH"] = ":".join([before, *path])
        return overlay
