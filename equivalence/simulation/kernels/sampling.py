"""Choice of tokens."""

from __future__ import annotations

import torch

from equivalence.simulation.kernels.registry import Tensor, kernel


@kernel("sgl_kernel", source="sgl-kernel/python/sgl_kernel/top_k.py")
def fast_topk(values: Tensor, topk: int, dim: int) -> tuple[Tensor, Tensor]:
    """The largest, with their indices."""
    result = torch.max(values, dim=dim, keepdim=True) if topk == 1 else torch.topk(values, topk, dim=dim)
    return result[0], result[1]
