"""The fields of an answer that differ from one run to the next by their nature: one declared list."""

from __future__ import annotations

import re
from typing import Any

VOLATILE: dict[str, str] = {
    "id": "made for each request",
    "request_id": "made for each request",
    "created": "the time of the answer",
    "created_at": "the time of the answer",
    "completed_at": "the time of the answer",
    "timestamp": "the time of the answer",
    "start_time": "the time of the start",
    "uptime": "time since the start",
    "e2e_latency": "a duration",
    "latency": "a duration",
    "inference_time": "a duration",
    "queue_time": "a duration",
    "total_duration": "a duration",
    "load_duration": "a duration",
    "prompt_eval_duration": "a duration",
    "eval_duration": "a duration",
    "decode_throughput": "a rate over time",
    "last_gen_throughput": "a rate over time",
    "gen_throughput": "a rate over time",
    "api_server_dispatch_finish_ts": "a time",
    "request_received_ts": "a time",
    "request_sent_to_scheduler_ts": "a time",
    "response_sent_to_client_ts": "a time",
    "decode_finished_ts": "a time",
    "request_finished_ts": "a time",
    "forward_entry_time": "a time",
    "prefill_launch_delay": "a duration",
    "prefill_launch_latency": "a duration",
    "prefill_finished_ts": "a time",
    "modified_at": "a time",
    "dp_rank": "whichever worker was free",
}
"""Name of a field, wherever it stands → why its value says nothing. The field itself must still be there."""

_TEXTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # Identifiers that servers put into texts, and the address a message may name.
    (re.compile(r"\b(chatcmpl|cmpl|resp|msg|call|rs|fc)[-_][0-9a-f]{16,}\b"), r"\1-<masked>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<masked>"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<masked>"),
    # Messages may quote the line that refused: its file without the tree's place, and no line, since lines were removed.
    (re.compile(r'File "[^"]*?/(?=sglang/)([^"]+)", line \d+'), r'File "\1", line <masked>'),
    (re.compile(r"\b127\.0\.0\.1:\d+\b"), "127.0.0.1:<masked>"),
)


def mask(body: Any) -> Any:
    """The body with the values of volatile fields, and identifiers within texts, replaced by `<masked>`."""
    if isinstance(body, dict):
        return {key: "<masked>" if key in VOLATILE else mask(value) for key, value in body.items()}
    if isinstance(body, list):
        return [mask(item) for item in body]
    if isinstance(body, str):
        for pattern, put in _TEXTS:
            body = pattern.sub(put, body)
    return body
