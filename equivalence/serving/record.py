"""What a server answered: one record a run, kept as JSON, without what differs from run to run by its nature."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

NO_TIME = "no time left"
"""The error of a request that was not sent, since the time for all of them was over."""


@dataclass(frozen=True)
class Answer:
    """The answer to one request.

    Attributes:
        status: HTTP status; 0 when there was no answer.
        content_type: media type without its parameters.
        body: the parsed JSON, the list of parsed events of a stream, or the text; volatile fields masked.
        error: what broke the exchange, empty otherwise.
        seconds: how long it took; never compared.
    """

    status: int
    content_type: str
    body: Any
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Record:
    """The answers to a script, by the requests' names, in the order in which they were sent."""

    answers: Mapping[str, Answer]

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: asdict(answer) for name, answer in self.answers.items()}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Record:
        """From plain JSON."""
        return cls({name: Answer(**answer) for name, answer in document.items()})

    def save(self, path: Path) -> None:
        """Write it."""
        path.write_text(json.dumps(self.document(), indent=1, sort_keys=False) + "\n", "utf-8")

    def unsent(self) -> tuple[str, ...]:
        """Names of requests for which no time was left."""
        return tuple(name for name, answer in self.answers.items() if answer.error == NO_TIME)


_NAMES = """
id request_id created created_at completed_at timestamp start_time uptime e2e_latency latency inference_time
queue_time total_duration load_duration prompt_eval_duration eval_duration decode_throughput last_gen_throughput
gen_throughput api_server_dispatch_finish_ts request_received_ts request_sent_to_scheduler_ts
response_sent_to_client_ts decode_finished_ts request_finished_ts forward_entry_time prefill_launch_delay
prefill_launch_latency prefill_finished_ts modified_at dp_rank
"""
VOLATILE = frozenset(_NAMES.split())
"""Fields whose value says nothing, wherever they stand: made for each request, a time, a duration or rate, whichever worker was
free. The field itself must still be there."""

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
