"""Build a whole model on the meta device as the server would; write what it consists of.

GIVEN.json RESULT.json.
"""

import contextlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from logging.handlers import BufferingHandler
from typing import Any

import torch
from sglang.srt.configs.load_config import LoadConfig
from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.model_executor.model_runner import ModelRunner
from sglang.srt.model_loader import loader
from sglang.srt.model_loader.utils import set_default_torch_dtype
from sglang.srt.server_args import PortArgs

from equivalence.checkpoints.weights import weights
from equivalence.processes import given, tell
from equivalence.simulation.worker import accepted, one_batch, start

CHOSEN = (
    "attention_backend",
    "moe_runner_backend",
    "quantization",
    "kv_cache_dtype",
    "sampling_backend",
)
asked = given()


class Stop(Exception):
    """What stands before the loading of weights is done."""


def stop(*args: Any, **kwargs: Any) -> None:
    """In place of the loading."""
    raise Stop


def checkpoint(fp8: bool) -> Iterator[tuple[str, Any]]:
    """Yield names and tensors of the published checkpoint, but for those of the MTP layer."""
    with open(os.path.join(asked["model"], "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for weight in weights({**config, "num_nextn_predict_layers": 0}):
        small = fp8 and weight.role == "linear"
        wide = weight.name.endswith("e_score_correction_bias")
        kind = torch.float8_e4m3fn if small else torch.float32 if wide else torch.bfloat16
        yield weight.name, torch.empty(weight.shape, dtype=kind, device="meta")
        if small:
            blocks = [-(-size // 128) for size in weight.shape]
            yield f"{weight.name}_scale_inv", torch.empty(blocks, device="meta")


def described(items: Any) -> dict[str, list[Any]]:
    """Shape, type and class of tensors by name."""
    return {
        name: [list(x.shape), str(x.dtype), str(x.device), list(x.stride()), type(x).__name__]
        for name, x in items
    }


args = start(["--model-path", asked["model"], "--skip-tokenizer-init", *asked["options"]])
draft = {"model_path": args.model_path, "is_draft_model": True} if asked.get("draft") else {}
model_config = ModelConfig.from_server_args(args, **draft)
# The runner of the whole model: a worker of the MTP layer finds the groups of processes that this
# one makes.
ModelRunner.load_model = stop
with contextlib.suppress(Stop):
    one_batch.load_model(args, PortArgs.init_new(args), 0, 0)
load_config = LoadConfig(load_format="dummy")
given_config = {
    "model_config": model_config,
    "load_config": load_config,
    "packed_modules_mapping": {},
}
wanted = accepted(loader._get_quantization_config, given_config)
with set_default_torch_dtype(model_config.dtype), torch.device("meta"):
    quantization = loader._get_quantization_config(**wanted)
    values = {
        "model_config": model_config,
        "load_config": load_config,
        "quant_config": quantization,
    }
    model = loader._initialize_model(**accepted(loader._initialize_model, values))
result: dict[str, Any] = {
    "class": f"{type(model).__module__}.{type(model).__qualname__}",
    "parameters": described(model.named_parameters()),
    "buffers": described(model.named_buffers()),
    "modules": {
        name: f"{type(m).__module__}.{type(m).__qualname__}" for name, m in model.named_modules()
    },
    "quantization": type(quantization).__name__,
    "arguments": {name: getattr(args, name, None) for name in CHOSEN},
    "elements": sum(p.numel() for p in model.parameters()),
}
if asked.get("load"):
    # Warnings tell of names that found no parameter.
    kept = BufferingHandler(sys.maxsize)
    kept.setLevel(logging.WARNING)
    logging.getLogger("sglang").addHandler(kept)
    published = list(checkpoint(asked["load"] == "fp8"))
    model.post_load_weights = lambda *a, **k: None
    with torch.device("meta"):
        model.load_weights(iter(published))
    warnings = {record.getMessage()[:300] for record in kept.buffer}
    result["loaded"] = {"names": len(published), "warnings": sorted(warnings)}
tell(result, sort_keys=True, default=str)
