"""Products of matrices, and FP8 by groups of columns."""

from typing import Any

import torch

from equivalence.simulation.kernels.elementwise import silu_and_mul
from equivalence.simulation.kernels.registry import Tensor, jit, kernel

LARGEST = 448.0
"""Of float8 e4m3."""
_GROUPS = "sgl-kernel/csrc/gemm/per_token_group_quant_8bit.cu"
_DEEP_GEMM = "DeepGEMM (deepseek-ai), deep_gemm/include/deep_gemm/impls"
Scaled = tuple[Tensor, Tensor]
"""FP8 values and the scales of their blocks."""


@jit(
    "per_token_group_quant_8bit",
    "per_token_group_quant_8bit",
    source="gemm/per_token_group_quant_8bit.cuh",
)
def quantize_groups(
    x: Tensor,
    q: Tensor,
    scales: Tensor,
    group: int,
    eps: float = 1e-10,
    low: float = -LARGEST,
    high: float = LARGEST,
    powers_of_two: bool = False,
) -> None:
    """Divide each group of columns by its largest magnitude over `high`; write values and
    scales.
    """
    groups = x.float().reshape(*x.shape[:-1], -1, group)
    scale = groups.abs().amax(-1).clamp(min=eps) / high
    if powers_of_two:
        scale = torch.exp2(torch.ceil(torch.log2(scale)))
    q.copy_((groups / scale[..., None]).clamp(low, high).reshape(x.shape).to(q.dtype))
    scales.copy_(scale.to(scales.dtype))


def dequantize(x: Tensor, scales: Tensor, rows: int, columns: int) -> Tensor:
    """float32 of values that blocks of `rows` by `columns` share a scale for."""
    wide = scales.float().repeat_interleave(rows, -2)[..., : x.shape[-2], :]
    return x.float() * wide.repeat_interleave(columns, -1)[..., : x.shape[-1]]


@jit(
    "per_token_group_quant_8bit_v2",
    "per_token_group_quant_8bit_v2",
    source="gemm/per_token_group_quant_8bit_v2.cuh",
)
def per_token_group_quant_8bit_v2(
    x: Tensor,
    q: Tensor,
    scales: Tensor,
    dummy: Any,
    group: int,
    powers_of_two: bool,
    fuse: bool,
    masked: Any,
    *_: Any,
) -> None:
    """Groups of a token; `fuse`: of its activation."""
    assert not masked, "masked layouts have no reference"
    quantize_groups(silu_and_mul(x) if fuse else x, q, scales, group, powers_of_two=powers_of_two)


@jit("per_token_group_quant", "per_token_group_quant", source="gemm/per_token_group_quant.cuh")
def per_token_group_quant(x: Tensor, q: Tensor, scales: Tensor, *layout: Any) -> None:
    """Groups of a token, of its activation where `x` is twice as wide as `q`; what of rows nobody
    reads may hold anything.

    `layout` is that of rows sorted by expert: their tokens, how many rows there are and how many of
    them count.
    """
    assert len(layout) != 2, "masked layouts have no reference"
    assert scales.dtype == torch.float32, "packed scales have no reference"
    wide = x if x.shape[-1] == q.shape[-1] else silu_and_mul(x)
    quantize_groups(wide, q, scales, q.shape[-1] // scales.shape[-1])


@kernel(
    "sgl_kernel", "sgl_per_token_group_quant_8bit", "sgl_per_token_group_quant_fp8", source=_GROUPS
)
def sgl_per_token_group_quant_8bit(
    input: Tensor,
    output_q: Tensor,
    output_s: Tensor,
    group_size: int,
    eps: float,
    fp8_min: float,
    fp8_max: float,
    scale_ue8m0: bool = False,
    fuse_silu_and_mul: bool = False,
    masked_m: Any = None,
    enable_v2: Any = None,
) -> None:
    """The same as older releases call it."""
    assert masked_m is None, "masked layouts have no reference"
    x = silu_and_mul(input) if fuse_silu_and_mul else input
    quantize_groups(x, output_q, output_s, group_size, eps, fp8_min, fp8_max, scale_ue8m0)


@kernel("sgl_kernel", source="sgl-kernel/csrc/gemm/per_tensor_quant_fp8.cu")
def sgl_per_tensor_quant_fp8(
    input: Tensor, output_q: Tensor, output_s: Tensor, is_static: bool
) -> None:
    """All values by one scale: the given one (static), or their largest magnitude over what FP8
    holds.
    """
    wide = input.float()
    if not is_static:
        output_s.copy_((wide.abs().amax() / LARGEST).reshape(output_s.shape))
    output_q.copy_((wide / output_s.float()).clamp(-LARGEST, LARGEST).to(output_q.dtype))


@jit("per_token_quant_fp8", "per_token_quant_fp8", source="gemm/per_token_quant_fp8.cuh")
@kernel("sgl_kernel", source="sgl-kernel/csrc/gemm/per_token_quant_fp8.cu")
def sgl_per_token_quant_fp8(input: Tensor, output_q: Tensor, output_s: Tensor) -> None:
    """Each row by its largest magnitude."""
    quantize_groups(input, output_q, output_s.view(*input.shape[:-1], 1), input.shape[-1])


@jit("dsv3_router_gemm", "dsv3_router_gemm", source="gemm/dsv3_router_gemm.cuh")
def dsv3_router_gemm(a: Tensor, b: Tensor, out: Tensor) -> None:
    """`a @ b.T`, accumulated in float32."""
    out.copy_((a.float() @ b.float().t()).to(out.dtype))


@jit("tiny_n_gemm", "run", source="gemm/tiny_gemm.cuh")
@jit("tiny_k_gemm", "run", source="gemm/tiny_gemm.cuh")
def tiny_gemm(x: Tensor, weight: Tensor, out: Tensor) -> None:
    """`x @ weight.T` of few rows, accumulated in float32."""
    out.copy_((x.float() @ weight.float().t()).to(out.dtype))


@jit("dsv3_fused_a_gemm", "dsv3_fused_a_gemm", source="gemm/dsv3_fused_a_gemm.cuh")
def dsv3_fused_a_gemm(a: Tensor, b: Tensor, out: Tensor) -> None:
    """`a @ b`, accumulated in float32."""
    out.copy_((a.float() @ b.float()).to(out.dtype))


@kernel("deep_gemm", source=_DEEP_GEMM)
def fp8_gemm_nt(a: Scaled, b: Scaled, out: Tensor, c: Tensor | None = None, **options: Any) -> None:
    """`a @ b.T` of FP8: scales by 128 columns of a token, by 128 x 128 of the weight."""
    out.copy_((dequantize(*a, 1, 128) @ dequantize(*b, 128, 128).t()).to(out.dtype))


@kernel("deep_gemm", source=_DEEP_GEMM)
def m_grouped_fp8_gemm_nt_contiguous(
    a: Scaled, b: Scaled, out: Tensor, experts: Tensor, **options: Any
) -> None:
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
