"""Load a checkpoint, run prefill and decode; write hashes of all that was computed.

GIVEN.json RESULT.json.
"""

import dataclasses
import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from sglang.srt.server_args import PortArgs

from equivalence.processes import given, tell
from equivalence.simulation.worker import one_batch, start


def tensors(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all tensors within a value, with the way to them."""
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    parts: Any = ()
    if isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif isinstance(value, dict):
        parts = value.items()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = (
            (field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value)
        )
    for key, item in parts:
        yield from tensors(item, f"{name}.{key}")


def row(tensor: Any) -> list[Any]:
    """Return what is compared of a tensor."""
    data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return [list(tensor.shape), str(tensor.dtype), hashlib.sha256(data).hexdigest()[:16]]


asked = given()
torch.manual_seed(0)
torch.set_num_threads(1)
args = start(["--model-path", asked["model"], *asked["options"]])
port = PortArgs.init_new(args)
runner, tokenizer = one_batch.load_model(args, port, 0, 0)
inner = getattr(runner, "torch_runner", runner)
outputs: list[list[Any]] = []
experts: list[list[int]] = []


def watch(name: str, kind: str) -> Any:
    """Return a hook that keeps what a module gives."""

    def hook(module: Any, inputs: Any, output: Any) -> None:
        for place, tensor in tensors(output):
            outputs.append([f"{name}{place}", *row(tensor)])
        if kind == "TopK" and hasattr(output, "topk_ids"):
            experts.append(torch.bincount(output.topk_ids.flatten().clamp(min=0).long()).tolist())

    return hook


for name, module in inner.model.named_modules():
    module.register_forward_hook(watch(name, type(module).__name__))
parameters = {name: row(p) for name, p in inner.model.named_parameters()}
vocabulary = asked["vocabulary"] - 10
prompts = [
    [(7 * i + 3) % vocabulary + 2 for i in range(16)],
    [(11 * i + 5) % vocabulary + 2 for i in range(8)],
]
requests = one_batch.prepare_synthetic_inputs_for_latency_test(2, 16, prompts)
extend = getattr(runner, "extend", None) or partial(one_batch.extend, model_runner=runner)
decode = getattr(runner, "decode", None) or partial(one_batch.decode, model_runner=runner)
chosen, logits, batch = extend(requests)
steps = [{"logits": row(logits), "tokens": chosen.tolist()}]
for _ in range(asked["steps"]):
    chosen, logits = decode(chosen, batch)
    steps.append({"logits": row(logits), "tokens": chosen.tolist()})
pool = inner.token_to_kv_pool
buffers = getattr(pool, "kv_buffer", None)
if buffers is None:
    buffers = [*pool.k_buffer, *pool.v_buffer]
result = {
    "class": f"{type(inner.model).__module__}.{type(inner.model).__qualname__}",
    "parameters": parameters,
    "backend": str(args.attention_backend),
    "steps": steps,
    "finite": bool(torch.isfinite(logits.float()).all()),
    "outputs": outputs,
    "experts": experts,
    "cache": [*map(row, buffers)],
}
tell(result)
