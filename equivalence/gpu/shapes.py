"""DeepSeek's checkpoints in small: configuration and the name, shape and role of every weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["linear", "embedding", "head", "norm", "bias", "router"]


@dataclass(frozen=True)
class Weight:
    """One tensor.

    Attributes:
        name: in the checkpoint.
        shape: rows (outputs) first.
        role: how it is filled; only `linear` is quantized.
    """

    name: str
    shape: tuple[int, ...]
    role: Role = "linear"


_V3: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "n_routed_experts": 16,
    "n_shared_experts": 1,
    "num_experts_per_tok": 4,
    "moe_intermediate_size": 256,
    "intermediate_size": 1024,
    "vocab_size": 129280,
    "q_lora_rank": 512,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_group": 4,
    "topk_group": 2,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "norm_topk_prob": True,
    "routed_scaling_factor": 2.5,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "hidden_act": "silu",
    "max_position_embeddings": 16384,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000,
    "tie_word_embeddings": False,
    "attention_bias": False,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "torch_dtype": "bfloat16",
    "num_nextn_predict_layers": 1,
    "ep_size": 1,
    "aux_loss_alpha": 0.001,
    "seq_aux": True,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
}
_FP8 = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}
_V32 = {
    "architectures": ["DeepseekV32ForCausalLM"],
    "model_type": "deepseek_v32",
    # The sparse kernels take 64 or 128 heads, and choose 2,048 tokens.
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "index_head_dim": 128,
    "index_n_heads": 64,
    "index_topk": 2048,
}
_V2_LITE = {
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "q_lora_rank": None,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "greedy",
    "scoring_func": "softmax",
    "norm_topk_prob": False,
    "routed_scaling_factor": 1.0,
    "num_nextn_predict_layers": 0,
    "rope_scaling": {**_V3["rope_scaling"], "mscale": 0.707, "mscale_all_dim": 0.707},
}

CHECKPOINTS: Mapping[str, dict[str, Any]] = {
    "v3-bf16": _V3,
    "v3-fp8": {**_V3, "quantization_config": _FP8},
    "v32-bf16": {**_V3, **_V32},
    "v32-fp8": {**_V3, **_V32, "quantization_config": _FP8},
    "v2-lite": {**_V3, **_V2_LITE},
    "v3-bf16-other": _V3,
    "v3-bf16-adapter": _V3,
}
"""Name of a checkpoint → its `config.json`. Widths of the attention are DeepSeek's own, since kernels depend on them;
the rest is small. One with `-other` has the same shape and other weights, one with `-adapter` is an adapter for it."""


def weights(config: Mapping[str, Any]) -> Iterator[Weight]:
    """Every weight of a checkpoint of this configuration, the next-token layers after the others."""
    hidden, vocabulary = config["hidden_size"], config["vocab_size"]
    layers, extra = config["num_hidden_layers"], config["num_nextn_predict_layers"]
    yield Weight("model.embed_tokens.weight", (vocabulary, hidden), "embedding")
    for layer in range(layers + extra):
        prefix = f"model.layers.{layer}"
        yield Weight(f"{prefix}.input_layernorm.weight", (hidden,), "norm")
        yield Weight(f"{prefix}.post_attention_layernorm.weight", (hidden,), "norm")
        yield from _attention(config, f"{prefix}.self_attn")
        yield from _mlp(config, f"{prefix}.mlp", dense=layer < config["first_k_dense_replace"])
        if layer >= layers:
            yield Weight(f"{prefix}.enorm.weight", (hidden,), "norm")
            yield Weight(f"{prefix}.hnorm.weight", (hidden,), "norm")
            # Never quantized, as in the published checkpoints.
            yield Weight(f"{prefix}.eh_proj.weight", (hidden, 2 * hidden), "router")
            yield Weight(f"{prefix}.shared_head.norm.weight", (hidden,), "norm")
            yield Weight(f"{prefix}.shared_head.head.weight", (vocabulary, hidden), "head")
            yield Weight(f"{prefix}.embed_tokens.weight", (vocabulary, hidden), "embedding")
    yield Weight("model.norm.weight", (hidden,), "norm")
    yield Weight("lm_head.weight", (vocabulary, hidden), "head")


def adapter(config: Mapping[str, Any], rank: int) -> Iterator[Weight]:
    """The two factors of each projection of the attention that an adapter of this rank changes."""
    targets = ("q_b_proj", "kv_b_proj", "o_proj")
    for layer in range(config["num_hidden_layers"]):
        for weight in _attention(config, f"model.layers.{layer}.self_attn"):
            if (name := weight.name.removesuffix(".weight")).endswith(targets):
                rows, columns = weight.shape
                yield Weight(f"base_model.model.{name}.lora_A.weight", (rank, columns))
                yield Weight(f"base_model.model.{name}.lora_B.weight", (rows, rank))


def _attention(config: Mapping[str, Any], prefix: str) -> Iterator[Weight]:
    hidden, heads, rank = config["hidden_size"], config["num_attention_heads"], config["q_lora_rank"]
    nope, rope, value, latent = (
        config[k] for k in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "kv_lora_rank")
    )
    if rank is None:
        yield Weight(f"{prefix}.q_proj.weight", (heads * (nope + rope), hidden))
    else:
        yield Weight(f"{prefix}.q_a_proj.weight", (rank, hidden))
        yield Weight(f"{prefix}.q_a_layernorm.weight", (rank,), "norm")
        yield Weight(f"{prefix}.q_b_proj.weight", (heads * (nope + rope), rank))
    yield Weight(f"{prefix}.kv_a_proj_with_mqa.weight", (latent + rope, hidden))
    yield Weight(f"{prefix}.kv_a_layernorm.weight", (latent,), "norm")
    yield Weight(f"{prefix}.kv_b_proj.weight", (heads * (nope + value), latent))
    yield Weight(f"{prefix}.o_proj.weight", (hidden, heads * value))
    if "index_n_heads" in config:
        count, size = config["index_n_heads"], config["index_head_dim"]
        yield Weight(f"{prefix}.indexer.wq_b.weight", (count * size, rank))
        yield Weight(f"{prefix}.indexer.wk.weight", (size, hidden))
        yield Weight(f"{prefix}.indexer.k_norm.weight", (size,), "norm")
        yield Weight(f"{prefix}.indexer.k_norm.bias", (size,), "bias")
        yield Weight(f"{prefix}.indexer.weights_proj.weight", (count, hidden), "router")


def _mlp(config: Mapping[str, Any], prefix: str, *, dense: bool) -> Iterator[Weight]:
    hidden, small = config["hidden_size"], config["moe_intermediate_size"]
    if dense:
        yield from _gated(prefix, hidden, config["intermediate_size"])
        return
    yield Weight(f"{prefix}.gate.weight", (config["n_routed_experts"], hidden), "router")
    if config["topk_method"] == "noaux_tc":
        yield Weight(f"{prefix}.gate.e_score_correction_bias", (config["n_routed_experts"],), "bias")
    for expert in range(config["n_routed_experts"]):
        yield from _gated(f"{prefix}.experts.{expert}", hidden, small)
    yield from _gated(f"{prefix}.shared_experts", hidden, small * config["n_shared_experts"])


def _gated(prefix: str, hidden: int, width: int) -> Iterator[Weight]:
    yield Weight(f"{prefix}.gate_proj.weight", (width, hidden))
    yield Weight(f"{prefix}.up_proj.weight", (width, hidden))
    yield Weight(f"{prefix}.down_proj.weight", (hidden, width))
