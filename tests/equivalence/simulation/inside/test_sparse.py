"""References of sparse attention, its index of keys and its choice of them, against plain formulas
in float64.
"""

import torch

from equivalence.simulation.kernels import elementwise, sparse
from tests.equivalence.simulation.inside.plain import near, turns


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
        assert torch.equal(
            cache[page, place * 16 : place * 16 + 16].view(torch.float8_e4m3fn).float(),
            q[row].float(),
        )
        assert cache[page, 64 + place * 4 : 64 + place * 4 + 4].view(torch.float32) == scales[row]
    assert int((cache != 0).any(-1).sum()) == 2


def test_an_indexed_key_is_normalized_and_rotated() -> None:
    x, w, b = torch.randn(3, 16), torch.randn(16), torch.randn(16)
    angles, cos_sin = turns(8)
    positions, out = torch.tensor([0, 3, 7]), torch.empty(3, 16)
    sparse.k_indexer_norm_rope(x, out, w, b, cos_sin, positions, 1e-5)
    plain = elementwise.layernorm(x, w, b, 1e-5)
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
    cos_sin, positions = (
        torch.cat([torch.ones(8, 4), torch.zeros(8, 4)], -1),
        torch.tensor([0, 3, 7]),
    )
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
    alike = torch.einsum("qhd,kd->qhk", q.double(), kv[0].double() * kv[1].double()[:, None]).clamp(
        min=0
    )
    wanted = (alike * weights.double()[..., None]).sum(1)
    ragged = sparse.fp8_mqa_logits(q, kv, weights, torch.tensor([0, 2]), torch.tensor([6, 5]))
    near(ragged[0], wanted[0])
    near(ragged[1, 2:5], wanted[1, 2:5])
    assert torch.isinf(ragged[1]).tolist() == [True, True, False, False, False, True]
    paged = sparse.fp8_paged_mqa_logits(
        q[None],
        cache.view(3, size, 1, width + 4),
        weights,
        torch.tensor([[6, 5]]),
        table,
        torch.zeros(1),
        8,
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
    assert sparse.fast_topk_transform_ragged_fused(scores, lengths, offsets, 3).tolist() == [
        [10, 12, 13],
        [20, 21, -1],
    ]
    table = torch.tensor([[7, 6, 5, 4, 3, 2]])
    starts = torch.tensor([0, 2])
    assert sparse.fast_topk_transform_fused(scores, lengths, table, starts, 3).tolist() == [
        [7, 5, 4],
        [7, 6, -1],
    ]
    out, raw = (torch.zeros(2, 3, dtype=torch.int32) for _ in range(2))
    plan = torch.ones(3, 2, dtype=torch.int32)
    sparse.topk_plan(lengths, plan, 0)
    sparse.topk_transform(scores, lengths, torch.tensor([[3, 1, 2], [0, 4, 5]]), out, 2, plan, raw)
    assert out.tolist() == [[6, 2, 3], [0, 1, -1]] and raw.tolist() == [[0, 2, 3], [0, 1, -1]]
    again, pages = torch.zeros_like(out), torch.tensor([[3, 1, 2], [0, 4, 5]])
    sparse.topk_transform_paged(scores, lengths, pages, again, 2, plan)
    assert torch.equal(again, out)
    sparse.topk_transform_paged(scores, lengths, None, again, 2, plan)
    assert torch.equal(again, raw)
    sparse.topk_transform_ragged(scores, lengths, None, offsets, again)
    assert again.tolist() == [[10, 12, 13], [20, 21, -1]]


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
    few = torch.tensor([2, 0])
    shorter = sparse.flash_mla_sparse_fwd(q, kv, indices, 0.2, 16, None, few, use_legacy=True)
    near(shorter[0][0], scores[:, :2].softmax(-1) @ own[:2, :16])
