"""Rotary position embedding."""

from typing import Any

import torch

from equivalence.simulation.kernels.registry import Tensor, jit, kernel

_SOURCE = "elementwise/rope.cuh"


def rotate(x: Tensor, cache: Tensor, positions: Tensor, *, neox: bool) -> None:
    """Rotate pairs of the first columns in place, as many as `cache` is wide: halves (neox) or neighbours.

    Args:
        x: [tokens, width], or [tokens, heads, width].
        cache: cosines, then sines, of each position.
        positions: of the tokens.
    """
    width = cache.shape[-1]
    cos, sin = cache[positions.long()].float().view(len(x), *[1] * (x.ndim - 2), width).chunk(2, -1)
    wide = x[..., :width].float()
    first, second = wide.chunk(2, -1) if neox else (wide[..., ::2], wide[..., 1::2])
    turned = (first * cos - second * sin, second * cos + first * sin)
    result = torch.cat(turned, -1) if neox else torch.stack(turned, -1).flatten(-2)
    x[..., :width].copy_(result.to(x.dtype))


@jit("fused_rope_true", "run_rope", source=_SOURCE)
def run_rope_neox(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor) -> None:
    """Queries and keys [tokens, heads, width], in place."""
    rotate(q, cache, positions, neox=True)
    rotate(k, cache, positions, neox=True)


@jit("fused_rope_false", "run_rope", source=_SOURCE)
def run_rope_pairs(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor) -> None:
    """As above with neighbours as pairs: DeepSeek's own."""
    rotate(q, cache, positions, neox=False)
    rotate(k, cache, positions, neox=False)


@jit("fused_rope_true", "run_rope_store", source=_SOURCE)
def run_rope_store(
    q: Tensor, k: Tensor, v: Tensor, k_cache: Tensor, v_cache: Tensor, cache: Tensor, positions: Tensor, slots: Tensor
) -> None:
    """The same in halves, and both caches' rows of each token are written: its turned key, its value."""
    run_rope_neox(q, k, cache, positions)
    k_cache[slots.long()] = k.flatten(1)
    v_cache[slots.long()] = v.flatten(1)


@kernel("sgl_kernel", source="sgl-kernel/csrc/elementwise/rope.cu")
def apply_rope_with_cos_sin_cache_inplace(
    positions: Tensor,
    query: Tensor,
    key: Tensor,
    head_size: int,
    cos_sin_cache: Tensor,
    is_neox: bool = True,
    fused_set_kv_buffer_arg: Any = None,
    enable_pdl: Any = None,
) -> None:
    """The same on rows that hold all heads, as older releases call it."""
    assert fused_set_kv_buffer_arg is None, "writing to the cache at once has no reference"
    tokens = positions.shape[0]
    q, k = query.view(tokens, -1, head_size), key.view(tokens, -1, head_size)
    (run_rope_neox if is_neox else run_rope_pairs)(q, k, cos_sin_cache, positions)
