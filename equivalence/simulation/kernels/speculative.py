"""Trees of drafted tokens (EAGLE, MTP)."""

import torch

from equivalence.simulation.kernels.registry import Tensor, jit, kernel

_SOURCE = "sgl-kernel/csrc/speculative/eagle_utils.cu"


@jit("speculative_tree", "build_tree_kernel_efficient", source="speculative/tree.cuh")
@kernel("sgl_kernel", source=_SOURCE)
def build_tree_kernel_efficient(
    parent_list: Tensor,
    selected_index: Tensor,
    verified_seq_len: Tensor,
    tree_mask: Tensor,
    positions: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    topk: int,
    depth: int,
    draft_token_num: int,
    tree_mask_mode: int,
) -> None:
    """Positions, links and the attention mask of the drafted tokens of each request."""
    assert int(tree_mask_mode) == 0, "only the full mask has a reference"
    base = 0
    for request, length in enumerate(verified_seq_len.tolist()):
        chosen = selected_index[request].tolist()
        given = parent_list[request].tolist() if parent_list.numel() else []
        # Index in `chosen` of each drafted token's parent, -1 for the root.
        parents = [
            chosen.index(given[node // topk]) if node >= topk else -1
            for node in chosen[: draft_token_num - 1]
        ]
        first = request * draft_token_num
        retrive_index[request, :draft_token_num] = torch.arange(first, first + draft_token_num)
        for token in range(draft_token_num - 1, 0, -1):
            above = parents[token - 1] + 1
            if int(retrive_next_token[request, above]) != -1:
                retrive_next_sibling[request, token] = int(retrive_next_token[request, above])
            retrive_next_token[request, above] = token
        for token in range(draft_token_num):
            own = base + (length + draft_token_num) * token + length + 1
            tree_mask[own - 1] = True
            tree_mask[own : own + draft_token_num - 1] = False
            node, steps = token - 1, 0
            while node >= 0:
                steps += 1
                tree_mask[own + node] = True
                node = parents[node]
            positions[first + token] = length + steps
        base += draft_token_num * (draft_token_num + length)


@jit("speculative_tree", "verify_tree_greedy", source="speculative/tree.cuh")
@kernel("sgl_kernel", source=_SOURCE)
def verify_tree_greedy(
    predicts: Tensor,
    accept_index: Tensor,
    accept_token_num: Tensor,
    candidates: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    target_predict: Tensor,
) -> None:
    """Follow the tree while a drafted token is what the model itself chooses."""
    target = target_predict.reshape(-1)
    for request in range(candidates.shape[0]):
        last = accept_index[request, 0] = int(retrive_index[request, 0])
        accepted = current = 0
        while accepted + 1 < accept_index.shape[1]:
            current = int(retrive_next_token[request, current])
            while current != -1 and int(candidates[request, current]) != int(target[last]):
                current = int(retrive_next_sibling[request, current])
            if current == -1:
                break
            predicts[last] = target[last]
            accepted += 1
            last = accept_index[request, accepted] = int(retrive_index[request, current])
        accept_token_num[request] = accepted
        predicts[last] = target[last]
