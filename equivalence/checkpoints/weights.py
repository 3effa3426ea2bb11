"""Name, shape and role of every weight of a checkpoint; its configuration by name."""

import json
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, Literal, NamedTuple

_DECLARED = json.loads((Path(__file__).parent / "configurations.json").read_text("utf-8"))

Role = Literal["linear", "embedding", "head", "norm", "bias", "router"]


class Weight(NamedTuple):
    """One tensor: its name in the checkpoint, its shape (outputs first), how it is filled.

    Only `linear` is quantized.
    """

    name: str
    shape: tuple[int, ...]
    role: Role = "linear"


def configuration(name: str, **changes: Any) -> dict[str, Any]:
    """`config.json` of a checkpoint, as published or small.

    Raises KeyError where `configurations.json` declares none of the name.
    """
    declared = dict(_DECLARED[name])
    wider = declared.pop("extends", "")
    return {**(configuration(wider) if wider else {}), **declared, **changes}


def small(
    family: str = "v3",
    *,
    dense: int = 1,
    moe: int = 1,
    mtp: int = 0,
    hidden: int = 256,
    **changes: Any,
) -> dict[str, Any]:
    """`config.json` of a checkpoint that a simulation can compute.

    Args:
        family: a published one: `v3` (and R1), `v3-fp8`, `v32`, `v2`, `v2-lite`, `qwen3` (dense),
            `qwen3-moe`. dense, moe, mtp: layers of each kind.
        hidden: width of what passes through.
        changes: further keys.
    """
    published = configuration(family)
    narrow = {
        **published,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "max_position_embeddings": 4096,
        "moe_intermediate_size": 128,
        "num_attention_heads": 4,
        "num_experts_per_tok": 2,
        "num_hidden_layers": dense + moe,
    }
    if "kv_lora_rank" not in published:
        experts = (
            {"num_experts": 8, "mlp_only_layers": list(range(dense))}
            if "num_experts" in published
            else {}
        )
        return {**narrow, "num_key_value_heads": 2, **experts, **changes}
    return {
        **narrow,
        "first_k_dense_replace": dense,
        "n_group": min(2, published["n_group"]),
        "n_routed_experts": 8,
        "num_key_value_heads": 4,
        "num_nextn_predict_layers": mtp,
        "q_lora_rank": published["q_lora_rank"] and 128,
        "topk_group": 1,
        **changes,
    }


def weights(config: Mapping[str, Any]) -> Iterator[Weight]:
    """Yield every weight of a checkpoint of this configuration, the next-token layers after the
    others.
    """
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    layers, extra = config["num_hidden_layers"], config.get("num_nextn_predict_layers", 0)
    yield Weight("model.embed_tokens.weight", (vocabulary, hidden), "embedding")
    first_sparse = range(config.get("first_k_dense_replace", layers + extra))
    dense = config["mlp_only_layers"] if "num_experts" in config else first_sparse
    for layer in range(layers + extra):
        prefix = f"model.layers.{layer}"
        yield from _named(
            prefix, "norm", input_layernorm=(hidden,), post_attention_layernorm=(hidden,)
        )
        yield from _attention(config, f"{prefix}.self_attn")
        yield from _mlp(config, f"{prefix}.mlp", dense=layer in dense)
        if layer >= layers:
            yield from _named(prefix, "norm", enorm=(hidden,), hnorm=(hidden,))
            # Never quantized, as in the published checkpoints.
            yield from _named(prefix, "router", eh_proj=(hidden, 2 * hidden))
            yield from _named(f"{prefix}.shared_head", "norm", norm=(hidden,))
            yield from _named(f"{prefix}.shared_head", "head", head=(vocabulary, hidden))
            yield from _named(prefix, "embedding", embed_tokens=(vocabulary, hidden))
    yield Weight("model.norm.weight", (hidden,), "norm")
    yield Weight("lm_head.weight", (vocabulary, hidden), "head")


