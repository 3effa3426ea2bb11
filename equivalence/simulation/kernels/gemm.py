"""Products of matrices."""

from typing import Any

from equivalence.simulation.kernels.quantization import dequantize
from equivalence.simulation.kernels.registry import Tensor, jit, kernel

_DEEP_GEMM = "DeepGEMM (deepseek-ai), deep_gemm/include/deep_gemm/impls"
Scaled = tuple[Tensor, Tensor]
"""FP8 values and the scales of their blocks."""


@jit("dsv3_fused_a_gemm", "dsv3_fused_a_gemm", source="gemm/dsv3_fused_a_gemm.cuh")
def dsv3_fused_a_gemm(a: Tensor, b: Tensor, out: Tensor) -> None:
    """`a @ b`, accumulated in float32."""
    out.copy_((a.float() @ b.float()).to(out.dtype))


@kernel("deep_gemm", source=_DEEP_GEMM)
def fp8_gemm_nt(a: Scaled, b: Scaled, out: Tensor, c: Tensor | None = None, **options: Any) -> None:
    """`a @ b.T` of FP8: scales by 128 columns of a token, by 128 x 128 of the weight."""
    out.copy_((dequantize(*a, 1, 128) @ dequantize(*b, 128, 128).t()).to(out.dtype))
