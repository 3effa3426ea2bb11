"""The declared list of requests, from which `script` chooses."""

from __future__ import annotations

import json
import re
from typing import Any

from equivalence.serving.administration import adapters, administration, experts
from equivalence.serving.script import Request, Scale

_PROMPTS = (
    "The capital of France is",
    "Once upon a time, in a land far away,",
    "def fibonacci(n):",
)
_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
            "required": ["city"],
        },
    },
}
_GRAMMAR, _TOOLS, _REASONING = frozenset({"grammar"}), frozenset({"tools"}), frozenset({"reasoning"})
_PROCESSORS = frozenset({"processors"})


def requests(scale: Scale, model: str) -> tuple[Request, ...]:
    """All requests, whatever they need, in the order in which they are sent."""
    return (
        *_facts(),
        *_native(scale),
        *_openai(scale, model),
        *_grammar(scale, model),
        *_parsers(scale, model),
        *administration(scale, model),
        *adapters(scale),
        *experts(scale),
        *_bad(),
    )


def _facts() -> tuple[Request, ...]:
    return (
        _get("health", "/health"),
        _get("model_info", "/get_model_info"),
        _get("models", "/v1/models"),
        _get("openapi", "/openapi.json"),
    )


def _native(scale: Scale) -> tuple[Request, ...]:
    n = scale.tokens
    plain = {"temperature": 0, "max_new_tokens": n, "ignore_eos": True}

    def generate(
        name: str, params: dict[str, Any] | None = None, needs: frozenset[str] = frozenset(), **body: Any
    ) -> Request:
        return Request(name, "/generate", {"sampling_params": {**plain, **(params or {})}, **body}, needs=needs)

    long_ids = [(7 * i * i + 13 * i) % 5000 + 100 for i in range(scale.prompt)]
    return (
        *(
            generate(f"generate_{i}", text=text, return_logprob=True, logprob_start_len=0)
            for i, text in enumerate(_PROMPTS)
        ),
        generate("generate_repeated", text=_PROMPTS[0], return_logprob=True),
        generate("generate_ids", input_ids=[5, 9, 23, 51, 77], return_logprob=True, top_logprobs_num=3),
        generate("generate_stream", text=_PROMPTS[1], stream=True),
        generate(
            "generate_penalties",
            {"frequency_penalty": 0.7, "presence_penalty": 0.3, "repetition_penalty": 1.2, "min_new_tokens": 2},
            text=_PROMPTS[2],
            return_logprob=True,
        ),
        generate("generate_top_k_one", {"temperature": 0.7, "top_k": 1}, text=_PROMPTS[0], return_logprob=True),
        generate("generate_stop_token", {"stop_token_ids": [1], "ignore_eos": False}, text=_PROMPTS[0]),
        generate("generate_logprob_ids", text=_PROMPTS[1], return_logprob=True, token_ids_logprob=[1, 2, 3]),
        generate(
            "thinking_budget",
            {"custom_params": {"thinking_budget": 1}},
            _PROCESSORS,
            # What opens a thought, and two tokens of it.
            input_ids=[5, 9, 128798, 23, 51],
            custom_logit_processor=_processor("DeepSeekR1ThinkingBudgetLogitProcessor"),
            return_logprob=True,
        ),
        generate(
            "disallowed_tokens",
            {"custom_params": {"token_ids": list(range(0, 129280, 2))}},
            _PROCESSORS,
            text=_PROMPTS[0],
            custom_logit_processor=_processor("DisallowedTokensLogitsProcessor"),
        ),
        generate("prompt_in_chunks", input_ids=long_ids, needs=frozenset({"chunks"}), return_logprob=True),
        generate("prompt_long", input_ids=long_ids, needs=frozenset({"long"}), return_logprob=True),
        generate("prompt_long_again", input_ids=[*long_ids, 7], needs=frozenset({"long"}), return_logprob=True),
        Request("tokenize", "/v1/tokenize", {"model": "served", "prompt": _PROMPTS[0]}, generates=False),
        Request("detokenize", "/v1/detokenize", {"model": "served", "tokens": [5, 9, 23]}, generates=False),
        Request("flush_cache", "/flush_cache", generates=False),
        generate("generate_after_flush", text=_PROMPTS[0], return_logprob=True, logprob_start_len=0),
    )


def _processor(name: str) -> str:
    """One of upstream's logit processors as a client sends it: pickled by reference (protocol 0)."""
    return json.dumps({"callable": f"csglang.srt.sampling.custom_logit_processor\n{name}\n.".encode().hex()})


