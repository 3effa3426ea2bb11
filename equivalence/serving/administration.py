"""Requests that administer a server rather than use it: weights, adapters, sessions, pauses; and what this model cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equivalence.serving.script import Request, Scale

_NEEDS = frozenset({"administration"})
TENSORS = "tensors.base64"
"""In a checkpoint's folder: some of its tensors, serialized as `/update_weights_from_tensor` takes them."""
_TEXT = "The capital of France is"


def administration(scale: Scale, model: str) -> tuple[Request, ...]:
    """All of them, in the order in which they are sent; the server is afterwards as it was before, but for its weights'
    version."""

    def post(name: str, path: str, body: Mapping[str, Any] | None = None, *, generates: bool = False) -> Request:
        return Request(name, path, body, needs=_NEEDS, generates=generates)

    def generate(name: str, **body: Any) -> Request:
        params = {"temperature": 0, "max_new_tokens": scale.tokens, "ignore_eos": True}
        asked = {"text": _TEXT, "sampling_params": params, "return_logprob": True, **body}
        return Request(name, "/generate", asked, needs=_NEEDS)

    adapter = {"lora_name": "adapter", "lora_path": "no-such-folder"}
    return (
        # What a model that generates text refuses, and what needs a server that was started otherwise.
        post("embeddings", "/v1/embeddings", {"model": model, "input": _TEXT}),
        post("encode", "/encode", {"text": _TEXT}),
        post("classify", "/classify", {"text": _TEXT}),
        post("classify_openai", "/v1/classify", {"model": model, "input": _TEXT}),
        post("rerank", "/v1/rerank", {"query": _TEXT, "documents": ["Paris", "Rome"]}),
        post("lora_load", "/load_lora_adapter", adapter),
        post("lora_unload", "/unload_lora_adapter", {"lora_name": "adapter"}),
        generate("lora_generate", lora_path="adapter"),
        post(
            "score",
            "/v1/score",
            {"model": model, "query": _TEXT, "items": [" Paris", " Rome"], "label_token_ids": [5, 9]},
            generates=True,
        ),
        # One conversation in a session of its own.
        post("session_open", "/open_session", {"capacity_of_str_len": 1000, "session_id": "session"}),
        generate("session_first", session_params={"id": "session"}, rid="first"),
        generate("session_second", session_params={"id": "session", "rid": "first"}, rid="second", text=" and Rome"),
        post("session_close", "/close_session", {"session_id": "session"}),
        post("pause", "/pause_generation", {}),
        post("continue", "/continue_generation", {}),
        generate("after_pause"),
        post("weights_by_name", "/get_weights_by_name", {"name": "model.norm.weight", "truncate_size": 8}),
        post("weights_unknown", "/get_weights_by_name", {"name": "no.such.weight", "truncate_size": 8}),
        post("weights_missing", "/update_weights_from_disk", {"model_path": "no-such-folder"}),
        *(
            [
                post("weights_of_another", "/update_weights_from_disk", {"model_path": scale.other}),
                generate("after_weights_of_another"),
            ]
            if scale.other
            else []
        ),
        *(
            [post("weights_from_disk", "/update_weights_from_disk", {"model_path": scale.checkpoint})]
            if scale.checkpoint
            else []
        ),
        generate("after_weights"),
        *(
            request
            for name, folder in (("another", scale.other), ("own", scale.checkpoint))
            if scale.other
            for request in (
                post(f"tensor_of_{name}", "/update_weights_from_tensor", _tensors(folder)),
                generate(f"after_tensor_of_{name}"),
            )
        ),
        post("weight_version", "/update_weight_version", {"new_version": "second", "abort_all_requests": True}),
        generate("after_version"),
    )


def _tensors(folder: str) -> dict[str, Any]:
    """The tensors that whoever made the checkpoint wrote for this, as upstream's clients send them."""
    return {"serialized_named_tensors": [(Path(folder) / TENSORS).read_text("ascii")]}


def adapters(scale: Scale) -> tuple[Request, ...]:
    """With the adapter `first` that the server was started with, with none, and with the same one under a second name."""
    needs = frozenset({"adapters"})

    def generate(name: str, **body: Any) -> Request:
        params = {"temperature": 0, "max_new_tokens": scale.tokens, "ignore_eos": True}
        return Request(
            name, "/generate", {"text": _TEXT, "sampling_params": params, "return_logprob": True, **body}, needs=needs
        )

    second = {"lora_name": "second", "lora_path": scale.adapter}
    return (
        generate("adapter_first", lora_path="first"),
        generate("adapter_none"),
        Request("adapter_load", "/load_lora_adapter", second, needs=needs, generates=False),
        generate("adapter_second", lora_path="second"),
        Request("adapter_unload", "/unload_lora_adapter", {"lora_name": "second"}, needs=needs, generates=False),
        generate("adapter_gone", lora_path="second"),
        generate("adapter_first_again", lora_path="first"),
    )


def experts(scale: Scale) -> tuple[Request, ...]:
    """Record which experts a request asks, and have it written."""
    needs = frozenset({"experts"})
    params = {"temperature": 0, "max_new_tokens": scale.tokens, "ignore_eos": True}
    steps = [
        Request(f"experts_{what}", f"/{what}_expert_distribution_record", {}, needs=needs, generates=False)
        for what in ("start", "stop", "dump")
    ]
    asked = Request("experts_asked", "/generate", {"text": _TEXT, "sampling_params": params}, needs=needs)
    return (steps[0], asked, *steps[1:])
