"""Arithmetic of bfloat16 and float8 in the interpreter of Triton 3.6.

As shipped it computes with the raw 16 bits of a bfloat16 as if they were an integer, and cuts digits off where it
converts. Here each operation computes in float32 and rounds to the nearest, ties to even, as the device does.
"""

from typing import Any

import numpy as np
import torch

Array = Any
"""numpy.ndarray; numpy is not installed where the types are checked."""


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


def install(interpreter: Any) -> None:
    """Replace the interpreter's conversions and arithmetic where an operand is narrow."""
    formats = _Formats(interpreter)
    interpreter._convert_float = formats.convert
    _install_casts(formats)
    for name in ("binary_op", "ternary_op", "unary_op"):
        _lift(formats, name)
    _install_products(formats)


def _install_casts(formats: _Formats) -> None:
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
        return formats.handle(result if result.dtype == bool else formats.shorten(result, kind), kind)

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
            return handle((np.matmul(wide(a), wide(b)) + d.data).astype(d.data.dtype), d.dtype.scalar)
        return handle(np.matmul(a.data, b.data, dtype=d.data.dtype) + d.data, d.dtype.scalar)

    formats.builder.create_fma, formats.builder.create_dot = fma, dot
