"""References against plain formulas in float64."""

import pytest
import torch

from equivalence.simulation.kernels import attention, elementwise, gemm, moe, speculative
from equivalence.simulation.kernels.registry import REFERENCES, load
from tests.equivalence.simulation.inside.plain import full, near, scaled, turns


def test_every_reference_says_what_it_stands_for() -> None:
    load()
    found = [r for group in REFERENCES.values() for r in group.values()]
    assert len(found) > 30
    assert all("/" in r.source and r.function.__doc__ for r in found)


def test_rmsnorm() -> None:
    x, w, residual = torch.randn(5, 64), torch.randn(64), torch.randn(5, 64)
    wanted = x.double() / (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * w.double()
    near(elementwise.rmsnorm(x, w), wanted)
    out = torch.empty_like(x)
    assert elementwise.rmsnorm(x, w, out=out) is out
    near(out, wanted)
    total = x + residual
    elementwise.fused_add_rmsnorm(x, residual, w)
    near(residual, total)
    near(x, elementwise.rmsnorm(total, w))


def test_silu_and_mul() -> None:
    x = torch.randn(4, 32)
    gate, up = x.double().chunk(2, -1)
    near(elementwise.silu_and_mul(x), gate / (1 + (-gate).exp()) * up)


@pytest.mark.parametrize("neox", [True, False])
def test_rope_turns_by_the_angle_of_the_position(neox: bool) -> None:
    angles, cache = turns(16)
    q, k, positions = torch.randn(3, 2, 10), torch.randn(3, 1, 10), torch.tensor([0, 7, 15])
    before = q.clone()
    (elementwise.run_rope_neox if neox else elementwise.run_rope_pairs)(q, k, cache, positions)
    first, second = (
        (before[..., :4], before[..., 4:8]) if neox else (before[..., 0:8:2], before[..., 1:8:2])
    )
    turned = torch.complex(first, second) * torch.exp(1j * angles[positions])[:, None]
    found = (
        torch.complex(q[..., :4], q[..., 4:8])
        if neox
        else torch.complex(q[..., 0:8:2], q[..., 1:8:2])
    )
    assert torch.allclose(found, turned, atol=1e-5)
    assert torch.equal(q[..., 8:], before[..., 8:])


def test_rope_on_rows_of_all_heads() -> None:
    _, cache = turns(16)
    q, k, positions = torch.randn(3, 2, 8), torch.randn(3, 1, 8), torch.tensor([0, 7, 15])
    rows = q.clone().view(3, 16), k.clone().view(3, 8)
    elementwise.run_rope_pairs(q, k, cache, positions)
    elementwise.apply_rope_with_cos_sin_cache_inplace(positions, *rows, 8, cache, False)
    assert torch.equal(rows[0].view(3, 2, 8), q) and torch.equal(rows[1].view(3, 1, 8), k)


def test_rope_that_writes_both_caches() -> None:
    cache = torch.randn(16, 8)
    q, k, v, positions = (
        torch.randn(3, 2, 8),
        torch.randn(3, 1, 8),
        torch.randn(3, 1, 8),
        torch.tensor([0, 7, 15]),
    )
    turned = q.clone(), k.clone()
    elementwise.run_rope_neox(*turned, cache, positions)
    keys, values, slots = torch.zeros(5, 8), torch.zeros(5, 8), torch.tensor([4, 1, 2])
    elementwise.run_rope_store(q, k, v, keys, values, cache, positions, slots)
    assert (
        torch.equal(q, turned[0])
        and torch.equal(keys[slots], turned[1].view(3, 8))
        and torch.equal(k, turned[1])
    )
    assert (
        torch.equal(values[slots], v.view(3, 8))
        and not keys[[0, 3]].any()
        and not values[[0, 3]].any()
    )
    again = torch.zeros(5, 8), torch.zeros(5, 8)
    elementwise.store_cache(k.flatten(1), v.flatten(1), *again, slots, 1, 5)
    assert torch.equal(again[0], keys) and torch.equal(again[1], values)
    with pytest.raises(AssertionError):
        elementwise.store_cache(k.flatten(1), v.flatten(1), *again, slots, 1, 4)


@pytest.mark.parametrize("causal", [True, False])
def test_packed_attention(causal: bool) -> None:
    q, k, v = torch.randn(5, 4, 16), torch.randn(9, 2, 16), torch.randn(9, 2, 8)
    starts, key_starts = torch.tensor([0, 2, 5]), torch.tensor([0, 4, 9])
    found, totals = attention.flash_attn_varlen_func(
        q, k, v, starts, key_starts, causal=causal, softmax_scale=0.3, return_softmax_lse=True
    )
    wanted = torch.cat(
        [full(q[:2], k[:4], v[:4], 0.3, causal), full(q[2:], k[4:], v[4:], 0.3, causal)]
    )
    near(found, wanted)
    assert totals.shape == (4, 5)


def test_attention_by_pages_with_a_part_that_meets_the_values() -> None:
    page, length = 4, 7
    table = torch.tensor([[2, 0]])
    k_cache, v_cache = torch.randn(3, page, 1, 6), torch.randn(3, page, 1, 8)
    q, q_v = torch.randn(2, 4, 6), torch.randn(2, 4, 8)
    lengths, starts = torch.tensor([length]), torch.tensor([0, 2])
    named = {"qv": q_v, "cache_seqlens": lengths, "page_table": table, "cu_seqlens_q": starts}
    found = attention.flash_attn_with_kvcache(
        q, k_cache, v_cache, **named, softmax_scale=0.2, causal=True
    )
    # By position, as upstream's own wrapper does.
    rest = [None, None, lengths, None, None, table, starts, *[None] * 6, 0.2, True]
    assert torch.equal(
        attention.flash_attn_with_kvcache(q, k_cache, v_cache, None, None, q_v, *rest), found
    )
    slots = [2 * page + i for i in range(page)] + list(range(length - page))
    k, v = k_cache.flatten(0, 1)[slots], v_cache.flatten(0, 1)[slots]
    near(found, full(torch.cat([q, q_v], -1), torch.cat([k, v], -1), v, 0.2, True))


def test_two_parts_of_attention_merge_to_the_whole() -> None:
    q, k, v = torch.randn(3, 2, 8), torch.randn(10, 2, 8), torch.randn(10, 2, 8)
    whole, total = attention.attend(q, k, v, 0.5, causal=False)
    parts = [
        attention.attend(q, k[s], v[s], 0.5, causal=False) for s in (slice(0, 6), slice(6, 10))
    ]
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
    gemm.quantize_groups(x, q, scales, 128, powers_of_two=powers_of_two)
    back = gemm.dequantize(q, scales, 1, 128)
    assert ((back - x).abs() <= x.abs() / 16 + scales.repeat_interleave(128, -1) / 512).all()
    if powers_of_two:
        assert torch.equal(scales.log2(), scales.log2().round())
    else:
        near(scales, x.view(4, 2, 128).abs().amax(-1) / 448)


def test_groups_of_rows_and_of_their_activations() -> None:
    x, q, scales = (
        torch.randn(4, 512),
        torch.empty(4, 256).to(torch.float8_e4m3fn),
        torch.empty(4, 2),
    )
    gemm.per_token_group_quant(x, q, scales, torch.arange(4), torch.tensor(4), 4)
    near(gemm.dequantize(q, scales, 1, 128), elementwise.silu_and_mul(x), 0.05)
    gemm.per_token_group_quant(x[:, :256], q, scales)
    near(gemm.dequantize(q, scales, 1, 128), x[:, :256], 0.05)
    with pytest.raises(AssertionError, match="masked"):
        gemm.per_token_group_quant(x, q, scales, torch.tensor([4]), 4)
    with pytest.raises(AssertionError, match="packed"):
        gemm.per_token_group_quant(x, q, scales.int())


def test_products_of_few_rows() -> None:
    x, weight, out = torch.randn(3, 64), torch.randn(8, 64), torch.empty(3, 8)
    gemm.tiny_gemm(x, weight, out)
    near(out, x.double() @ weight.double().T)


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
    elementwise.set_mla_kv_buffer(buffer, slots, torch.ones(2, 1, 4), 2 * torch.ones(2, 1, 2), 1)
    assert buffer[3, 0].tolist() == [1, 1, 1, 1, 2, 2]
    assert buffer.sum() == 16
    elementwise.set_mla_kv_buffer(
        buffer, torch.tensor([0, 4]), torch.ones(2, 1, 4), torch.ones(2, 1, 2), 1, 0
    )
    assert not buffer[0].any() and buffer[4].all()


def test_rows_of_a_reserved_slot_are_not_written() -> None:
    k, v, slots = torch.randn(3, 8), torch.randn(3, 8), torch.tensor([4, 0, 2])
    keys, values = torch.zeros(5, 8), torch.zeros(5, 8)
    elementwise.store_cache_unless_reserved(k, v, keys, values, slots, 5, 0)
    assert torch.equal(keys[[4, 2]], k[[0, 2]]) and torch.equal(values[[4, 2]], v[[0, 2]])
    assert not keys[[0, 1, 3]].any() and not values[[0, 1, 3]].any()
    with pytest.raises(AssertionError):
        elementwise.store_cache_unless_reserved(k, v, keys, values, slots, 4, 0)


def test_future_tokens() -> None:
    ids, future = torch.tensor([5, -2, -1]), torch.tensor([0, 70, 80])
    elementwise.resolve_future_token_ids(ids, future)
    assert ids.tolist() == [5, 80, 70]


def test_a_chain_of_drafts_is_followed_to_the_first_wrong_one() -> None:
    count = 4
    parents, chosen = torch.tensor([[-1, 0, 1]]), torch.tensor([[0, 1, 2]])
    mask = torch.ones(count * (6 + count), dtype=torch.bool)
    positions = torch.zeros(count, dtype=torch.long)
    index, following, sibling = (torch.full((1, count), -1, dtype=torch.long) for _ in range(3))
    speculative.build_tree_kernel_efficient(
        parents,
        chosen,
        torch.tensor([6]),
        mask,
        positions,
        index,
        following,
        sibling,
        1,
        3,
        count,
        0,
    )
    assert positions.tolist() == [6, 7, 8, 9]
    assert following.tolist() == [[1, 2, 3, -1]]
    assert torch.equal(
        mask.view(count, -1)[:, 6:], torch.ones(count, count, dtype=torch.bool).tril()
    )
    assert mask.view(count, -1)[:, :6].all()
    predicts, accepted = (
        torch.zeros(count, dtype=torch.int32),
        torch.full((1, count), -1, dtype=torch.int32),
    )
    number = torch.zeros(1, dtype=torch.int32)
    drafts, wanted = torch.tensor([[9, 20, 30, 41]]), torch.tensor([[20, 30, 40, 50]])
    speculative.verify_tree_greedy(
        predicts, accepted, number, drafts, index, following, sibling, wanted
    )
    assert number.item() == 2
    assert accepted.tolist() == [[0, 1, 2, -1]]
    assert predicts[:3].tolist() == [20, 30, 40]


def test_layernorm() -> None:
    x, w, b = torch.randn(5, 64), torch.randn(64), torch.randn(64)
    wide = x.double() - x.double().mean(-1, keepdim=True)
    wanted = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * w.double() + b.double()
    near(elementwise.layernorm(x, w, b, 1e-5), wanted)


def test_fp8_of_older_releases_gives_back_what_went_in() -> None:
    x, q = torch.randn(6, 256), torch.empty(6, 256).to(torch.float8_e4m3fn)
    groups, rows, whole = torch.empty(6, 2), torch.empty(6, 1), torch.zeros(1)
    gemm.sgl_per_token_group_quant_8bit(x, q, groups, 128, 1e-10, -448.0, 448.0)
    near(gemm.dequantize(q, groups, 1, 128), x, 0.05)
    gemm.sgl_per_token_quant_fp8(x, q, rows)
    near(q.float() * rows, x, 0.05)
    gemm.sgl_per_tensor_quant_fp8(x, q, whole, False)
    near(q.float() * whole, x, 0.05)
    gemm.sgl_per_tensor_quant_fp8(x, q, whole * 2, True)
    near(q.float() * whole * 2, x, 0.05)


def test_pages_of_all_layers_go_to_rows_that_hold_a_token() -> None:
    layers = [torch.randn(12, 6).bfloat16() for _ in range(3)]
    addresses, pages = torch.tensor([layer.data_ptr() for layer in layers]), torch.tensor([4, 10])
    host, staging = torch.zeros(10, 3, 6).bfloat16(), torch.empty(4, 3, 6).bfloat16()
    elementwise.launch_all_mla_lf_pf_staged(
        host, torch.tensor([7, 8, 1, 2]), staging, pages, addresses, 2
    )
    assert torch.equal(
        host[[7, 8, 1, 2]], torch.stack([layer[[4, 5, 10, 11]] for layer in layers], 1)
    )
    assert not host[[0, 3, 4, 5, 6, 9]].any()
    back = torch.zeros(12, 6).bfloat16()
    elementwise.launch_one_mla(back, torch.tensor([3, 0]), layers[0], torch.tensor([1, 2]))
    assert torch.equal(back[[3, 0]], layers[0][[1, 2]]) and not back[[1, 2, *range(4, 12)]].any()
