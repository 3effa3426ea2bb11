"""Build a whole model on the meta device as the server would; write what it consists of. GIVEN.json RESULT.json."""

from __future__ import annotations

import inspect
import json
import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch

with open(sys.argv[1], encoding="utf-8") as opened:
    given = json.load(opened)

import contextlib

from sglang.srt.configs.load_config import LoadConfig
from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.model_executor.model_runner import ModelRunner
from sglang.srt.model_loader import loader
from sglang.srt.model_loader.utils import set_default_torch_dtype
from sglang.srt.server_args import PortArgs, prepare_server_args, set_global_server_args_for_scheduler


class Stop(Exception):
    """What stands before the loading of weights is done."""


def stop(*args: Any, **kwargs: Any) -> None:
    """In place of the loading."""
    raise Stop


def accepted(function: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Those of the values that the function takes: they come and go between releases."""
    return {name: value for name, value in values.items() if name in inspect.signature(function).parameters}


def config_of(args: Any) -> Any:
    """The configuration of the model, or of its MTP layer."""
    if not given.get("draft"):
        return ModelConfig.from_server_args(args)
    return ModelConfig.from_server_args(args, model_path=args.model_path, is_draft_model=True)


def linear(name: str, rows: int, columns: int, fp8: bool) -> Iterator[tuple[str, Any]]:
    """A weight of a checkpoint, with its scales."""
    kind = torch.float8_e4m3fn if fp8 else torch.bfloat16
    yield f"{name}.weight", torch.empty(rows, columns, dtype=kind, device="meta")
    if fp8:
        yield f"{name}.weight_scale_inv", torch.empty(-(-rows // 128), -(-columns // 128), device="meta")


def checkpoint(c: Any, fp8: bool) -> Iterator[tuple[str, Any]]:
    """Names and shapes of all tensors of the published checkpoint."""

    def whole(name: str, *shape: int) -> tuple[str, Any]:
        return name, torch.empty(*shape, dtype=torch.bfloat16, device="meta")

    def mlp(prefix: str, width: int) -> Iterator[tuple[str, Any]]:
        for name in ("gate_proj", "up_proj"):
            yield from linear(prefix + name, width, c.hidden_size, fp8)
        yield from linear(prefix + "down_proj", c.hidden_size, width, fp8)

    yield whole("model.embed_tokens.weight", c.vocab_size, c.hidden_size)
    yield whole("lm_head.weight", c.vocab_size, c.hidden_size)
    yield whole("model.norm.weight", c.hidden_size)
    heads, rope = c.num_attention_heads, c.qk_rope_head_dim
    for layer in range(c.num_hidden_layers):
        prefix = f"model.layers.{layer}."
        attention = f"{prefix}self_attn."
        for name in ("input_layernorm", "post_attention_layernorm"):
            yield whole(f"{prefix}{name}.weight", c.hidden_size)
        yield whole(f"{attention}q_a_layernorm.weight", c.q_lora_rank)
        yield whole(f"{attention}kv_a_layernorm.weight", c.kv_lora_rank)
        for name, rows, columns in (
            ("q_a_proj", c.q_lora_rank, c.hidden_size),
            ("q_b_proj", heads * (c.qk_nope_head_dim + rope), c.q_lora_rank),
            ("kv_a_proj_with_mqa", c.kv_lora_rank + rope, c.hidden_size),
            ("kv_b_proj", heads * (c.qk_nope_head_dim + c.v_head_dim), c.kv_lora_rank),
            ("o_proj", c.hidden_size, heads * c.v_head_dim),
        ):
            yield from linear(attention + name, rows, columns, fp8)
        if layer < c.first_k_dense_replace:
            yield from mlp(f"{prefix}mlp.", c.intermediate_size)
            continue
        yield whole(f"{prefix}mlp.gate.weight", c.n_routed_experts, c.hidden_size)
        yield f"{prefix}mlp.gate.e_score_correction_bias", torch.empty(c.n_routed_experts, device="meta")
        yield from mlp(f"{prefix}mlp.shared_experts.", c.moe_intermediate_size)
        for expert in range(c.n_routed_experts):
            yield from mlp(f"{prefix}mlp.experts.{expert}.", c.moe_intermediate_size)


class Kept(logging.Handler):
    """Warnings of the loading: names that found no parameter."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text."""
        self.lines.append(record.getMessage()[:300])


def described(items: Any) -> dict[str, list[Any]]:
    """Shape, type and class of tensors by name."""
    return {name: [list(x.shape), str(x.dtype), str(x.device), list(x.stride()), type(x).__name__] for name, x in items}


args = prepare_server_args(["--model-path", given["model"], "--skip-tokenizer-init", *given["options"]])
set_global_server_args_for_scheduler(args)
model_config = config_of(args)
ModelRunner.load_model = stop
runner = {
    # The model's own: a worker of the MTP layer finds the groups of processes that this one makes.
    "model_config": ModelConfig.from_server_args(args),
    "mem_fraction_static": 0.8,
    "gpu_id": 0,
    "tp_rank": 0,
    "tp_size": 1,
    "moe_ep_rank": 0,
    "moe_ep_size": 1,
    "pp_rank": 0,
    "pp_size": 1,
    "nccl_port": PortArgs.init_new(args).nccl_port,
    "server_args": args,
}
with contextlib.suppress(Stop):
    ModelRunner(**accepted(ModelRunner.__init__, runner))
load_config = LoadConfig(load_format="dummy")
given_config = {"model_config": model_config, "load_config": load_config, "packed_modules_mapping": {}}
wanted = accepted(loader._get_quantization_config, given_config)
with set_default_torch_dtype(model_config.dtype), torch.device("meta"):
    quantization = loader._get_quantization_config(**wanted)
    values = {"model_config": model_config, "load_config": load_config, "quant_config": quantization}
    model = loader._initialize_model(**accepted(loader._initialize_model, values))
result: dict[str, Any] = {
    "class": f"{type(model).__module__}.{type(model).__qualname__}",
    "parameters": described(model.named_parameters()),
    "buffers": described(model.named_buffers()),
    "modules": {name: f"{type(m).__module__}.{type(m).__qualname__}" for name, m in model.named_modules()},
    "quantization": type(quantization).__name__,
    "arguments": {
        name: getattr(args, name, None)
        for name in ("attention_backend", "moe_runner_backend", "quantization", "kv_cache_dtype", "sampling_backend")
    },
    "elements": sum(p.numel() for p in model.parameters()),
}
if given.get("load"):
    kept = Kept()
    logging.getLogger("sglang").addHandler(kept)
    count = 0

    def counted() -> Iterator[tuple[str, Any]]:
        """The checkpoint, counted."""
        global count
        for item in checkpoint(model_config.hf_config, given["load"] == "fp8"):
            count += 1
            yield item

    model.post_load_weights = lambda *a, **k: None
    with torch.device("meta"):
        model.load_weights(counted())
    result["loaded"] = {"names": count, "warnings": sorted(set(kept.lines))}
with open(sys.argv[2], "w", encoding="utf-8") as opened:
    json.dump(result, opened, sort_keys=True, default=str)
os._exit(0)
