"""Copies into caches and between layouts."""

import ctypes

import torch

from equivalence.simulation.kernels.registry import Tensor, jit, kernel


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
def set_mla_kv_buffer(buffer: Tensor, slots: Tensor, nope: Tensor, rope: Tensor, warps: int) -> None:
    """Write the latent and the rotated key of each token to its slot."""
    buffer[slots.long()] = torch.cat([nope, rope], -1)


@jit("kvcache", "store_cache", source="elementwise/kvcache.cuh")
def store_cache(k: Tensor, v: Tensor, k_cache: Tensor, v_cache: Tensor, slots: Tensor, split: int, limit: int) -> None:
    """Write the key and the value of each token to its slot, of which there are `limit`."""
    assert bool(((slots >= 0) & (slots < limit)).all())
    k_cache[slots.long()] = k
    v_cache[slots.long()] = v


@jit("clamp_position", "clamp_position", source="elementwise/clamp_position.cuh")
def clamp_position(out: Tensor, lengths: Tensor) -> None:
    """Position of the last token, never negative."""
    out.copy_((lengths - 1).clamp(min=0))


@jit("resolve_future_token_ids", "resolve_future_token_ids", source="elementwise/resolve_future_token_ids.cuh")
def resolve_future_token_ids(ids: Tensor, future: Tensor) -> None:
    """Replace -i, which stands for a token that was not known when it was written, by the i-th of the map."""
    ids.copy_(torch.where(ids < 0, future[(-ids).clamp(min=0)], ids))


@jit("hicache", "launch_one_mla", source="kvcacheio/hicache.cuh")
def launch_one_mla(target: Tensor, to: Tensor, source: Tensor, taken: Tensor) -> None:
    """Rows of one layer's cache, to their places in another."""
    target[to.long()] = source[taken.long()]


@jit("hicache_staged", "launch_all_mla_lf_pf_staged", source="kvcacheio/hicache.cuh")
def launch_all_mla_lf_pf_staged(
    target: Tensor, to: Tensor, staging: Tensor, pages: Tensor, layers: Tensor, page_size: int
) -> None:
    """Pages of all layers, each of which has a cache of its own at an address, to rows that hold all layers of a token."""
    width = target.shape[-1] * target.element_size()
    taken = (pages.long()[:, None] + torch.arange(page_size)).flatten().tolist()
    for layer, address in enumerate(layers.tolist()):
        for place, row in zip(to.tolist(), taken, strict=True):
            ctypes.memmove(target[place, layer].data_ptr(), address + row * width, width)
