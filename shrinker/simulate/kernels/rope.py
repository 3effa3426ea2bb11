"""Rotary position embedding."""

from __future__ import annotations

from shrinker.simulate.kernels.registry import Tensor, jit

_SOURCE = "elementwise/rope.cuh"


def rotate(x: Tensor, cos: Tensor, sin: Tensor, *, neox: bool) -> None:
    """Rotate pairs of the first `2 * cos.shape[-1]` columns in place: halves (neox) or neighbours."""
    import torch

    width = 2 * cos.shape[-1]
    wide = x[..., :width].float()
    first, second = wide.chunk(2, -1) if neox else (wide[..., ::2], wide[..., 1::2])
    turned = (first * cos - second * sin, second * cos + first * sin)
    result = torch.cat(turned, -1) if neox else torch.stack(turned, -1).flatten(-2)
    x[..., :width].copy_(result.to(x.dtype))


def _both(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor, *, neox: bool) -> None:
    cos, sin = (half[:, None, :] for half in cache[positions.long()].float().chunk(2, -1))
    rotate(q, cos, sin, neox=neox)
    rotate(k, cos, sin, neox=neox)


@jit("fused_rope_true", "run_rope", source=_SOURCE)
def run_rope_neox(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor) -> None:
    """Queries and keys [tokens, heads, width], in place; `cache` holds cosines, then sines, of each position."""
    _both(q, k, cache, positions, neox=True)


@jit("fused_rope_false", "run_rope", source=_SOURCE)
def run_rope_pairs(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor) -> None:
    """As above with neighbours as pairs: DeepSeek's own."""
    _both(q, k, cache, positions, neox=False)
