"""References in plain PyTorch for the kernels that DeepSeek calls; one module a subject.

A reference is written from what the kernel computes, never from its tiling, in float32 where the device accumulates
in float32. `source` says where what it stands for is: a file of upstream's repository, or of the package that has it.
"""

import importlib
import logging
from types import ModuleType

from equivalence.simulation.kernels.registry import REFERENCES, counted

_SUBJECTS = ("attention", "elementwise", "gemm", "moe", "sparse", "speculative", "support")


def load() -> None:
    """Import every subject, so that all references are registered."""
    for name in _SUBJECTS:
        importlib.import_module(f"{__name__}.{name}")


def fill(module: ModuleType) -> None:
    """Put the references of a stub module into it."""
    load()
    for name, reference in REFERENCES.get(module.__name__, {}).items():
        setattr(module, name, counted(reference))
    if module.__name__ == "flashinfer.jit.core":
        # No kernel: upstream silences it.
        module.__dict__.update(logger=logging.getLogger("flashinfer"))
