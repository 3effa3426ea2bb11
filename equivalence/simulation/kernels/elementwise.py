"""Norms and activations, rotary position embedding, copies into caches and between layouts."""

import ctypes
from typing import Any

import torch

from equivalence.simulation.kernels.registry import Tensor, given, jit, kernel

_NORM = "flashinfer include/flashinfer/norm.cuh, as built into sgl-kernel/csrc/elementwise"
_ROPE = "elementwise/rope.cuh"


def rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """`x / sqrt(mean(x²) + eps) * weight` over the last axis, in float32, in the type of `x`."""
    wide = x.float()
    scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (scaled * weight.float()).to(x.dtype)


@kernel("sgl_kernel", source=_NORM)
def rmsnorm(
    input: Tensor,
    weight: Tensor,
    eps: float = 1e-6,
    out: Tensor | None = None,
    enable_pdl: Any = None,
) -> Tensor:
    """RMS norm."""
    return given(rms(input, weight, eps), out)


@kernel("sgl_kernel", source=_NORM)
def fused_add_rmsnorm(
    input: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6, enable_pdl: Any = None
) -> None:
    """`residual += input`, then `input` becomes its RMS norm."""
    residual.copy_((input.float() + residual.float()).to(input.dtype))
    input.copy_(rms(residual, weight, eps))


