"""What `install` does in the simulated process, in its order."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from equivalence.simulation import executed, extensions, located, stubs, versions
from equivalence.simulation.hooks import AfterImport
from equivalence.simulation.imported import Imported
from equivalence.simulation.settings import current

PACKAGE = "sglang"


def install() -> None:
    """Put finders and variables in place; what needs torch or Triton follows when these are imported."""
    executed.install()
    os.environ.setdefault("TRITON_INTERPRET", "1")
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    hooks = {
        "torch": _after_torch,
        "torch.utils.cpp_extension": extensions.install,
        "triton": _after_triton,
        "tvm_ffi.cpp": _after_tvm,
        **located.hooks(),
    }
    finder = stubs.StubFinder(_fill, current().hidden)
    first = [Imported(PACKAGE), AfterImport(hooks), *([finder.before_others()] if current().hidden else [])]
    sys.meta_path[:] = [*first, *sys.meta_path, finder]
    versions.install()


def _fill(module: ModuleType) -> None:
    from equivalence.simulation.kernels import fill

    fill(module)


def _after_torch(torch: ModuleType) -> None:
    from equivalence.simulation import device, distributed, graphs, operators, tensors

    settings = current()
    tensors.install(torch)
    device.install(torch, settings)
    operators.install(torch)
    distributed.install(torch)
    graphs.install(torch)


def _after_triton(triton: ModuleType) -> None:
    from equivalence.simulation import interpreter, without_triton

    if isinstance(triton, stubs.StubModule):
        without_triton.stand_in(triton, interpreter.VERSION, interpreter.Driver(current()))
    else:
        interpreter.install(triton, current())


def _after_tvm(module: ModuleType) -> None:
    from equivalence.simulation.kernels import jit

    jit.install(module)
