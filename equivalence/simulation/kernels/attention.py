"""Attention of FlashAttention 3, and the merge of two parts of it."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from equivalence.simulation.kernels.registry import Tensor, given, kernel
from equivalence.simulation.settings import current

_FA3 = "flash-attention hopper/flash_attn_interface.py"
Part = Callable[[int], tuple[Tensor, Tensor]]


def attend(
    q: Tensor, k: Tensor, v: Tensor, scale: float, *, causal: bool, q_v: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return one sequence: q [queries, heads, width], k and v [keys, key heads, width] → output and
    log-sum-exp [heads, queries].

    The causal mask is aligned at the end of the keys. `q_v` is a part of the query that meets the
    values (MLA).
    """
    groups = q.shape[1] // k.shape[1]
    keys, values = (x.float().repeat_interleave(groups, 1) for x in (k, v))
    scores = torch.einsum("qhd,khd->hqk", q.float(), keys)
    if q_v is not None:
        scores = scores + torch.einsum("qhd,khd->hqk", q_v.float(), values)
    scores = scores * scale
    if causal:
        queries, length = scores.shape[1:]
        hidden = torch.ones(queries, length, dtype=torch.bool).triu(length - queries + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    total = torch.logsumexp(scores, -1)
    weights = torch.nan_to_num(torch.exp(scores - total[..., None]))
    return torch.einsum("hqk,khd->qhd", weights, values).to(v.dtype), total


def _packed(
    q: Tensor,
    starts: Sequence[int],
    part: Part,
    width: int,
    scale: float,
    causal: bool,
    q_v: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Queries of sequences that are packed one after the other; `part` gives keys and values of
    each, these as wide as `width`.
    """
    result, totals = q.new_empty(*q.shape[:2], width), torch.empty(q.shape[1], q.shape[0])
    for i, (first, last) in enumerate(itertools.pairwise(starts)):
        if last > first:
            own = None if q_v is None else q_v[first:last]
            result[first:last], totals[:, first:last] = attend(
                q[first:last], *part(i), scale, causal=causal, q_v=own
            )
    return result, totals


@kernel("sgl_kernel.flash_attn", source=_FA3)
def flash_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: Any = None,
    max_seqlen_k: Any = None,
    *,
    softmax_scale: float | None = None,
    causal: bool = False,
    return_softmax_lse: bool = False,
    out: Tensor | None = None,
    **options: Any,
) -> Any:
    """Sequences packed one after the other."""
    parts = [
        (k[first:last], v[first:last]) for first, last in itertools.pairwise(cu_seqlens_k.tolist())
    ]
    scale = softmax_scale or q.shape[-1] ** -0.5
    result, totals = _packed(
        q, cu_seqlens_q.tolist(), parts.__getitem__, v.shape[-1], scale, causal
    )
    return (given(result, out), totals) if return_softmax_lse else given(result, out)


# All of them: upstream calls it by position.
@kernel("sgl_kernel.flash_attn", source=_FA3)
def flash_attn_with_kvcache(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    k: Any = None,
    v: Any = None,
    qv: Tensor | None = None,
    rotary_cos: Any = None,
    rotary_sin: Any = None,
    cache_seqlens: Tensor = None,
    cache_batch_idx: Any = None,
    cache_leftpad: Any = None,
    page_table: Tensor = None,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k_new: Any = None,
    max_seqlen_q: Any = None,
    rotary_seqlens: Any = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    attention_chunk: int = 0,
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    scheduler_metadata: Any = None,
    num_splits: int = 0,
    pack_gqa: Any = None,
    only_qv: bool = False,
    sm_margin: int = 0,
    return_softmax_lse: bool = False,
    sinks: Any = None,
    out: Tensor | None = None,
    **options: Any,
) -> Any:
    """Return keys and values by the pages of a cache."""
    assert k is None and page_table is not None and sinks is None and window_size == (-1, -1)
    page, lengths = k_cache.shape[1], cache_seqlens.tolist()
    queries = q.reshape(-1, *q.shape[-2:])
    extra = None if qv is None else qv.reshape(-1, *qv.shape[-2:])
    starts = (
        [i * q.shape[1] for i in range(len(lengths) + 1)]
        if cu_seqlens_q is None
        else cu_seqlens_q.tolist()
    )
    keys, values = k_cache.flatten(0, 1), v_cache.flatten(0, 1)
    scale = softmax_scale or (q.shape[-1] + (0 if qv is None else qv.shape[-1])) ** -0.5

    def part(i: int) -> tuple[Tensor, Tensor]:
        slots = (page_table[i].long()[:, None] * page + torch.arange(page)).flatten()[: lengths[i]]
        return keys[slots], values[slots]

    result, totals = _packed(queries, starts, part, values.shape[-1], scale, causal, extra)
    result = given(result.view(*q.shape[:-1], result.shape[-1]), out)
    return (result, totals) if return_softmax_lse else result


@kernel("sgl_kernel.flash_attn", source=_FA3)
def is_fa3_supported(*args: Any, **kwargs: Any) -> bool:
    """Hopper only, here."""
    return current().capability[0] == 9


@kernel("sgl_kernel", source="sgl-kernel/csrc/attention/merge_attn_states.cu")
def merge_state_v2(
    v_a: Tensor,
    s_a: Tensor,
    v_b: Tensor,
    s_b: Tensor,
    v_merged: Tensor | None = None,
    s_merged: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention over two sets of keys, from the outputs and log-sum-exps over each."""
    most = torch.maximum(s_a, s_b)
    most = most.masked_fill(torch.isinf(most), 0.0)
    a, b = torch.exp(s_a - most), torch.exp(s_b - most)
    merged = ((v_a.float() * a[..., None] + v_b.float() * b[..., None]) / (a + b)[..., None]).to(
        v_a.dtype
    )
    return given(merged, v_merged), given(torch.log(a + b) + most, s_merged)