@kernel("sgl_kernel", source="sgl-kernel/csrc/elementwise/activation.cu")
def silu_and_mul(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`silu(first half) * second half` of the last axis."""
    gate, up = input.float().chunk(2, -1)
    return given((gate * torch.sigmoid(gate) * up).to(input.dtype), out)


@jit("activation", "run_activation", source="elementwise/activation.cuh")
def run_activation(x: Tensor, out: Tensor, name: str) -> None:
    """`silu_and_mul`; DeepSeek has no other activation."""
    assert name == "silu", name
    silu_and_mul(x, out)


@jit("activation", "run_activation_filtered", source="elementwise/activation.cuh")
def run_activation_filtered(
    x: Tensor, out: Tensor, expert_ids: Tensor, step: int, name: str
) -> None:
    """As above; rows of experts that are elsewhere (id -1) are not read by anyone and may hold
    anything.
    """
    run_activation(x, out, name)


@jit("fused_eh_norm", "fused_eh_norm", source="elementwise/fused_eh_norm.cuh")
def fused_eh_norm(
    e: Tensor, h: Tensor, e_weight: Tensor, h_weight: Tensor, out: Tensor, eps: float
) -> None:
    """The two norms at the entrance of the MTP layer, side by side."""
    out.copy_(torch.cat([rms(e, e_weight, eps), rms(h, h_weight, eps)], -1))


@kernel("flashinfer.norm", source="flashinfer/norm.py")
def layernorm(input: Tensor, gemma: Tensor, beta: Tensor, eps: float = 1e-6) -> Tensor:
    """Return rows less their mean, by their deviation, times a weight, plus a bias; all in
    float32.
    """
    wide = torch.nn.functional.layer_norm(
        input.float(), input.shape[-1:], gemma.float(), beta.float(), eps
    )
    return wide.to(input.dtype)


@jit("qknorm", "qknorm", source="elementwise/qknorm.cuh")
def qknorm(q: Tensor, k: Tensor, q_weight: Tensor, k_weight: Tensor, eps: float) -> None:
    """Each head of queries and of keys becomes its RMS norm, in place."""
    q.copy_(rms(q, q_weight, eps))
    k.copy_(rms(k, k_weight, eps))


def rotate(x: Tensor, cache: Tensor, positions: Tensor, *, neox: bool) -> None:
    """Rotate pairs of the first columns in place, as many as `cache` is wide: halves (neox) or
    neighbours.

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


@jit("fused_rope_true", "run_rope", source=_ROPE)
def run_rope_neox(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor) -> None:
    """Queries and keys [tokens, heads, width], in place."""
    rotate(q, cache, positions, neox=True)
    rotate(k, cache, positions, neox=True)


@jit("fused_rope_false", "run_rope", source=_ROPE)
def run_rope_pairs(q: Tensor, k: Tensor, cache: Tensor, positions: Tensor) -> None:
    """As above with neighbours as pairs: DeepSeek's own."""
    rotate(q, cache, positions, neox=False)
    rotate(k, cache, positions, neox=False)


@jit("fused_rope_true", "run_rope_store", source=_ROPE)
def run_rope_store(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    cache: Tensor,
    positions: Tensor,
    slots: Tensor,
) -> None:
    """The same in halves, and both caches' rows of each token are written: its turned key, its
    value.
    """
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


@kernel("sgl_kernel", "concat_mla_k", source="sgl-kernel/csrc/elementwise/concat_mla.cu")
@jit("concat_mla_k", "concat_mla_k", source="elementwise/concat_mla.cuh")
def concat_mla_k(k: Tensor, k_nope: Tensor, k_rope: Tensor) -> None:
    """Keys of all heads: their own part, then the part that all share."""
    width = k_nope.shape[-1]
    k[..., :width].copy_(k_nope)
    k[..., width:].copy_(k_rope.expand(*k.shape[:-1], k_rope.shape[-1]))


@jit("concat_mla_absorb_q", "concat_mla_absorb_q", source="elementwise/concat_mla.cuh")
def concat_mla_absorb_q(a: Tensor, b: Tensor, out: Tensor) -> None:
    """Both halves of a query, side by side."""
    out.copy_(torch.cat([a, b], -1))


@jit("set_mla_kv_buffer", "set_mla_kv_buffer", source="elementwise/set_mla_kv_buffer.cuh")
def set_mla_kv_buffer(
    buffer: Tensor, slots: Tensor, nope: Tensor, rope: Tensor, warps: int, reserved: int = -1
) -> None:
    """Write the latent and the rotated key of each token to its slot, but for those whose slot is
    the reserved one.
    """
    written = slots != reserved
    buffer[slots[written].long()] = torch.cat([nope, rope], -1)[written]


@jit("kvcache", "store_cache", source="elementwise/kvcache.cuh", says="reserved_skip_index")
def store_cache_unless_reserved(
    k: Tensor, v: Tensor, k_cache: Tensor, v_cache: Tensor, slots: Tensor, limit: int, reserved: int
) -> None:
    """Write the key and the value of each token to its slot, but for those whose slot is the
    reserved one.
    """
    written = slots != reserved
    store_cache(k[written], v[written], k_cache, v_cache, slots[written], 1, limit)


@jit("kvcache", "store_cache", source="elementwise/kvcache.cuh")
def store_cache(
    k: Tensor, v: Tensor, k_cache: Tensor, v_cache: Tensor, slots: Tensor, split: int, limit: int
) -> None:
    """Write the key and the value of each token to its slot, of which there are `limit`."""
    assert bool(((slots >= 0) & (slots < limit)).all())
    k_cache[slots.long()] = k
    v_cache[slots.long()] = v


@jit("clamp_position", "clamp_position", source="elementwise/clamp_position.cuh")
def clamp_position(out: Tensor, lengths: Tensor) -> None:
    """Position of the last token, never negative."""
    out.copy_((lengths - 1).clamp(min=0))


@jit(
    "resolve_future_token_ids",
    "resolve_future_token_ids",
    source="elementwise/resolve_future_token_ids.cuh",
)
def resolve_future_token_ids(ids: Tensor, future: Tensor) -> None:
    """Replace -i, which stands for a token that was not known when it was written, by the i-th of
    the map.
    """
    ids.copy_(torch.where(ids < 0, future[(-ids).clamp(min=0)], ids))


@jit("hicache", "launch_one_mla", source="kvcacheio/hicache.cuh")
def launch_one_mla(target: Tensor, to: Tensor, source: Tensor, taken: Tensor) -> None:
    """Rows of one layer's cache, to their places in another."""
    target[to.long()] = source[taken.long()]


@jit("hicache_staged", "launch_all_mla_lf_pf_staged", source="kvcacheio/hicache.cuh")
def launch_all_mla_lf_pf_staged(
    target: Tensor, to: Tensor, staging: Tensor, pages: Tensor, layers: Tensor, page_size: int
) -> None:
    """Pages of all layers, each of which has a cache of its own at an address, to rows that hold
    all layers of a token.
    """
    width = target.shape[-1] * target.element_size()
    taken = (pages.long()[:, None] + torch.arange(page_size)).flatten().tolist()
    for layer, address in enumerate(layers.tolist()):
        for place, row in zip(to.tolist(), taken, strict=True):
            ctypes.memmove(target[place, layer].data_ptr(), address + row * width, width)
