"""On what a run was made: GPUs, driver, versions, date."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from equivalence.gpu.trees import Environment, Tree
from equivalence.processes import process_environment, run

_VERSIONS = """
import importlib.metadata as m, json, sys
names = "torch triton transformers sglang-kernel flashinfer-python sgl-deep-gemm xgrammar nvidia-cutlass-dsl".split()
found = {"python": sys.version.split()[0]}
for name in names:
    try:
        found[name] = m.version(name)
    except m.PackageNotFoundError:
        pass
try:
    import torch
    found["cuda"] = torch.version.cuda
except ImportError:
    pass
print("@" + json.dumps(found))
"""


def describe(environment: Environment, trees: Sequence[Tree]) -> dict[str, Any]:
    """Hardware and software, as plain JSON; what cannot be asked is left out."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
        try:
            gpus = run(query, variables=process_environment({}), output=log, limit=20).text().splitlines()
        except OSError:
            gpus = []
        text = run(
            environment.command("-c", _VERSIONS),
            variables=process_environment(environment.overlay(trees[0])),
            output=log,
            limit=120,
        ).text()
    versions = [json.loads(line[1:]) for line in text.splitlines() if line.startswith("@{")]
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "gpus": [line.strip() for line in gpus if line.strip()],
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "versions": versions[-1] if versions else {},
        "trees": {tree.name: tree.digest() for tree in trees},
    }