def _openai(scale: Scale, model: str) -> tuple[Request, ...]:
    n = scale.tokens
    ask = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    chat = {"model": model, "messages": ask, "max_tokens": n, "temperature": 0}
    return (
        Request("chat", "/v1/chat/completions", {**chat, "logprobs": True, "top_logprobs": 2}),
        Request(
            "chat_stream", "/v1/chat/completions", {**chat, "stream": True, "stream_options": {"include_usage": True}}
        ),
        Request(
            "chat_turns",
            "/v1/chat/completions",
            {
                **chat,
                "messages": [*ask, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Who?"}],
            },
        ),
        Request(
            "completions",
            "/v1/completions",
            {"model": model, "prompt": _PROMPTS[2], "max_tokens": n, "temperature": 0, "logprobs": 2, "echo": True},
        ),
    )


def _grammar(scale: Scale, model: str) -> tuple[Request, ...]:
    n = max(scale.tokens, 24)
    ask = [{"role": "user", "content": "Give me a person."}]
    shape = {"type": "json_schema", "json_schema": {"name": "person", "schema": _SCHEMA}}
    body = {"model": model, "messages": ask, "max_tokens": n, "temperature": 0}
    native = {"temperature": 0, "max_new_tokens": n}
    return (
        Request("json_schema", "/v1/chat/completions", {**body, "response_format": shape}, needs=_GRAMMAR),
        Request(
            "regex",
            "/generate",
            {
                "text": _PROMPTS[0],
                "sampling_params": {**native, "regex": "(Paris|Rome), [0-9]{2}"},
                "return_logprob": True,
            },
            needs=_GRAMMAR,
        ),
        Request(
            "ebnf",
            "/generate",
            {
                "text": _PROMPTS[0],
                "sampling_params": {**native, "ebnf": 'root ::= "yes" | "no"'},
                "return_logprob": True,
            },
            needs=_GRAMMAR,
        ),
    )


def _parsers(scale: Scale, model: str) -> tuple[Request, ...]:
    n = max(scale.tokens, 24)
    ask = [{"role": "user", "content": "What is the weather in Paris?"}]
    body = {"model": model, "messages": ask, "max_tokens": n, "temperature": 0}
    must = {**body, "tools": [_TOOL], "tool_choice": "required"}
    said = "<think>because</think>The answer is 4."
    return (
        Request("tools_auto", "/v1/chat/completions", {**body, "tools": [_TOOL]}, needs=_TOOLS),
        Request("tools_required", "/v1/chat/completions", must, needs=_TOOLS | _GRAMMAR),
        Request("tools_stream", "/v1/chat/completions", {**must, "stream": True}, needs=_TOOLS | _GRAMMAR),
        *(
            Request(
                f"parse_function_call_{parser}",
                "/parse_function_call",
                {"text": text, "tools": [_TOOL], "tool_call_parser": parser},
                generates=False,
            )
            for parser, text in _CALLS.items()
        ),
        Request("reasoning", "/v1/chat/completions", {**body, "separate_reasoning": True}, needs=_REASONING),
        Request("reasoning_stream", "/v1/chat/completions", {**body, "stream": True}, needs=_REASONING),
        Request(
            "separate_reasoning",
            "/separate_reasoning",
            {"text": said, "reasoning_parser": "deepseek-r1"},
            generates=False,
        ),
    )


def _special(text: str) -> str:
    """DeepSeek writes its special tokens with a full-width bar and a lower-eighth block for the underscore."""

    def put(token: re.Match[str]) -> str:
        return token[0].replace("|", "\uff5c").replace("_", "\u2581")

    return re.sub(r"<\|\w+\|>", put, text)


_CALLS = {
    "deepseekv3": _special(
        "<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>get_weather\n```json\n"
        '{"city": "Paris"}\n```<|tool_call_end|><|tool_calls_end|>'
    ),
    "deepseekv31": _special(
        "Well.<|tool_calls_begin|><|tool_call_begin|>get_weather<|tool_sep|>"
        '{"city": "Paris"}<|tool_call_end|><|tool_calls_end|>'
    ),
    "deepseekv32": (
        '<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name="get_weather">\n'
        '<\uff5cDSML\uff5cparameter name="city" string="true">Paris</\uff5cDSML\uff5cparameter>\n'
        "</\uff5cDSML\uff5cinvoke>\n</\uff5cDSML\uff5cfunction_calls>"
    ),
}
"""A call in the words of each of DeepSeek's versions, by the parser for it."""


def _bad() -> tuple[Request, ...]:
    chat = "/v1/chat/completions"
    return (
        Request("bad_json_type", "/generate", {"text": 5}, generates=False),
        Request("bad_nothing", "/generate", {}, generates=False),
        Request("bad_parameter", "/generate", {"text": "x", "sampling_params": {"temperature": -1}}, generates=False),
        Request("bad_too_long", "/generate", {"input_ids": [5] * 200_000}, generates=False),
        Request("bad_chat", chat, {"messages": "x", "model": "served"}, generates=False),
        Request("bad_path", "/no_such_path", {}, generates=False),
        _get("bad_method", "/generate/none"),
        _get("health_after", "/health"),
    )


def _get(name: str, path: str) -> Request:
    return Request(name, path, None, "GET", generates=False)
