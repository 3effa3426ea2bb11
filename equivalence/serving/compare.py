"""Two answers, value by value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from equivalence.serving.record import Answer


class _Missing:
    def __str__(self) -> str:
        return "not there"


MISSING = _Missing()
"""Stands where there is no value."""
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Difference:
    """One place where two answers are not equal.

    Attributes:
        request: name of the request.
        path: where in the answer, such as `body.meta_info.output_token_logprobs[0][0]`.
        left, right: the values there, as JSON text; empty where there is none.
        distance: how far two numbers are apart; None for all else.
    """

    request: str
    path: str
    left: str
    right: str
    distance: float | None = None


def differences(request: str, left: Answer | None, right: Answer | None) -> tuple[Difference, ...]:
    """Where two answers to a request differ; how long they took does not count."""
    if left is None or right is None:
        return () if left is right else (Difference(request, "", _text(left), _text(right)),)
    found: list[Difference] = []
    for name in ("status", "content_type", "error", "body"):
        for place, a, b in walk(getattr(left, name), getattr(right, name)):
            path = name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
            numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
            found.append(Difference(request, path, _text(a), _text(b), abs(a - b) if numbers else None))
    return tuple(found)


def walk(left: Any, right: Any, place: Place = ()) -> Iterator[tuple[Place, Any, Any]]:
    """Pairs of values that differ, with the keys and indices that lead to them; `MISSING` where there is none."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}, key=str):
            yield from walk(left.get(key, MISSING), right.get(key, MISSING), (*place, key))
    elif isinstance(left, list) and isinstance(right, list):
        for index, (a, b) in enumerate(zip_longest(left, right, fillvalue=MISSING)):
            yield from walk(a, b, (*place, index))
    elif (type(left) is not type(right) or left != right) and (left == left or right == right):
        # NaN is unequal to itself: two of them are no difference.
        yield place, left, right


def _text(value: Any) -> str:
    if value is MISSING:
        return ""
    if isinstance(value, Answer):
        return f"status {value.status}"
    text = json.dumps(value, ensure_ascii=True, sort_keys=True)
    return text if len(text) <= 200 else f"{text[:197]}..."
