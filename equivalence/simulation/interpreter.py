"""Triton's kernels by Triton's own interpreter: a driver to ask, kernels recorded, arithmetic of
narrow numbers put right.

As shipped it computes with the raw 16 bits of a bfloat16 as if they were an integer, and cuts
digits off where it converts. Here each operation computes in float32 and rounds to the nearest,
ties to even, as the device does.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from equivalence.simulation import calls, events, graphs
from equivalence.simulation.settings import Settings, current

VERSION = "3.6.0"
"""The interpreter whose methods are replaced."""
Array = Any
"""numpy.ndarray; numpy is not installed where the types are checked."""


def install() -> None:
    """Set the driver, and correct the interpreter.

    Raises SimulationError where that is of another version than `VERSION`.
    """
    import triton

    if triton.__version__ != VERSION:
        said = (
            f"Triton is {triton.__version__}, its interpreter's arithmetic is put right for "
            f"{VERSION}"
        )
        raise calls.SimulationError(
            said, "install equivalence/simulation/requirements.txt (`make simulation`)"
        )
    from triton.runtime import driver, interpreter, jit

    driver.set_active(driver_of(current()))
    _replace_functions(interpreter, jit)
    _quicken(interpreter)
    formats = _Formats(interpreter)
    interpreter._convert_float = formats.convert
    _install_casts(formats)
    for name in ("binary_op", "ternary_op", "unary_op"):
        _lift(formats, name)
    _install_products(formats)
    # Programmatic dependent launch has no meaning where kernels run one after the other.
    from triton.language.extra import cuda

    for name in ("gdc_wait", "gdc_launch_dependents"):
        setattr(cuda, name, lambda _semantic=None: None)


def driver_of(settings: Settings) -> SimpleNamespace:
    """Return what Triton asks of a device's driver, without a device."""
    major, minor = settings.capability
    target = SimpleNamespace(backend="cuda", arch=major * 10 + minor, warp_size=32)
    figures = {
        "max_shared_mem": 232448,
        "multiprocessor_count": 132,
        "warpSize": 32,
        "max_num_regs": 65536,
    }
    figures |= dict.fromkeys(("sm_clock_rate", "mem_clock_rate", "mem_bus_width"), 1)
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
    """Leave out what makes the interpreter slow and no result another one: nearly all time of a
    simulated server is spent in it.
    """
    tl, builder = interpreter.tl, interpreter.interpreter_builder
    # Integers overflow on a device without a word.
    builder.options = replace(builder.options, sanitize_overflow=False)
    # As shipped, the language is made the interpreter's for each kernel and each function that one
    # calls, and given back after it. Nothing here compiles, so that it may stay.
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


class _Formats:
    """Conversions between the interpreter's arrays and float32, by Triton's type."""

    def __init__(self, interpreter: Any) -> None:
        import triton.language as tl

        self.tl = tl
        self.handle, self.builder = interpreter.TensorHandle, interpreter.InterpreterBuilder
        self.numpy_type = interpreter._get_np_dtype
        self.kinds = {
            tl.bfloat16: (torch.bfloat16, torch.uint16),
            tl.float8e4nv: (torch.float8_e4m3fn, torch.uint8),
            tl.float8e5: (torch.float8_e5m2, torch.uint8),
        }
        """PyTorch's types of narrow numbers and of their bits: numpy knows the bits alone."""

    def narrow(self, handle: Any) -> bool:
        return handle.dtype.scalar in self.kinds

    def widen(self, data: Array, kind: Any) -> Array:
        if kind in self.kinds:
            bits = torch.from_numpy(np.ascontiguousarray(data))
            return bits.view(self.kinds[kind][0]).float().numpy().reshape(np.shape(data))
        return data.view(np.float16).astype(np.float32) if kind == self.tl.float16 else data

    def shorten(self, values: Array, kind: Any) -> Array:
        if kind not in self.kinds:
            return values.astype(self.numpy_type(kind))
        narrow, bits = self.kinds[kind]
        exact = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
        if kind != self.tl.bfloat16:
            # The device saturates here; PyTorch would give NaN.
            exact = exact.clamp(-torch.finfo(narrow).max, torch.finfo(narrow).max)
        return exact.to(narrow).view(bits).numpy().reshape(np.shape(values))

    def convert(self, data: Array, source: Any, target: Any, mode: Any = None) -> Array:
        source, target = source.scalar, target.scalar
        return data if source == target else self.shorten(self.widen(data, source), target)

    def wide(self, operand: Any) -> Array:
        return self.widen(operand.data, operand.dtype.scalar)


def _install_casts(formats: _Formats) -> None:
    """Replace the interpreter's conversions, as below its arithmetic, where an operand is
    narrow.
    """
    handle, builder = formats.handle, formats.builder
    original = builder.cast_impl

    def fp_to_fp(self: Any, source: Any, target: Any, mode: Any) -> Any:
        return handle(formats.convert(source.data, source.dtype, target), target.scalar)

    def cast(self: Any, source: Any, target: Any) -> Any:
        kind = target.scalar
        if not formats.narrow(source) and kind not in formats.kinds:
            return original(self, source, target)
        if kind.is_floating():
            return handle(formats.shorten(formats.wide(source).astype(np.float32), kind), kind)
        return handle(formats.wide(source).astype(formats.numpy_type(target)), kind)

    builder.create_fp_to_fp, builder.cast_impl = fp_to_fp, cast


def _lift(formats: _Formats, name: str) -> None:
    original = getattr(formats.builder, name)
    on_bits = (np.where, np.bitwise_and, np.bitwise_or, np.bitwise_xor)

    def operate(self: Any, *operands: Any) -> Any:
        *handles, operation = operands
        narrow = [h for h in handles if formats.narrow(h)]
        if not narrow or operation in on_bits:
            return original(self, *operands)
        kind, result = narrow[0].dtype.scalar, operation(*map(formats.wide, handles))
        return formats.handle(
            result if result.dtype == bool else formats.shorten(result, kind), kind
        )

    setattr(formats.builder, name, operate)


def _install_products(formats: _Formats) -> None:
    handle, wide = formats.handle, formats.wide

    def fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        kind = z.dtype.scalar
        if not any(map(formats.narrow, (x, y, z))):
            return handle(x.data * y.data + z.data, kind)
        return handle(formats.shorten(wide(x) * wide(y) + wide(z), kind), kind)

    def dot(self: Any, a: Any, b: Any, d: Any, precision: Any, imprecise: Any) -> Any:
        if a.dtype.scalar.is_floating():
            return handle(
                (np.matmul(wide(a), wide(b)) + d.data).astype(d.data.dtype), d.dtype.scalar
            )
        return handle(np.matmul(a.data, b.data, dtype=d.data.dtype) + d.data, d.dtype.scalar)

    formats.builder.create_fma, formats.builder.create_dot = fma, dot
