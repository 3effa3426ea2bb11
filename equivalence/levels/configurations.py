"""Published configurations of DeepSeek's models, written for the meta device: widths and counts, no weights."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARCHITECTURE = "hf_config.architectures"
"""Name under which an architecture is refused."""
_YARN = {
    "beta_fast": 32,
    "beta_slow": 1,
    "factor": 40,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 4096,
    "type": "yarn",
}
_V3: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "ep_size": 1,
    "first_k_dense_replace": 3,
    "hidden_act": "silu",
    "hidden_size": 7168,
    "initializer_range": 0.02,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_group": 8,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "norm_topk_prob": True,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "pretraining_tp": 1,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "rms_norm_eps": 1e-6,
    "rope_scaling": _YARN,
    "rope_theta": 10000,
    "routed_scaling_factor": 2.5,
    "scoring_func": "sigmoid",
    "tie_word_embeddings": False,
    "topk_group": 4,
    "topk_method": "noaux_tc",
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "v_head_dim": 128,
    "vocab_size": 129280,
}
_FP8 = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}
_V2 = {
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "first_k_dense_replace": 1,
    "hidden_size": 5120,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "n_routed_experts": 160,
    "n_shared_experts": 2,
    "norm_topk_prob": False,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 60,
    "routed_scaling_factor": 16.0,
    "scoring_func": "softmax",
    "topk_group": 3,
    "topk_method": "group_limited_greedy",
    "vocab_size": 102400,
}
_LITE = _V2 | {
    "hidden_size": 2048,
    "intermediate_size": 10944,
    "moe_intermediate_size": 1408,
    "n_group": 1,
    "n_routed_experts": 64,
    "num_attention_heads": 16,
    "num_hidden_layers": 27,
    "num_key_value_heads": 16,
    "q_lora_rank": None,
    "routed_scaling_factor": 1.0,
    "topk_group": 1,
    "topk_method": "greedy",
}
_NVFP4 = {
    "producer": {"name": "modelopt", "version": "0.33.0"},
    "quantization": {
        "quant_algo": "NVFP4",
        "kv_cache_quant_algo": "FP8",
        "group_size": 16,
        "exclude_modules": ["lm_head", *(f"model.layers.{i}.self_attn*" for i in range(61)), "model.layers.61*"],
    },
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """One model as the server would build it."""

    name: str
    config: dict[str, Any]
    capability: tuple[int, int] = (9, 0)
    options: tuple[str, ...] = ()
    draft: bool = False
    """The MTP layer of the model instead of the model."""
    load: str = ""
    """``fp8`` or ``bf16``: the names of the published checkpoint are loaded, too."""
    files: dict[str, Any] = field(default_factory=dict)
    """Further files of the checkpoint's folder, as JSON."""

    @property
    def asks(self) -> tuple[str, ...]:
        """The options, and the architecture: what a profile may refuse."""
        return (*self.options, ARCHITECTURE, self.config["architectures"][0])

    def write(self, folder: Path) -> Path:
        """The folder of a checkpoint without weights."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {"config.json": self.config, **self.files}.items():
            (folder / name).write_text(json.dumps(content, indent=1, sort_keys=True), "utf-8")
        return folder


_QUANTIZED = {**_V3, "quantization_config": _FP8}
_SPARSE = {"index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048}
_V32 = {**_QUANTIZED, **_SPARSE, "architectures": ["DeepseekV32ForCausalLM"], "model_type": "deepseek_v32"}
CONFIGURATIONS = (
    Configuration("R1 FP8, Hopper", _QUANTIZED, load="fp8"),
    Configuration(
        "R1 NVFP4, Blackwell", _V3, (10, 0), ("--quantization", "modelopt_fp4"), files={"hf_quant_config.json": _NVFP4}
    ),
    Configuration("R1 FP8, MTP layer", _QUANTIZED, draft=True),
    Configuration("V3.2 FP8, Hopper", _V32),
    Configuration("V2 bf16", {**_V3, **_V2}),
    Configuration("V2-Lite bf16", {**_V3, **_LITE}),
)
"""What is built on the meta device. V3 and R1 have one configuration."""
