"""Sparse attention of V3.2: the index of keys, its scores, the best of them (of tokens, too), and
attention over these.
"""

from typing import Any

import torch

from equivalence.simulation.kernels.attention import attend
from equivalence.simulation.kernels.elementwise import rotate
from equivalence.simulation.kernels.gemm import LARGEST, Scaled
from equivalence.simulation.kernels.registry import Tensor, jit, kernel

_DEEP_GEMM = "DeepGEMM (deepseek-ai), deep_gemm/include/deep_gemm/impls/sm90_fp8_mqa_logits.cuh"
_PAGED = "DeepGEMM (deepseek-ai), deep_gemm/include/deep_gemm/impls/sm90_fp8_paged_mqa_logits.cuh"
_TOP_K = "sgl-kernel/csrc/elementwise/topk.cu"
_INDEX_K = "deepseek_v32/indexer_k.cuh"
_FLASH_MLA = "FlashMLA (deepseek-ai), csrc/sm90/prefill/sparse/fwd.cu"

# The index of keys: pages of so many keys in FP8, then their scales in float32


def quantize_rows(x: Tensor) -> Scaled:
    """FP8 of rows, each by its largest magnitude, and the float32 scales [rows]."""
    wide = x.float()
    scale = wide.abs().amax(-1).clamp(min=1e-4) / LARGEST
    return (wide * (1.0 / scale)[..., None]).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn), scale


