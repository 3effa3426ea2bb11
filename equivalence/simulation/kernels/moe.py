"""Routing of tokens to experts, and their sums."""

import torch

from equivalence.simulation.kernels.registry import Tensor, jit, kernel


@kernel("sgl_kernel", source="sgl-kernel/csrc/moe/moe_align_kernel.cu")
@jit("moe_align", "moe_align_block_size", source="moe/moe_align_kernel.cu")
def moe_align_block_size(
    topk_ids: Tensor,
    num_experts: int,
    block_size: int,
    sorted_token_ids: Tensor,
    experts_ids: Tensor,
    num_tokens_post_pad: Tensor,
    cumsum_buffer: Tensor,
    pad_sorted_token_ids: bool = False,
) -> None:
    """Sort token slots by expert, each expert's padded to whole blocks.

    `num_experts` counts one more in front, for ids of -1: experts that are on another device.
    """
    experts, slots = (topk_ids.reshape(-1).long() + 1).sort(stable=True)
    counts = torch.bincount(experts, minlength=num_experts)
    blocks = -(-counts // block_size)
    ends = (blocks * block_size).cumsum(0)
    # Each expert's slots move on by the padding of those before it.
    shift = ends - blocks * block_size - counts.cumsum(0) + counts
    if pad_sorted_token_ids:
        sorted_token_ids.fill_(len(slots))
    sorted_token_ids[torch.arange(len(slots)) + shift[experts]] = slots.to(sorted_token_ids.dtype)
    experts_ids[: int(blocks.sum())] = (
        torch.arange(-1, num_experts - 1).repeat_interleave(blocks).to(experts_ids.dtype)
    )
    num_tokens_post_pad.fill_(int(ends[-1]))
    cumsum_buffer[: num_experts + 1] = torch.nn.functional.pad(ends, (1, 0)).to(cumsum_buffer.dtype)


@kernel("sgl_kernel", source="sgl-kernel/csrc/moe/moe_sum_reduce.cu")
@kernel("sgl_kernel", "moe_sum", source="sgl-kernel/csrc/moe/moe_sum.cu")
def moe_sum_reduce(input: Tensor, output: Tensor, routed_scaling_factor: float = 1.0) -> None:
    """Sum of each token's experts, scaled."""
    output.copy_((input.float().sum(1) * routed_scaling_factor).to(output.dtype))


@kernel("flashinfer.fused_moe", source="flashinfer csrc/fused_moe/noAuxTcKernels.cu")
def fused_topk_deepseek(
    scores: Tensor,
    bias: Tensor,
    n_group: int,
    topk_group: int,
    topk: int,
    routed_scaling_factor: float,
    topk_values: Tensor,
    topk_indices: Tensor,
    launch_with_pdl: bool = True,
) -> None:
    """Experts of the best groups by biased sigmoid; weights by the sigmoid without bias, normalised
    and scaled.
    """
    weights, indices = route(scores, bias, n_group, topk_group, topk)
    topk_values.copy_(weights * routed_scaling_factor)
    topk_indices.copy_(indices)


@kernel("sgl_kernel", source="sgl-kernel/csrc/moe/moe_fused_gate.cu")
def moe_fused_gate(
    input_tensor: Tensor,
    bias: Tensor,
    num_expert_group: int,
    topk_group: int,
    topk: int,
    num_fused_shared_experts: int = 0,
    routed_scaling_factor: float = 0,
    apply_routed_scaling_factor_on_output: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the same, as older releases call it: weights and indices."""
    assert num_fused_shared_experts == 0, "shared experts among the routed ones have no reference"
    weights, indices = route(input_tensor, bias, num_expert_group, topk_group, topk)
    scale = routed_scaling_factor if apply_routed_scaling_factor_on_output else 1.0
    return weights * scale, indices.to(torch.int32)


def route(
    scores: Tensor, bias: Tensor, n_group: int, topk_group: int, topk: int
) -> tuple[Tensor, Tensor]:
    """Normalised weights and indices of the chosen experts, best first."""
    probability = torch.sigmoid(scores.float())
    biased = probability + bias.float()
    if n_group > 1:
        groups = biased.view(biased.shape[0], n_group, -1)
        best = groups.topk(2, -1)[0].sum(-1)
        kept = torch.zeros_like(best).scatter_(1, best.topk(topk_group, -1)[1], 1)
        biased = biased.masked_fill(kept.repeat_interleave(groups.shape[-1], 1) == 0, float("-inf"))
    indices = biased.topk(topk, -1)[1]
    chosen = probability.gather(1, indices)
    return chosen / (chosen.sum(-1, keepdim=True) + 1e-20), indices
