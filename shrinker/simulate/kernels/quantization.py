"""FP8 by groups of columns."""

from __future__ import annotations

from typing import Any

from shrinker.simulate.kernels.norm import silu_and_mul
from shrinker.simulate.kernels.registry import Tensor, jit


def quantize_groups(
    x: Tensor,
    q: Tensor,
    scales: Tensor,
    group: int,
    eps: float = 1e-10,
    low: float = -448.0,
    high: float = 448.0,
    powers_of_two: bool = False,
) -> None:
    """Divide each group of columns by its largest magnitude over `high`; write values and scales."""
    import torch

    groups = x.float().reshape(*x.shape[:-1], -1, group)
    scale = groups.abs().amax(-1).clamp(min=eps) / high
    if powers_of_two:
        scale = torch.exp2(torch.ceil(torch.log2(scale)))
    q.copy_((groups / scale[..., None]).clamp(low, high).reshape(x.shape).to(q.dtype))
    scales.copy_(scale.to(scales.dtype))


def dequantize(x: Tensor, scales: Tensor, rows: int, columns: int) -> Tensor:
    """float32 of values that blocks of `rows` by `columns` share a scale for."""
    wide = scales.float()
    if rows > 1:
        wide = wide.repeat_interleave(rows, -2)[..., : x.shape[-2], :]
    return x.float() * wide.repeat_interleave(columns, -1)[..., : x.shape[-1]]


@jit("per_token_group_quant_8bit_v2", "per_token_group_quant_8bit_v2", source="gemm/per_token_group_quant_8bit_v2.cuh")
def per_token_group_quant_8bit_v2(
    x: Tensor,
    q: Tensor,
    scales: Tensor,
    dummy: Any,
    group: int,
    powers_of_two: bool,
    fuse: bool,
    masked: Any,
    *others: Any,
) -> None:
    """Groups of a token; `fuse`: of its activation."""
    assert not masked, "masked layouts have no reference"
    quantize_groups(silu_and_mul(x) if fuse else x, q, scales, group, powers_of_two=powers_of_two)


@jit("per_token_group_quant_8bit", "per_token_group_quant_8bit", source="gemm/per_token_group_quant_8bit.cuh")
def per_token_group_quant_8bit(
    x: Tensor, q: Tensor, scales: Tensor, group: int, eps: float, low: float, high: float, powers_of_two: bool
) -> None:
    """Groups of a token."""
    quantize_groups(x, q, scales, group, eps, low, high, powers_of_two)
