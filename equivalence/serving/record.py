"""What a server answered: one record a run, kept as JSON."""

from __future__ import annotations

import json
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

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read what `save` wrote."""
        return cls.of(json.loads(path.read_text("utf-8")))

    def failed(self) -> tuple[str, ...]:
        """Names of requests that got no answer at all."""
        return tuple(name for name, answer in self.answers.items() if answer.error)

    def unsent(self) -> tuple[str, ...]:
        """Names of requests for which no time was left."""
        return tuple(name for name, answer in self.answers.items() if answer.error == NO_TIME)
