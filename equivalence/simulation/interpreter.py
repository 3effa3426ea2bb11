"""Triton's kernels by Triton's own interpreter: a driver to ask, kernels recorded, arithmetic put right."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from equivalence.simulation import calls, graphs
from equivalence.simulation.settings import Settings

VERSION = "3.6.0"
"""The interpreter whose methods `bfloat16` replaces."""


def install(triton: Any, settings: Settings) -> None:
    """Set the driver, and correct the interpreter.

    Raises:
        SimulationError: Triton has another version than the one that the corrections were written for.
    """
    from equivalence.simulation.calls import SimulationError

    if triton.__version__ != VERSION:
        raise SimulationError(
            f"Triton is {triton.__version__}, its interpreter's arithmetic is put right for {VERSION}",
            "install equivalence/simulation/requirements.txt (`make simulation`)",
        )
    from triton.runtime import driver, interpreter, jit

    from equivalence.simulation import bfloat16

    driver.set_active(Driver(settings))
    _replace_functions(interpreter, jit)
    bfloat16.install(interpreter)
    # Programmatic dependent launch has no meaning where kernels run one after the other.
    from triton.language.extra import cuda

    for name in ("gdc_wait", "gdc_launch_dependents"):
        setattr(cuda, name, lambda _semantic=None: None)


class Driver:
    """What Triton asks of a device's driver, without a device."""

    is_active = staticmethod(lambda: True)

    def __init__(self, settings: Settings) -> None:
        major, minor = settings.capability
        self._target = SimpleNamespace(backend="cuda", arch=major * 10 + minor, warp_size=32)
        figures = {
            "max_shared_mem": 232448,
            "multiprocessor_count": 132,
            "warpSize": 32,
            "max_num_regs": 65536,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
        }
        self.utils = SimpleNamespace(get_device_properties=lambda device: dict(figures))

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Any:
        # All configurations are equally fast, so that autotuning takes the first in both trees.
        return lambda fn, quantiles=None, **kwargs: [0.0] * len(quantiles or [0])

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1)

    def clear_cache(self, cache: Any) -> None:
        pass


def _replace_functions(interpreter: Any, jit: Any) -> None:
    class Function(interpreter.InterpretedFunction):  # type: ignore[misc]
        # Code asks whether a kernel is a JITFunction.
        __class__ = property(lambda self: jit.JITFunction)

        def run(self, *args: Any, **kwargs: Any) -> Any:
            calls.record(calls.KERNEL, f"triton:{self.fn.__module__}.{self.fn.__qualname__}")
            step = super().run
            return graphs.atom(lambda *a, **k: step(*a, **k), in_place=True)(*args, **kwargs)

    interpreter.InterpretedFunction = Function