def block_size(config: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return rows and columns of the blocks that share a scale of FP8; None without FP8."""
    rows, columns = (config.get("quantization_config") or {}).get("weight_block_size") or (0, 0)
    return (rows, columns) if rows else None


def stored_bytes(config: Mapping[str, Any]) -> int:
    """Tell how many bytes the weights take, without the scales of their blocks."""
    linear = 1 if block_size(config) else 2
    total = 0
    for weight in weights(config):
        total += prod(weight.shape) * (linear if weight.role == "linear" else 2)
    return total


def _named(prefix: str, role: Role = "linear", **shapes: tuple[int, ...]) -> Iterator[Weight]:
    return (Weight(f"{prefix}.{name}.weight", shape, role) for name, shape in shapes.items())


def adapter(config: Mapping[str, Any], rank: int) -> Iterator[Weight]:
    """Yield the two factors of each projection of the attention that an adapter of this rank
    changes.
    """
    targets = ("q_b_proj", "kv_b_proj", "o_proj")
    for layer in range(config["num_hidden_layers"]):
        for weight in _attention(config, f"model.layers.{layer}.self_attn"):
            if (name := weight.name.removesuffix(".weight")).endswith(targets):
                rows, columns = weight.shape
                yield Weight(f"base_model.model.{name}.lora_A.weight", (rank, columns))
                yield Weight(f"base_model.model.{name}.lora_B.weight", (rows, rank))


def _attention(config: Mapping[str, Any], prefix: str) -> Iterator[Weight]:
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    if "kv_lora_rank" not in config:
        # Keys and values of their own, with a norm on queries and keys: Qwen3's.
        size = config["head_dim"]
        queries, keys = heads * size, config["num_key_value_heads"] * size
        yield from _named(
            prefix, q_proj=(queries, hidden), k_proj=(keys, hidden), v_proj=(keys, hidden)
        )
        yield from _named(prefix, o_proj=(hidden, queries))
        yield from _named(prefix, "norm", q_norm=(size,), k_norm=(size,))
        return
    rank = config["q_lora_rank"]
    nope, rope = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
    value, latent = config["v_head_dim"], config["kv_lora_rank"]
    if rank is None:
        yield from _named(prefix, q_proj=(heads * (nope + rope), hidden))
    else:
        yield from _named(prefix, q_a_proj=(rank, hidden))
        yield from _named(prefix, "norm", q_a_layernorm=(rank,))
        yield from _named(prefix, q_b_proj=(heads * (nope + rope), rank))
    yield from _named(prefix, kv_a_proj_with_mqa=(latent + rope, hidden))
    yield from _named(prefix, "norm", kv_a_layernorm=(latent,))
    yield from _named(
        prefix, kv_b_proj=(heads * (nope + value), latent), o_proj=(hidden, heads * value)
    )
    if "index_n_heads" in config:
        count, size = config["index_n_heads"], config["index_head_dim"]
        yield from _named(f"{prefix}.indexer", wq_b=(count * size, rank), wk=(size, hidden))
        yield from _named(f"{prefix}.indexer", "norm", k_norm=(size,))
        yield Weight(f"{prefix}.indexer.k_norm.bias", (size,), "bias")
        yield from _named(f"{prefix}.indexer", "router", weights_proj=(count, hidden))


def _mlp(config: Mapping[str, Any], prefix: str, *, dense: bool) -> Iterator[Weight]:
    hidden = config["hidden_size"]
    if dense:
        yield from _gated(prefix, hidden, config["intermediate_size"])
        return
    small, experts = (
        config["moe_intermediate_size"],
        config.get("n_routed_experts") or config["num_experts"],
    )
    yield Weight(f"{prefix}.gate.weight", (experts, hidden), "router")
    if config.get("topk_method") == "noaux_tc":
        yield Weight(f"{prefix}.gate.e_score_correction_bias", (experts,), "bias")
    for expert in range(experts):
        yield from _gated(f"{prefix}.experts.{expert}", hidden, small)
    if shared := config.get("n_shared_experts"):
        yield from _gated(f"{prefix}.shared_experts", hidden, small * shared)


def _gated(prefix: str, hidden: int, width: int) -> Iterator[Weight]:
    return _named(
        prefix, gate_proj=(width, hidden), up_proj=(width, hidden), down_proj=(hidden, width)
    )