def _pages(cache: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return keys [pages, size, width] and scales [pages, size], views of pages of bytes."""
    rows = cache.reshape(cache.shape[0], -1).view(torch.uint8)
    size = rows.shape[1] // (width + 4)
    keys = rows[:, : size * width].view(torch.float8_e4m3fn).unflatten(1, (size, width))
    return keys, rows[:, size * width :].view(torch.float32)


@jit(
    "fused_store_index_k_cache",
    "fused_store_index_k_cache",
    source="dsa/fused_store_index_cache.cuh",
)
def fused_store_index_k_cache(key: Tensor, cache: Tensor, slots: Tensor) -> None:
    """Keys [tokens, width] into their slots."""
    keys, scales = _pages(cache, key.shape[-1])
    page, place = slots.long() // keys.shape[1], slots.long() % keys.shape[1]
    keys[page, place], scales[page, place] = quantize_rows(key)


def _index_key(
    x: Tensor, weight: Tensor, bias: Tensor, cos_sin: Tensor, positions: Tensor, eps: float
) -> Tensor:
    key = torch.nn.functional.layer_norm(x.float(), x.shape[-1:], weight.float(), bias.float(), eps)
    rotate(key, cos_sin, positions, neox=False)
    return key.to(x.dtype)


@jit("dpsk_v32_k_indexer_norm_rope", "forward", source=_INDEX_K)
def k_indexer_norm_rope(
    x: Tensor,
    out: Tensor,
    weight: Tensor,
    bias: Tensor,
    cos_sin: Tensor,
    positions: Tensor,
    eps: float,
) -> None:
    """Normalize keys [tokens, width] and rotate their first columns."""
    out.copy_(_index_key(x, weight, bias, cos_sin, positions, eps))


@jit("dpsk_v32_k_indexer_norm_rope_store", "forward", source=_INDEX_K)
def k_indexer_norm_rope_store(
    x: Tensor,
    cache: Tensor,
    slots: Tensor,
    weight: Tensor,
    bias: Tensor,
    turns: Tensor,
    positions: Tensor,
    eps: float,
) -> None:
    """The same, into their slots; `turns` are cosines and sines."""
    fused_store_index_k_cache(_index_key(x, weight, bias, turns, positions, eps), cache, slots)


@jit("dpsk_v4_main_q_indexer_rope_first_quant", "forward", source="deepseek_v4/main_norm_rope.cuh")
def q_indexer_rope_first_quant(
    x: Tensor,
    out: Tensor,
    weight: Tensor,
    weights: Tensor,
    weight_scale: float,
    cos_sin: Tensor,
    positions: Tensor,
) -> None:
    """Rotate queries [tokens, heads, width], write them in FP8, and their heads' weights times
    their scales.
    """
    wide = x.float().clone()
    rotate(wide, cos_sin, positions, neox=False)
    q, scale = quantize_rows(wide)
    out.copy_(q)
    weights.copy_((weight.float() * weight_scale * scale).view_as(weights))


@jit("hadamard", "hadamard_transform", source="fast-hadamard-transform/hadamard_jit.cuh")
def hadamard_transform(x: Tensor, out: Tensor, scale: float) -> None:
    """Rows times the matrix of Walsh and Hadamard."""
    wide, half = x.float(), 1
    while half < x.shape[-1]:
        first, second = wide.unflatten(-1, (-1, 2, half)).unbind(-2)
        wide, half = torch.stack((first + second, first - second), -2).flatten(-3), 2 * half
    out.copy_((wide * scale).to(out.dtype))


# Scores


def _scores(q: Tensor, keys: Tensor, scales: Tensor, weights: Tensor) -> Tensor:
    """q [queries, heads, width], keys [keys, width] → [queries, keys]: what each head finds alike,
    by its weight.
    """
    alike = torch.einsum("qhd,kd->hqk", q.float(), keys.float()).relu()
    return torch.einsum("hqk,qh->qk", alike, weights.float()) * scales.float()


@kernel("deep_gemm", source=_DEEP_GEMM)
def fp8_mqa_logits(
    q: Tensor,
    kv: Scaled,
    weights: Tensor,
    cu_seq_len_k_start: Tensor,
    cu_seq_len_k_end: Tensor,
    *_: Any,
    **more: Any,
) -> Tensor:
    """Return each query by the keys from its start to its end; what is left of the row is never
    good.
    """
    scores = _scores(q, *kv, weights)
    places = torch.arange(scores.shape[1])
    outside = (places < cu_seq_len_k_start[:, None]) | (places >= cu_seq_len_k_end[:, None])
    return scores.masked_fill(outside, float("-inf"))


@kernel("deep_gemm", source=_PAGED)
def get_paged_mqa_logits_metadata(
    context_lens: Tensor, block_kv: int, num_sms: int, **options: Any
) -> Tensor:
    """Return how the work is spread: a matter of speed."""
    return context_lens.new_zeros(num_sms + 1, 2)


@kernel("deep_gemm", source=_PAGED)
def fp8_paged_mqa_logits(
    q: Tensor,
    fused_kv_cache: Tensor,
    weights: Tensor,
    context_lens: Tensor,
    block_table: Tensor,
    schedule_meta: Tensor,
    max_context_len: int,
    clean_logits: bool = False,
    **options: Any,
) -> Tensor:
    """q [sequences, tokens, heads, width] by the pages of each sequence: one row a token."""
    keys, scales = _pages(fused_kv_cache, q.shape[-1])
    tokens = q.shape[1]
    logits = torch.full((q.shape[0] * tokens, max_context_len), float("-inf"))
    lengths = context_lens.reshape(q.shape[0], -1)
    for i, row in enumerate(q):
        pages = block_table[i, : -(-int(lengths[i].max()) // keys.shape[1])].long()
        own_weights = weights[i * tokens : (i + 1) * tokens]
        found = _scores(row, keys[pages].flatten(0, 1), scales[pages].flatten(), own_weights)
        for token, own in enumerate(lengths[i].expand(tokens).tolist()):
            logits[i * tokens + token, :own] = found[token, :own]
    return logits


# The best of them


@kernel("sgl_kernel", source=_TOP_K)
def fast_topk_v2(
    score: Tensor, lengths: Tensor, topk: int, row_starts: Tensor | None = None
) -> Tensor:
    """Return places of the largest scores, in their order; -1 where there are fewer.

    The kernels leave the order open.

    Args:
        score: [rows, places].
        lengths: how many places of each row count.
        row_starts: the first of them; by default the first of the row.
    """
    found = torch.full((score.shape[0], topk), -1, dtype=torch.int32)
    firsts = [0] * score.shape[0] if row_starts is None else row_starts.tolist()
    for i, (first, length) in enumerate(zip(firsts, lengths.reshape(-1).tolist(), strict=True)):
        chosen = torch.arange(length)
        if length > topk:
            chosen = score[i, first : first + length].topk(topk).indices.sort().values
        found[i, : len(chosen)] = chosen
    return found


@kernel("sgl_kernel", source="sgl-kernel/python/sgl_kernel/top_k.py")
def fast_topk(values: Tensor, topk: int, dim: int) -> tuple[Tensor, Tensor]:
    """Return the largest, with their indices."""
    result = (
        torch.max(values, dim=dim, keepdim=True) if topk == 1 else torch.topk(values, topk, dim=dim)
    )
    return result[0], result[1]


@jit("dpsk_v4_topk_v2", "topk_plan", source="deepseek_v4/topk_v2.cuh")
def topk_plan(lengths: Tensor, plan: Tensor, threshold: int) -> None:
    """How the work is spread: a matter of speed."""
    plan.zero_()


@jit("dpsk_v4_topk_v2", "topk_transform", source="deepseek_v4/topk_v2.cuh")
def topk_transform(
    scores: Tensor,
    lengths: Tensor,
    pages: Tensor,
    out: Tensor,
    size: int,
    plan: Tensor,
    raw: Tensor | None = None,
) -> None:
    """The best places of each row, as slots of the cache, by its pages and their size; `raw`: as
    they are.
    """
    found = fast_topk_v2(scores, lengths, out.shape[1])
    places = found.clamp(min=0).long()
    slots = pages.gather(1, (places // size).clamp(max=pages.shape[1] - 1)) * size
    out.copy_(torch.where(found < 0, found, (slots + places % size).to(torch.int32)))
    if raw is not None:
        raw.copy_(found)


@jit("dpsk_v4_topk_v2", "topk_transform_paged", source="deepseek_v4/topk_v2.cuh")
def topk_transform_paged(
    scores: Tensor,
    lengths: Tensor,
    pages: Tensor | None,
    out: Tensor,
    size: int,
    plan: Tensor,
    raw: Tensor | None = None,
) -> None:
    """The same; without pages `out` has the places as they are."""
    if pages is None:
        out.copy_(fast_topk_v2(scores, lengths, out.shape[1]))
    else:
        topk_transform(scores, lengths, pages, out, size, plan, raw)


@jit("dpsk_v4_topk_v2", "topk_transform_ragged", source="deepseek_v4/topk_v2.cuh")
def topk_transform_ragged(
    scores: Tensor, lengths: Tensor, row_starts: Tensor | None, offsets: Tensor, out: Tensor
) -> None:
    """The best places of each row, each moved on by the row's offset."""
    found = fast_topk_v2(scores, lengths, out.shape[1], row_starts)
    out.copy_(torch.where(found < 0, found, found + offsets.to(torch.int32)[:, None]))


@jit("occupancy_cluster_probe", "get_max_active_clusters", source="occupancy/cluster_probe.cuh")
def get_max_active_clusters(cluster_size: int, occupancy: int) -> int:
    """Clusters of so many blocks that are resident at once: a matter of speed."""
    return 132 * occupancy // cluster_size


@kernel("sgl_kernel", source=_TOP_K)
def fast_topk_transform_fused(
    score: Tensor,
    lengths: Tensor,
    page_table_size_1: Tensor,
    cu_seqlens_q: Tensor,
    topk: int,
    row_starts: Tensor | None = None,
) -> Tensor:
    """Return the same as slots of the cache; each sequence has a row of the table, each of its
    tokens a row of scores.
    """
    found = fast_topk_v2(score, lengths, topk, row_starts)
    table = page_table_size_1.repeat_interleave(cu_seqlens_q.long().diff(), 0)[: len(found)]
    return torch.where(found < 0, found, table.gather(1, found.clamp(min=0).long()).to(torch.int32))


@kernel("sgl_kernel", source=_TOP_K)
def fast_topk_transform_ragged_fused(
    score: Tensor,
    lengths: Tensor,
    topk_indices_offset: Tensor,
    topk: int,
    row_starts: Tensor | None = None,
) -> Tensor:
    """Return the same as places among the keys of all sequences."""
    found = fast_topk_v2(score, lengths, topk, row_starts)
    return torch.where(found < 0, found, found + topk_indices_offset.to(torch.int32)[:, None])


# Attention over them


@kernel("flash_mla", source=_FLASH_MLA)
@kernel("sgl_kernel.flash_mla", source=_FLASH_MLA)
def flash_mla_sparse_fwd(
    q: Tensor,
    kv: Tensor,
    indices: Tensor,
    sm_scale: float,
    d_v: int = 512,
    attn_sink: Tensor | None = None,
    topk_length: Tensor | None = None,
    **options: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return each query [tokens, heads, width] over its own keys; → output, largest scores,
    log-sum-exp [tokens, heads].

    `topk_length` is how many keys of each token count.
    """
    assert attn_sink is None, "sinks have no reference"
    out = q.new_zeros(*q.shape[:2], d_v)
    most, total = (torch.full(q.shape[:2], float("-inf")) for _ in range(2))
    keys = kv.reshape(-1, 1, kv.shape[-1])
    for i, row in enumerate(indices.reshape(indices.shape[0], -1)):
        row = row if topk_length is None else row[: int(topk_length[i])]
        own = row[(row >= 0) & (row < len(keys))].long()
        if len(own):
            found, sums = attend(
                q[i : i + 1], keys[own], keys[own][..., :d_v], sm_scale, causal=False
            )
            out[i], total[i] = found[0], sums[:, 0]
            most[i] = (
                torch.einsum("hd,kd->hk", q[i].float(), keys[own][:, 0].float()) * sm_scale
            ).amax(-1)
    return out, most, total
