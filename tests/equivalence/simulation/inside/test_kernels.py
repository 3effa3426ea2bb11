"""References against plain formulas in float64."""

from __future__ import annotations

import pytest
import torch

from equivalence.simulation.kernels import (
    attention,
    gemm,
    load,
    memory,
    moe,
    norm,
    quantization,
    rope,
    sparse,
    speculative,
)
from equivalence.simulation.kernels.registry import REFERENCES


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def near(found: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-5) -> None:
    error = (found.double() - wanted.double()).abs().max() / wanted.double().abs().max()
    assert error < tolerance, error


def test_every_reference_says_what_it_stands_for() -> None:
    load()
    found = [r for group in REFERENCES.values() for r in group.values()]
    assert len(found) > 30
    assert all("/" in r.source and r.function.__doc__ for r in found)


def test_rmsnorm() -> None:
    x, w, residual = torch.randn(5, 64), torch.randn(64), torch.randn(5, 64)
    wanted = x.double() / (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * w.double()
    near(norm.rmsnorm(x, w), wanted)
    out = torch.empty_like(x)
    assert norm.rmsnorm(x, w, out=out) is out
    near(out, wanted)
    total = x + residual
    norm.fused_add_rmsnorm(x, residual, w)
    near(residual, total)
    near(x, norm.rmsnorm(total, w))


def test_silu_and_mul() -> None:
    x = torch.randn(4, 32)
    gate, up = x.double().chunk(2, -1)
    near(norm.silu_and_mul(x), gate / (1 + (-gate).exp()) * up)


@pytest.mark.parametrize("neox", [True, False])
def test_rope_turns_by_the_angle_of_the_position(neox: bool) -> None:
    angles = torch.outer(torch.arange(16.0), 10000 ** (-torch.arange(4.0) / 4))
    cache = torch.cat([angles.cos(), angles.sin()], -1)
    q, k, positions = torch.randn(3, 2, 10), torch.randn(3, 1, 10), torch.tensor([0, 7, 15])
    before = q.clone()
    (rope.run_rope_neox if neox else rope.run_rope_pairs)(q, k, cache, positions)
    first, second = (before[..., :4], before[..., 4:8]) if neox else (before[..., 0:8:2], before[..., 1:8:2])
    turned = torch.complex(first, second) * torch.exp(1j * angles[positions])[:, None]
    found = torch.complex(q[..., :4], q[..., 4:8]) if neox else torch.complex(q[..., 0:8:2], q[..., 1:8:2])
    assert torch.allclose(found, turned, atol=1e-5)
    assert torch.equal(q[..., 8:], before[..., 8:])


def test_rope_on_rows_of_all_heads() -> None:
    angles = torch.outer(torch.arange(16.0), 10000 ** (-torch.arange(4.0) / 4))
    cache = torch.cat([angles.cos(), angles.sin()], -1)
    q, k, positions = torch.randn(3, 2, 8), torch.randn(3, 1, 8), torch.tensor([0, 7, 15])
    rows = q.clone().view(3, 16), k.clone().view(3, 8)
    rope.run_rope_pairs(q, k, cache, positions)
    rope.apply_rope_with_cos_sin_cache_inplace(positions, *rows, 8, cache, False)
    assert torch.equal(rows[0].view(3, 2, 8), q) and torch.equal(rows[1].view(3, 1, 8), k)


def test_rope_that_writes_both_caches() -> None:
    cache = torch.randn(16, 8)
    q, k, v, positions = torch.randn(3, 2, 8), torch.randn(3, 1, 8), torch.randn(3, 1, 8), torch.tensor([0, 7, 15])
    turned = q.clone(), k.clone()
    rope.run_rope_neox(*turned, cache, positions)
    keys, values, slots = torch.zeros(5, 8), torch.zeros(5, 8), torch.tensor([4, 1, 2])
    rope.run_rope_store(q, k, v, keys, values, cache, positions, slots)
    assert torch.equal(q, turned[0]) and torch.equal(keys[slots], turned[1].view(3, 8)) and torch.equal(k, turned[1])
    assert torch.equal(values[slots], v.view(3, 8)) and not keys[[0, 3]].any() and not values[[0, 3]].any()
    again = torch.zeros(5, 8), torch.zeros(5, 8)
    memory.store_cache(k.flatten(1), v.flatten(1), *again, slots, 1, 5)
    assert torch.equal(again[0], keys) and torch.equal(again[1], values)
    with pytest.raises(AssertionError):
        memory.store_cache(k.flatten(1), v.flatten(1), *again, slots, 1, 4)


def full(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """Attention of one sequence, in float64, token by token."""
    groups = q.shape[1] // k.shape[1]
    rows = []
    for i in range(q.shape[0]):
        seen = k.shape[0] - q.shape[0] + i + 1 if causal else k.shape[0]
        heads = []
        for h in range(q.shape[1]):
            keys, values = k[:seen, h // groups].double(), v[:seen, h // groups].double()
            heads.append(torch.softmax(keys @ q[i, h].double() * scale, 0) @ values)
        rows.append(torch.stack(heads))
    return torch.stack(rows)


@pytest.mark.parametrize("causal", [True, False])
def test_packed_attention(causal: bool) -> None:
    q, k, v = torch.randn(5, 4, 16), torch.randn(9, 2, 16), torch.randn(9, 2, 8)
    starts, key_starts = torch.tensor([0, 2, 5]), torch.tensor([0, 4, 9])
    found, totals = attention.flash_attn_varlen_func(
        q, k, v, starts, key_starts, causal=causal, softmax_scale=0.3, return_softmax_lse=True
    )
    wanted = torch.cat([full(q[:2], k[:4], v[:4], 0.3, causal), full(q[2:], k[4:], v[4:], 0.3, causal)])
    near(found, wanted)
    assert totals.shape == (4, 5)


def test_attention_by_pages_with_a_part_that_meets_the_values() -> None:
    page, length = 4, 7
    table = torch.tensor([[2, 0]])
    k_cache, v_cache = torch.randn(3, page, 1, 6), torch.randn(3, page, 1, 8)
    q, q_v = torch.randn(2, 4, 6), torch.randn(2, 4, 8)
    found = attention.flash_attn_with_kvcache(
        q,
        k_cache,
        v_cache,
        qv=q_v,
        cache_seqlens=torch.tensor([length]),
        page_table=table,
        cu_seqlens_q=torch.tensor([0, 2]),
        softmax_scale=0.2,
        causal=True,
    )
    # By position, as upstream's own wrapper does.
    rest = [None, None, torch.tensor([length]), None, None, table, torch.tensor([0, 2]), *[None] * 6, 0.2, True]
    assert torch.equal(attention.flash_attn_with_kvcache(q, k_cache, v_cache, None, None, q_v, *rest), found)
    slots = [2 * page + i for i in range(page)] + list(range(length - page))
    k, v = k_cache.flatten(0, 1)[slots], v_cache.flatten(0, 1)[slots]
    near(found, full(torch.cat([q, q_v], -1), torch.cat([k, v], -1), v, 0.2, True))


def test_two_parts_of_attention_merge_to_the_whole() -> None:
    q, k, v = torch.randn(3, 2, 8), torch.randn(10, 2, 8), torch.randn(10, 2, 8)
    whole, total = attention.attend(q, k, v, 0.5, causal=False)
    parts = [attention.attend(q, k[s], v[s], 0.5, causal=False) for s in (slice(0, 6), slice(6, 10))]
    merged, lse = attention.merge_state_v2(parts[0][0], parts[0][1].T, parts[1][0], parts[1][1].T)
    near(merged, whole)
    near(lse, total.T)


def test_blocks_of_experts() -> None:
    ids = torch.tensor([[0, 2], [2, -1], [2, 1]])
    tokens, experts = torch.zeros(40, dtype=torch.int32), torch.full((10,), -9, dtype=torch.int32)
    count, ends = torch.zeros(1, dtype=torch.int32), torch.zeros(5, dtype=torch.int32)
    moe.moe_align_block_size(ids, 4, 2, tokens, experts, count, ends, True)
    flat, size = ids.flatten().tolist(), int(count)
    assert size == 10
    seen = []
    for block in range(size // 2):
        for slot in tokens[2 * block : 2 * block + 2].tolist():
            assert slot == len(flat) or flat[slot] == int(experts[block])
            seen += [slot] if slot < len(flat) else []
    assert sorted(seen) == list(range(6))
    assert ends.tolist() == [0, 2, 4, 6, 10]


def test_routing_by_groups() -> None:
    scores, bias = torch.randn(20, 16), torch.randn(16) / 4
    weights, indices = torch.empty(20, 3), torch.empty(20, 3, dtype=torch.int32)
    moe.fused_topk_deepseek(scores, bias, 4, 2, 3, 2.5, weights, indices)
    older = moe.moe_fused_gate(scores, bias, 4, 2, 3, 0, 2.5, True)
    assert torch.equal(older[0], weights) and torch.equal(older[1], indices)
    for row in range(20):
        probability = 1 / (1 + (-scores[row].double()).exp())
        biased = (probability + bias.double()).tolist()
        groups = [sum(sorted(biased[4 * g : 4 * g + 4])[-2:]) for g in range(4)]
        best = sorted(range(4), key=lambda g: -groups[g])[:2]
        chosen = sorted((e for e in range(16) if e // 4 in best), key=lambda e: -biased[e])[:3]
        assert indices[row].tolist() == chosen
        near(weights[row], 2.5 * probability[chosen] / probability[chosen].sum())


def test_sum_of_experts() -> None:
    x, out = torch.randn(4, 3, 8), torch.empty(4, 8)
    moe.moe_sum_reduce(x, out, 2.0)
    near(out, 2 * x.double().sum(1))


@pytest.mark.parametrize("powers_of_two", [True, False])
def test_quantised_groups_keep_three_bits(powers_of_two: bool) -> None:
    x = torch.randn(4, 256) * 10
    q, scales = torch.empty(4, 256, dtype=torch.float8_e4m3fn), torch.empty(4, 2)
    quantization.quantize_groups(x, q, scales, 128, powers_of_two=powers_of_two)
    back = quantization.dequantize(q, scales, 1, 128)
    assert ((back - x).abs() <= x.abs() / 16 + scales.repeat_interleave(128, -1) / 512).all()
    if powers_of_two:
        assert torch.equal(scales.log2(), scales.log2().round())
    else:
        near(scales, x.view(4, 2, 128).abs().amax(-1) / 448)


def scaled(*shape: int, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    values = torch.randn(*shape).to(torch.float8_e4m3fn)
    return values, torch.rand(*shape[:-2], -(-shape[-2] // rows), shape[-1] // 128) + 0.5


def test_fp8_products() -> None:
    a, b = scaled(6, 256, rows=1), scaled(192, 256, rows=128)
    rows = a[0].double() * a[1].double().repeat_interleave(128, 1)
    weight = b[0].double() * b[1].double().repeat_interleave(128, 0)[:192].repeat_interleave(128, 1)
    out = torch.empty(6, 192)
    gemm.fp8_gemm_nt(a, b, out)
    near(out, rows @ weight.T)


def test_grouped_fp8_products_take_each_rows_expert() -> None:
    a, b = scaled(6, 128, rows=1), scaled(2, 128, 128, rows=128)
    experts, out = torch.tensor([1, 1, 0, -1, 0, 1]), torch.zeros(6, 128)
    gemm.m_grouped_fp8_gemm_nt_contiguous(a, b, out, experts)
    rows = a[0].double() * a[1].double().repeat_interleave(128, 1)
    for i, expert in enumerate(experts.tolist()):
        if expert < 0:
            assert not out[i].any()
        else:
            near(out[i], (b[0][expert].double() * b[1][expert].double().item()) @ rows[i])
    masked = torch.zeros(2, 3, 128)
    blocks = (a[0].view(2, 3, 128), a[1].view(2, 3, 1))
    gemm.fp8_m_grouped_gemm_nt_masked(blocks, b, masked, torch.tensor([2, 0]), 3)
    assert not masked[1].any() and not masked[0, 2].any() and masked[0, :2].all(-1).all()


def test_latent_cache() -> None:
    buffer, slots = torch.zeros(5, 1, 6), torch.tensor([3, 1], dtype=torch.int32)
    memory.set_mla_kv_buffer(buffer, slots, torch.ones(2, 1, 4), 2 * torch.ones(2, 1, 2), 1)
    assert buffer[3, 0].tolist() == [1, 1, 1, 1, 2, 2]
    assert buffer.sum() == 16


def test_future_tokens() -> None:
    ids, future = torch.tensor([5, -2, -1]), torch.tensor([0, 70, 80])
    memory.resolve_future_token_ids(ids, future)
    assert ids.tolist() == [5, 80, 70]


def test_a_chain_of_drafts_is_followed_to_the_first_wrong_one() -> None:
    count = 4
    parents, chosen = torch.tensor([[-1, 0, 1]]), torch.tensor([[0, 1, 2]])
    mask = torch.ones(count * (6 + count), dtype=torch.bool)
    positions = torch.zeros(count, dtype=torch.long)
    index, following, sibling = (torch.full((1, count), -1, dtype=torch.long) for _ in range(3))
    speculative.build_tree_kernel_efficient(
        parents, chosen, torch.tensor([6]), mask, positions, index, following, sibling, 1, 3, count, 0
    )
    assert positions.tolist() == [6, 7, 8, 9]
    assert following.tolist() == [[1, 2, 3, -1]]
    assert torch.equal(mask.view(count, -1)[:, 6:], torch.ones(count, count, dtype=torch.bool).tril())
    assert mask.view(count, -1)[:, :6].all()
    predicts, accepted = torch.zeros(count, dtype=torch.int32), torch.full((1, count), -1, dtype=torch.int32)
    number = torch.zeros(1, dtype=torch.int32)
    speculative.verify_tree_greedy(
        predicts,
        accepted,
        number,
        torch.tensor([[9, 20, 30, 41]]),
        index,
        following,
        sibling,
        torch.tensor([[20, 30, 40, 50]]),
    )
    assert number.item() == 2
    assert accepted.tolist() == [[0, 1, 2, -1]]
    assert predicts[:3].tolist() == [20, 30, 40]


def test_layernorm() -> None:
    x, w, b = torch.randn(5, 64), torch.randn(64), torch.randn(64)
    wide = x.double() - x.double().mean(-1, keepdim=True)
    wanted = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * w.double() + b.double()
    near(norm.layernorm(x, w, b, 1e-5), wanted)


def test_hadamard() -> None:
    x, out = torch.randn(3, 16), torch.empty(3, 16)
    matrix = torch.ones(1, 1, dtype=torch.float64)
    for _ in range(4):
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    sparse.hadamard_transform(x, out, 0.25)
    near(out, x.double() @ matrix * 0.25)


def test_keys_of_an_index_are_where_they_were_put() -> None:
    cache, keys = torch.zeros(3, 4 * 20, dtype=torch.uint8), torch.randn(2, 16)
    sparse.fused_store_index_k_cache(keys, cache, torch.tensor([5, 11]))
    q, scales = sparse.quantize_rows(keys)
    for row, (page, place) in enumerate([(1, 1), (2, 3)]):
        assert torch.equal(cache[page, place * 16 : place * 16 + 16].view(torch.float8_e4m3fn).float(), q[row].float())
        assert cache[page, 64 + place * 4 : 64 + place * 4 + 4].view(torch.float32) == scales[row]
    assert int((cache != 0).any(-1).sum()) == 2


def test_an_indexed_key_is_normalized_and_rotated() -> None:
    x, w, b = torch.randn(3, 16), torch.randn(16), torch.randn(16)
    angles = torch.outer(torch.arange(8.0), 10000 ** (-torch.arange(4.0) / 4))
    cos_sin, positions, out = torch.cat([angles.cos(), angles.sin()], -1), torch.tensor([0, 3, 7]), torch.empty(3, 16)
    sparse.k_indexer_norm_rope(x, out, w, b, cos_sin, positions, 1e-5)
    plain = norm.layernorm(x, w, b, 1e-5)
    turned = torch.complex(plain[:, 0:8:2], plain[:, 1:8:2]) * torch.exp(1j * angles[positions])
    near(torch.complex(out[:, 0:8:2], out[:, 1:8:2]).abs(), turned.abs())
    assert torch.allclose(torch.view_as_real(turned).flatten(1), out[:, :8], atol=1e-5)
    near(out[:, 8:], plain[:, 8:])
    cache = torch.zeros(2, 4 * 20, dtype=torch.uint8)
    again = torch.zeros_like(cache)
    sparse.k_indexer_norm_rope_store(x, cache, positions, w, b, cos_sin, positions, 1e-5)
    sparse.fused_store_index_k_cache(out, again, positions)
    assert torch.equal(cache, again)


def test_queries_of_an_index_carry_their_scales_in_the_weights() -> None:
    x, weight = torch.randn(3, 2, 16), torch.randn(3, 2)
    cos_sin, positions = torch.cat([torch.ones(8, 4), torch.zeros(8, 4)], -1), torch.tensor([0, 3, 7])
    q, weights = torch.empty(3, 2, 16).to(torch.float8_e4m3fn), torch.empty(3, 2, 1)
    sparse.q_indexer_rope_first_quant(x, q, weight, weights, 0.5, cos_sin, positions)
    near(q.float() * weights / (weight[..., None] * 0.5), x, 0.05)


def test_scores_of_pages_are_those_of_the_keys_in_them() -> None:
    heads, width, size = 3, 16, 4
    cache, keys = torch.zeros(3, size * (width + 4), dtype=torch.uint8), torch.randn(6, width)
    table = torch.tensor([[2, 0]])
    slots = torch.tensor([8, 9, 10, 11, 0, 1])
    sparse.fused_store_index_k_cache(keys, cache, slots)
    kv = sparse.quantize_rows(keys)
    q, weights = torch.randn(2, heads, width).to(torch.float8_e4m3fn), torch.randn(2, heads)
    alike = torch.einsum("qhd,kd->qhk", q.double(), kv[0].double() * kv[1].double()[:, None]).clamp(min=0)
    wanted = (alike * weights.double()[..., None]).sum(1)
    ragged = sparse.fp8_mqa_logits(q, kv, weights, torch.tensor([0, 2]), torch.tensor([6, 5]))
    near(ragged[0], wanted[0])
    near(ragged[1, 2:5], wanted[1, 2:5])
    assert torch.isinf(ragged[1]).tolist() == [True, True, False, False, False, True]
    paged = sparse.fp8_paged_mqa_logits(
        q[None], cache.view(3, size, 1, width + 4), weights, torch.tensor([[6, 5]]), table, torch.zeros(1), 8
    )
    near(paged[0, :6], wanted[0])
    near(paged[1, :5], wanted[1, :5])
    assert torch.isinf(paged[1, 5:]).all() and paged.shape == (2, 8)


def test_the_best_keys() -> None:
    scores = torch.tensor([[5.0, 1.0, 4.0, 2.0, 9.0, 8.0], [9.0, 9.0, 1.0, 3.0, 2.0, 0.0]])
    lengths = torch.tensor([4, 2])
    assert sparse.fast_topk_v2(scores, lengths, 3).tolist() == [[0, 2, 3], [0, 1, -1]]
    starts = torch.tensor([2, 2])
    assert sparse.fast_topk_v2(scores, torch.tensor([4, 3]), 2, starts).tolist() == [[2, 3], [1, 2]]
    offsets = torch.tensor([10, 20])
    assert sparse.fast_topk_transform_ragged_fused(scores, lengths, offsets, 3).tolist() == [[10, 12, 13], [20, 21, -1]]
    table = torch.tensor([[7, 6, 5, 4, 3, 2]])
    starts = torch.tensor([0, 2])
    assert sparse.fast_topk_transform_fused(scores, lengths, table, starts, 3).tolist() == [[7, 5, 4], [7, 6, -1]]
    out, raw = (torch.zeros(2, 3, dtype=torch.int32) for _ in range(2))
    plan = torch.ones(3, 2, dtype=torch.int32)
    sparse.topk_plan(lengths, plan, 0)
    sparse.topk_transform(scores, lengths, torch.tensor([[3, 1, 2], [0, 4, 5]]), out, 2, plan, raw)
    assert out.tolist() == [[6, 2, 3], [0, 1, -1]] and raw.tolist() == [[0, 2, 3], [0, 1, -1]]


def test_sparse_attention_meets_only_the_keys_that_were_chosen() -> None:
    q, kv = torch.randn(2, 3, 24), torch.randn(9, 1, 24)
    indices = torch.tensor([[[8, 1, -1, 4]], [[-1, -1, -1, -1]]], dtype=torch.int32)
    out, most, total = sparse.flash_mla_sparse_fwd(q, kv, indices, 0.2, d_v=16)
    own = kv[[8, 1, 4], 0].double()
    scores = q[0].double() @ own.T * 0.2
    near(out[0], scores.softmax(-1) @ own[:, :16])
    near(most[0], scores.amax(-1))
    near(total[0], scores.logsumexp(-1))
    assert not out[1].any() and torch.isinf(total[1]).all()


@pytest.mark.parametrize("name", ["group", "tensor", "token"])
def test_fp8_of_older_releases_gives_back_what_went_in(name: str) -> None:
    x, q = torch.randn(6, 256), torch.empty(6, 256).to(torch.float8_e4m3fn)
    if name == "group":
        scales = torch.empty(6, 2)
        quantization.sgl_per_token_group_quant_8bit(x, q, scales, 128, 1e-10, -448.0, 448.0)
        near(quantization.dequantize(q, scales, 1, 128), x, 0.05)
    elif name == "token":
        scales = torch.empty(6, 1)
        quantization.sgl_per_token_quant_fp8(x, q, scales)
        near(q.float() * scales, x, 0.05)
    else:
        scales = torch.zeros(1)
        quantization.sgl_per_tensor_quant_fp8(x, q, scales, False)
        near(q.float() * scales, x, 0.05)
        quantization.sgl_per_tensor_quant_fp8(x, q, scales * 2, True)
        near(q.float() * scales * 2, x, 0.05)


def test_pages_of_all_layers_go_to_rows_that_hold_a_token() -> None:
    layers = [torch.randn(12, 6).bfloat16() for _ in range(3)]
    addresses = torch.tensor([layer.data_ptr() for layer in layers])
    host, staging = torch.zeros(10, 3, 6).bfloat16(), torch.empty(4, 3, 6).bfloat16()
    memory.launch_all_mla_lf_pf_staged(host, torch.tensor([7, 8, 1, 2]), staging, torch.tensor([4, 10]), addresses, 2)
    assert torch.equal(host[[7, 8, 1, 2]], torch.stack([layer[[4, 5, 10, 11]] for layer in layers], 1))
    assert not host[[0, 3, 4, 5, 6, 9]].any()
    back = torch.zeros(12, 6).bfloat16()
    memory.launch_one_mla(back, torch.tensor([3, 0]), layers[0], torch.tensor([1, 2]))
    assert torch.equal(back[[3, 0]], layers[0][[1, 2]]) and not back[[1, 2, *range(4, 12)]].any()
