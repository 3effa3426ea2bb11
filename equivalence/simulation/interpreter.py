"""Triton's kernels by Triton's own interpreter: a driver to ask, kernels recorded, arithmetic put right."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from equivalence.simulation import calls, events, graphs
from equivalence.simulation.settings import Settings, current

VERSION = "3.6.0"
"""The interpreter whose methods `bfloat16` replaces."""


def install() -> None:
    """Set the driver, and correct the interpreter. Raises SimulationError where that is of another version than `VERSION`."""
    import triton

    if triton.__version__ != VERSION:
        said = f"Triton is {triton.__version__}, its interpreter's arithmetic is put right for {VERSION}"
        raise calls.SimulationError(said, "install equivalence/simulation/requirements.txt (`make simulation`)")
    from triton.runtime import driver, interpreter, jit

    from equivalence.simulation import bfloat16

    driver.set_active(driver_of(current()))
    _replace_functions(interpreter, jit)
    _quicken(interpreter)
    bfloat16.install(interpreter)
    # Programmatic dependent launch has no meaning where kernels run one after the other.
    from triton.language.extra import cuda

    for name in ("gdc_wait", "gdc_launch_dependents"):
        setattr(cuda, name, lambda _semantic=None: None)


def driver_of(settings: Settings) -> SimpleNamespace:
    """What Triton asks of a device's driver, without a device."""
    major, minor = settings.capability
    target = SimpleNamespace(backend="cuda", arch=major * 10 + minor, warp_size=32)
    figures = {"max_shared_mem": 232448, "multiprocessor_count": 132, "warpSize": 32, "max_num_regs": 65536}
    figures |= dict.fromkeys(("sm_clock_rate", "mem_clock_rate", "mem_bus_width"), 1)
    import torch

    return SimpleNamespace(
        is_active=lambda: True,
        utils=SimpleNamespace(get_device_properties=lambda device: dict(figures)),
        get_current_target=lambda: target,
        get_current_device=lambda: 0,
        set_current_device=lambda device: None,
        get_current_stream=lambda device=0: 0,
        get_device_interface=lambda: torch.cuda,
        get_active_torch_device=lambda: torch.device("cpu"),
        # All configurations are equally fast, so that autotuning takes the first in both trees.
        get_benchmarker=lambda: lambda fn, quantiles=None, **kwargs: [0.0] * len(quantiles or [0]),
        get_empty_cache_for_benchmark=lambda: torch.empty(1),
        clear_cache=lambda cache: None,
    )


def _quicken(interpreter: Any) -> None:
    """Leave out what makes the interpreter slow and no result another one: nearly all time of a simulated server is spent in it."""
    tl, builder = interpreter.tl, interpreter.interpreter_builder
    # Integers overflow on a device without a word.
    builder.options = replace(builder.options, sanitize_overflow=False)
    # As shipped, the language is made the interpreter's for each kernel and each function that one calls, and given back after it.
    # Nothing here compiles, so that it may stay.
    once, patch = SimpleNamespace(restore=lambda: None), interpreter._patch_lang
    patched: set[tuple[bool, bool]] = set()

    def patch_once(function: Any) -> Any:
        seen = {id(value) for value in function.__globals__.values()}
        if (languages := (id(tl) in seen, id(tl.core) in seen)) not in patched:
            patched.add(languages)
            patch(function)
        return once

    # As shipped, the table is built for each question.
    numpy_type = interpreter._get_np_dtype
    pointers = numpy_type(tl.pointer_type(tl.int8))
    kinds = [kind for kind in vars(tl).values() if isinstance(kind, tl.dtype) and kind != tl.void]
    table = {kind.name: numpy_type(kind) for kind in kinds}

    def look_up(kind: Any) -> Any:
        kind = kind.element_ty if isinstance(kind, tl.block_type) else kind
        return pointers if isinstance(kind, tl.pointer_type) else table[kind.name]

    interpreter._patch_lang, interpreter._get_np_dtype = patch_once, look_up


def _replace_functions(interpreter: Any, jit: Any) -> None:
    class Function(interpreter.InterpretedFunction):  # type: ignore[misc]
        # Code asks whether a kernel is a JITFunction.
        __class__ = property(lambda self: jit.JITFunction)

        def run(self, *args: Any, **kwargs: Any) -> Any:
            calls.record(calls.KERNEL, f"triton:{self.fn.__module__}.{self.fn.__qualname__}")
            step = events.uncounted(super().run)
            return graphs.atom(lambda *a, **k: step(*a, **k), in_place=True)(*args, **kwargs)

    interpreter.InterpretedFunction = Function
