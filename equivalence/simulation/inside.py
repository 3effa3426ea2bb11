"""What `install` does in the simulated process, in its order."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from equivalence.simulation import events, executed, located, packages, stubs
from equivalence.simulation.finders import AfterImport, Imported
from equivalence.simulation.settings import current

PACKAGE = "sglang"


def install() -> None:
    """Put finders and variables in place; what needs torch or Triton follows when these are imported."""
    executed.install()
    events.install()
    os.environ.setdefault("TRITON_INTERPRET", "1")
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    hooks = {
        "torch": _after_torch,
        "torch.utils.cpp_extension": _after_extensions,
        "triton": _after_triton,
        "tvm_ffi.cpp": _after_tvm,
        **located.hooks(),
    }
    hidden = stubs.StubFinder(_fill, current().hidden)
    sys.meta_path[:] = [Imported(PACKAGE), AfterImport(hooks), hidden, *sys.meta_path, stubs.StubFinder(_fill)]
    packages.install()


def _fill(module: ModuleType) -> None:
    # First: what follows its import takes `graphs`, which the kernels would leave half made.
    import torch  # noqa: F401

    from equivalence.simulation.kernels import fill

    fill(module)


def _after_torch(torch: ModuleType) -> None:
    from equivalence.simulation import device, graphs, operators, tensors

    settings = current()
    tensors.install(torch)
    device.install(torch, settings)
    operators.install(torch)
    graphs.install(torch)


def _after_triton(triton: ModuleType) -> None:
    from equivalence.simulation import interpreter, without_triton

    if isinstance(triton, stubs.StubModule):
        without_triton.stand_in(triton, interpreter.VERSION, interpreter.driver_of(current()))
    else:
        interpreter.install(triton, current())


def _after_tvm(module: ModuleType) -> None:
    from equivalence.simulation.kernels import jit

    module.load_inline = jit.load_inline  # type: ignore[attr-defined]


def _after_extensions(module: ModuleType) -> None:
    from equivalence.simulation.kernels import jit

    module.load = jit.load_extension  # type: ignore[attr-defined]
