"""Load a checkpoint, run prefill and decode; write hashes of all that was computed. GIVEN.json RESULT.json."""

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

import torch

from equivalence.processes import given, tell

try:
    from sglang.benchmark import one_batch
except ImportError:
    from sglang import bench_one_batch as one_batch  # Where it was before release 0.5.12.
from sglang.srt.server_args import PortArgs, prepare_server_args


def tensors(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All tensors within a value, with the way to them."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from tensors(item, f"{name}.{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors(item, f"{name}.{key}")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from tensors(getattr(value, field.name, None), f"{name}.{field.name}")


def hashed(tensor: Any) -> str:
    """Digest of the bytes."""
    data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return hashlib.sha256(data).hexdigest()[:16]


def row(tensor: Any) -> list[Any]:
    """What is compared of a tensor."""
    return [list(tensor.shape), str(tensor.dtype), hashed(tensor)]


asked = given()
torch.manual_seed(0)
torch.set_num_threads(1)
args = prepare_server_args(["--model-path", asked["model"], *asked["options"]])
port = PortArgs.init_new(args)
runner, tokenizer = one_batch.load_model(args, port, 0, 0)
inner = getattr(runner, "torch_runner", runner)
outputs: list[list[Any]] = []
experts: list[list[int]] = []


def watch(name: str, kind: str) -> Any:
    """A hook that keeps what a module gives."""

    def hook(module: Any, inputs: Any, output: Any) -> None:
        for place, tensor in tensors(output):
            outputs.append([f"{name}{place}", *row(tensor)])
        if kind == "TopK" and hasattr(output, "topk_ids"):
            experts.append(torch.bincount(output.topk_ids.flatten().clamp(min=0).long()).tolist())

    return hook


for name, module in inner.model.named_modules():
    module.register_forward_hook(watch(name, type(module).__name__))
result: dict[str, Any] = {
    "class": f"{type(inner.model).__module__}.{type(inner.model).__qualname__}",
    "parameters": {name: row(p) for name, p in inner.model.named_parameters()},
    "backend": str(args.attention_backend),
}
vocabulary = asked["vocabulary"] - 10
prompts = [[(7 * i + 3) % vocabulary + 2 for i in range(16)], [(11 * i + 5) % vocabulary + 2 for i in range(8)]]
requests = one_batch.prepare_synthetic_inputs_for_latency_test(2, 16, prompts)
if hasattr(runner, "extend"):
    extend, decode = runner.extend, runner.decode
else:
    extend = lambda requests: one_batch.extend(requests, runner)  # noqa: E731
    decode = lambda ids, batch: one_batch.decode(ids, batch, runner)  # noqa: E731
chosen, logits, batch = extend(requests)
steps = [{"logits": row(logits), "tokens": chosen.tolist()}]
for _ in range(asked["steps"]):
    chosen, logits = decode(chosen, batch)
    steps.append({"logits": row(logits), "tokens": chosen.tolist()})
finite = bool(torch.isfinite(logits.float()).all())
pool = inner.token_to_kv_pool
buffers = getattr(pool, "kv_buffer", None)
if buffers is None:
    buffers = [*pool.k_buffer, *pool.v_buffer]
result |= {
    "steps": steps,
    "finite": finite,
    "outputs": outputs,
    "experts": experts,
    "cache": [row(buffer) for buffer in buffers],
}
tell(result)
