"""Two records, value by value: exactly first, then against what a tree's own repetition shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from equivalence.serving.record import Answer, Record


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


@dataclass(frozen=True)
class Verdict:
    """What the comparison says of one request.

    Attributes:
        request: its name.
        result: `identical`; `spread`: differs, but no more than upstream from itself; `differs`; `unanswered` by both.
        differences: those of the generated tree from upstream's first run.
        own: how many differences upstream has from itself.
    """

    request: str
    result: Literal["identical", "spread", "differs", "unanswered"]
    differences: tuple[Difference, ...]
    own: int


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


def compare(left: Record, right: Record) -> tuple[Difference, ...]:
    """All differences of two records, in the order of the left one's requests."""
    names = dict.fromkeys((*left.answers, *right.answers))
    return tuple(d for name in names for d in differences(name, left.answers.get(name), right.answers.get(name)))


def judge(upstream: Record, again: Record | None, generated: Record) -> tuple[Verdict, ...]:
    """A verdict for each request of either record.

    Args:
        upstream: what upstream answered.
        again: what it answered in another run, the cell's own spread; None: no spread is allowed.
        generated: what the generated tree answered.

    A difference is within the spread when the generated answer equals upstream's other run, or when only numbers
    differ, where upstream differs from itself too, and none is further away than upstream's furthest.
    """
    names = dict.fromkeys((*upstream.answers, *generated.answers))
    return tuple(
        _judge(
            name, upstream.answers.get(name), again.answers.get(name) if again else None, generated.answers.get(name)
        )
        for name in names
    )


def _judge(name: str, upstream: Answer | None, again: Answer | None, generated: Answer | None) -> Verdict:
    found = differences(name, upstream, generated)
    own = differences(name, upstream, again) if again else ()
    if not found:
        silent = upstream is None or bool(upstream.error)
        return Verdict(name, "unanswered" if silent else "identical", (), len(own))
    if own and _within(found, own, again, generated):
        return Verdict(name, "spread", found, len(own))
    return Verdict(name, "differs", found, len(own))


def _within(
    found: tuple[Difference, ...], own: tuple[Difference, ...], again: Answer | None, generated: Answer | None
) -> bool:
    if not differences("", again, generated):
        return True
    allowed = max((d.distance for d in own if d.distance is not None), default=0.0)
    return all(d.distance is not None and d.distance <= allowed for d in found)


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
