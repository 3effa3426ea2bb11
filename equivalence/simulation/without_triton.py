"""Where Triton has no wheel: what modules ask it while they are loaded, and no kernel."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from equivalence.simulation import calls
from equivalence.simulation.calls import SimulationError

Function = Callable[..., Any]


class JITFunction:
    """A kernel that can be named and never run."""

    def __init__(self, function: Function) -> None:
        functools.update_wrapper(self, function)
        self.fn = function
        self.signature = inspect.signature(function)
        self.arg_names = [*self.signature.parameters]
        self.params: list[Any] = []

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Raises SimulationError."""
        name = f"triton:{self.fn.__module__}.{self.fn.__qualname__}"
        calls.record(calls.STUB, name)
        raise SimulationError(f"{name} was called, and Triton is not installed", "run this level on Linux")

    __call__ = run

    def __getitem__(self, grid: Any) -> Function:
        return self.run


def jit(function: Function | None = None, **options: Any) -> Any:
    """Triton's decorator, with or without options."""
    return JITFunction if function is None else JITFunction(function)


def unchanged(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """A decorator that tunes: without a kernel it has nothing to do."""
    return lambda kernel: kernel


def stand_in(triton: ModuleType, version: str, driver: Any) -> None:
    """Put this into the stub of Triton.

    Args:
        triton: the stub.
        version: what it says of itself.
        driver: what answers for the device.
    """
    runtime = importlib.import_module("triton.runtime")
    compiled = importlib.import_module("triton.runtime.jit")
    compiled.__dict__.update(JITFunction=JITFunction)
    runtime.__dict__.update(driver=SimpleNamespace(active=driver), jit=compiled, JITFunction=JITFunction)
    triton.__dict__.update(
        __version__=version,
        jit=jit,
        autotune=unchanged,
        heuristics=unchanged,
        cdiv=lambda x, y: -(-x // y),
        next_power_of_2=lambda n: 1 << (n - 1).bit_length(),
        runtime=runtime,
        JITFunction=JITFunction,
    )
