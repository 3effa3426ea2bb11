"""Products of matrices."""

from typing import Any

from equivalence.simulation.kernels.quantization import dequantize
from equivalence.simulation.kernels.registry import Tensor, jit, kernel

_DEEP_GEMM = "DeepGEMM (deepseek-ai), deep_gemm/include/deep_gemm/impls"
Scaled = tuple[Tensor, Tensor]
"""FP8 values and the scales of their blocks."""


@jit("dsv3_router_gemm", "dsv3_router_gemm", source="gemm/dsv3_router_gemm.cuh")
def dsv3_router_gemm(a: Tensor, b: Tensor, out: Tensor) -> None:
    """`a @ b.T`, accumulated in float32."""
    out.copy_((a.float() @ b.float().t()).to(out.dtype))


@jit("dsv3_fused_a_gemm", "dsv3_fused_a_gemm", source="gemm/dsv3_fused_a_gemm.cuh")
def dsv3_fused_a_gemm(a: Tensor, b: Tensor, out: Tensor) -> None:
    """`a @ b`, accumulated in float32."""
    out.copy_((a.float() @ b.float()).to(out.dtype))


@kernel("deep_gemm", source=_DEEP_GEMM)
def fp8_gemm_nt(a: Scaled, b: Scaled, out: Tensor, c: Tensor | None = None, **options: Any) -> None:
    """`a @ b.T` of FP8: scales by 128 columns of a token, by 128 x 128 of the weight."""
    out.copy_((dequantize(*a, 1, 128) @ dequantize(*b, 128, 128).t()).to(out.dtype))


@kernel("deep_gemm", source=_DEEP_GEMM)
def m_grouped_fp8_gemm_nt_contiguous(a: Scaled, b: Scaled, out: Tensor, experts: Tensor, **options: Any) -> None:
    """Each row by the weight of its expert; rows of expert -1 are padding."""
    rows, weights = dequantize(*a, 1, 128), dequantize(*b, 128, 128)
    for expert in range(weights.shape[0]):
        mine = (experts == expert).nonzero().flatten()
        if len(mine):
            out[mine] = (rows[mine] @ weights[expert].t()).to(out.dtype)


@kernel("deep_gemm", source=_DEEP_GEMM)
def fp8_m_grouped_gemm_nt_masked(
    a: Scaled, b: Scaled, out: Tensor, masked_m: Tensor, expected_m: int, **options: Any
) -> None:
    """The first `masked_m[e]` rows of each expert's block."""
    rows, weights = dequantize(*a, 1, 128), dequantize(*b, 128, 128)
    for expert, count in enumerate(masked_m.tolist()):
        out[expert, :count] = (rows[expert, :count] @ weights[expert].t()).to(out.dtype)
