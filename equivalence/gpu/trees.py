"""The two trees, the environment that both run in, the commands that start something there, and the hardware below."""

import datetime
import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivalence.processes import execute, process_environment


@dataclass(frozen=True)
class Tree:
    """A tree under test: `name` is `upstream` or `generated`, `root` the folder that holds the package `sglang`."""

    name: str
    root: Path

    def digest(self, pattern: str = "*.py") -> str:
        """Hash of path and content of every Python file, by which pages name the tree, or of other files; never of what Python writes."""
        files = (p for p in sorted(self.root.rglob(pattern)) if p.is_file() and "__pycache__" not in p.parts)
        hashes = {p.relative_to(self.root).as_posix(): hashlib.sha256(p.read_bytes()) for p in files}
        lines = "".join(f"{name}\0{found.hexdigest()}\n" for name, found in hashes.items())
        return hashlib.sha256(lines.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Environment:
    """Where both servers run."""

    python: str = sys.executable
    packages: Sequence[Path] = ()
    """Folders put behind the tree on the module path (where packages were installed with `--target`)."""
    variables: dict[str, str] = field(default_factory=dict)

    def answer(self, tree: Tree, program: str) -> str:
        """What a short program prints that runs on the tree; empty where it takes too long."""
        overlay = process_environment(self.overlay(tree))
        return execute([self.python, "-c", program], seconds=120, variables=overlay).stdout

    def overlay(self, tree: Tree, gpus: Sequence[int] = ()) -> dict[str, str | None]:
        """What is set for a process of the tree: nothing of it may come from the network or depend on hash order."""
        before = self.variables.get("PYTHONPATH")
        path = [*([before] if before else []), str(tree.root), *map(str, self.packages)]
        return {
            "PYTHONUNBUFFERED": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": None,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            **({"CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus))} if gpus else {}),
            **self.variables,
            "PYTHONPATH": ":".join(path),
        }


_VERSIONS = """
import importlib.metadata as m, json, sys
names = "torch triton transformers sglang-kernel flashinfer-python sgl-deep-gemm xgrammar nvidia-cutlass-dsl".split()
every = [d for d in m.distributions() if d.metadata["Name"]]
installed = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in reversed(every)}
found = {"python": sys.version.split()[0], **{name: installed[name] for name in names if name in installed}}
if "torch" in found:
    import torch
    found["cuda"] = torch.version.cuda
print("@" + json.dumps(found))
"""


def describe(environment: Environment, trees: Sequence[Tree]) -> dict[str, Any]:
    """Hardware and software, as plain JSON; what cannot be asked is left out."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    gpus = execute(query, seconds=20).stdout.splitlines()
    lines = environment.answer(trees[0], _VERSIONS).splitlines()
    versions = [json.loads(line[1:]) for line in lines if line.startswith("@{")]
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "gpus": [*filter(None, map(str.strip, gpus))],
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "versions": versions[-1] if versions else {},
        "trees": {tree.name: tree.digest() for tree in trees},
    }
