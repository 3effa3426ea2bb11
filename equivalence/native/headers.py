"""Headers of torch and Python, which every kernel library includes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from equivalence.simulation.environment import find_python
from shrinker.values.errors import InputError

_ASK = (
    "import sysconfig, importlib.util as u; print(u.find_spec('torch').origin); print(sysconfig.get_paths()['include'])"
)


def torch_headers() -> tuple[Path, ...]:
    """Of the environment of simulated runs: a wheel for the CPU has the headers of CUDA code, too.

    Raises:
        InputError: there is no such environment, or it has no torch.
    """
    done = subprocess.run([str(find_python()), "-c", _ASK], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if len(lines) != 2:
        raise InputError("torch's headers were not found", "make the environment with `make simulation`")
    include = Path(lines[0]).parent / "include"
    return include, include / "torch/csrc/api/include", Path(lines[1])
