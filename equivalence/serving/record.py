"""What a server answered and logged, without what differs from run to run by its nature; two
answers, value by value.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

NO_TIME = "no time left"
"""The error of a request that was not sent, since the time for all of them was over."""


@dataclass(frozen=True)
class Answer:
    """The answer to one request."""

    status: int
    """Of HTTP; 0 when there was no answer."""
    content_type: str
    """Without its parameters."""
    body: Any
    """The parsed JSON, the list of parsed events of a stream, or the text; volatile fields masked.
    """
    error: str = ""
    """What broke the exchange, empty otherwise."""
    seconds: float = 0.0
    """Never compared."""


Answers = Mapping[str, Answer]
"""The answers to a script, by the requests' names, in the order in which they were sent."""

VOLATILE: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("volatile.toml").read_text("utf-8")
)
"""What says nothing in answers, settings and logs."""


def mask(body: Any) -> Any:
    """Return the body with the values of volatile fields, and identifiers within texts, replaced by
    `<masked>`.
    """
    if isinstance(body, dict):
        return {
            key: "<masked>" if key in VOLATILE["answers"] else mask(value)
            for key, value in body.items()
        }
    if isinstance(body, list):
        return [mask(item) for item in body]
    return replaced(body, VOLATILE["texts"]) if isinstance(body, str) else body


def replaced(text: str, patterns: Mapping[str, str]) -> str:
    """Return the text with what is put in place of each pattern."""
    for pattern, put in patterns.items():
        text = re.sub(pattern, put, text)
    return text


MISSING = object()
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Difference:
    """One place where two answers to a request are not equal: the values there as JSON text, empty
    where there is none.
    """

    request: str
    path: str
    """Such as `body.meta_info.output_token_logprobs[0][0]`."""
    left: str
    right: str
    distance: float | None = None
    """How far two numbers are apart; None for all else."""


def differences(request: str, left: Answer | None, right: Answer | None) -> tuple[Difference, ...]:
    """Return where two answers to a request differ; how long they took does not count."""
    if left is None or right is None:
        return () if left is right else (Difference(request, "", _text(left), _text(right)),)
    found: list[Difference] = []
    for name in ("status", "content_type", "error", "body"):
        for place, a, b in walk(getattr(left, name), getattr(right, name)):
            path = name + "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in place
            )
            numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
            found.append(
                Difference(request, path, _text(a), _text(b), abs(a - b) if numbers else None)
            )
    return tuple(found)


def walk(left: Any, right: Any, place: Place = ()) -> Iterator[tuple[Place, Any, Any]]:
    """Pairs of values that differ, with the keys and indices that lead to them; `MISSING` where
    there is none.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}, key=str):
            yield from walk(left.get(key, MISSING), right.get(key, MISSING), (*place, key))
    elif isinstance(left, list) and isinstance(right, list):
        for index, (a, b) in enumerate(zip_longest(left, right, fillvalue=MISSING)):
            yield from walk(a, b, (*place, index))
    elif (type(left) is not type(right) or left != right) and (left == left or right == right):
        # NaN is unequal to itself: two of them are no difference.
        yield place, left, right


_FEW = 2
"""Events by which two streams of one answer may differ: two tokens that are ready at once travel
together.
"""


def streamed_alike(left: Answer | None, right: Answer | None) -> bool:
    """True for two streams that are cut into events at other places, and say the same together.

    A text or list is told in parts or grows; of everything else the last event that has it counts.
    """
    if left is None or right is None or left.content_type != "text/event-stream":
        return False
    if replace(left, body=None, seconds=0) != replace(right, body=None, seconds=0):
        return False
    lists = isinstance(left.body, list) and isinstance(right.body, list)
    return (
        lists
        and abs(len(left.body) - len(right.body)) <= _FEW
        and _said(left.body) == _said(right.body)
    )


def _said(events: list[Any]) -> dict[Place, Any]:
    """By place what the events say there together; choices of an event by their number."""
    found = defaultdict[Place, list[Any]](list)

    def visit(value: Any, place: Place) -> None:
        if isinstance(value, list) and place[-1:] == ("choices",):
            value = dict(enumerate(value))
        if isinstance(value, dict):
            for key, each in value.items():
                visit(each, (*place, key))
        elif value is not None:
            found[place].append(value)

    for event in events:
        visit(event, ())
    return {place: _joined(values) for place, values in found.items()}


def _joined(values: list[Any]) -> Any:
    kinds = {type(value) for value in values}
    if kinds not in ({str}, {list}) or all(b[: len(a)] == a for a, b in pairwise(values)):
        return values[-1]
    return "".join(values) if kinds == {str} else [each for value in values for each in value]


def _text(value: Any) -> str:
    if value is MISSING:
        return ""
    if isinstance(value, Answer):
        return f"status {value.status}"
    text = json.dumps(value, ensure_ascii=True, sort_keys=True)
    return text if len(text) <= 200 else f"{text[:197]}..."


_CLASS = re.compile(r"Load weight end\..*?\btype=([A-Za-z0-9_]+)")
_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T][\d:,.]+(?P<rank>( [A-Z]+\d+)*)\]?\s*")
_BEHIND = re.compile(r"(?<=[^\n])(?=\[\d{4}-\d\d-\d\d [\d:,.]+(?: [A-Z]+\d+)*\] )")
_CHOICES, _NOISE = (re.compile("|".join(VOLATILE[name])) for name in ("choices", "noise"))


def loaded_classes(log: str) -> list[str]:
    """Return names of the model classes that were loaded, in order (a draft model comes second),
    each once.
    """
    return list(dict.fromkeys(_CLASS.findall(log)))


def choices(log: str) -> list[str]:
    """Return the lines that speak of a choice, without stamps, sizes and places, sorted,
    each once.
    """
    found = set()
    # A line of a progress bar has no end of its own: what another process says next stands behind
    # it.
    for line in _BEHIND.sub(r"\n", log).splitlines():
        text = _STAMP.sub(r"\g<rank> ", line).strip()
        if len(text) <= 500 and _CHOICES.search(text) and not _NOISE.search(text):
            found.add(replaced(text, VOLATILE["logs"]))
    return sorted(found)


def errors(log: str) -> list[str]:
    """Return the last lines of tracebacks, each once: what broke, where anything did."""
    pattern = re.compile(
        r"^(?:\[[^\]]*\] )?([A-Za-z_.]*(?:Error|Exception|Removed\w*)\b.*)$", re.MULTILINE
    )
    return list(dict.fromkeys(match[:300] for match in pattern.findall(log)))


def settings(info: Any) -> dict[str, Any]:
    """Return the resolved arguments of `/server_info`, without what is volatile; of the command
    line all but its ports.
    """
    if not isinstance(info, dict):
        return {}
    known = {key: info[key] for key in sorted(info) if key not in VOLATILE["settings"]}
    return {
        key: replaced(value, VOLATILE["commands"]) if isinstance(value, str) else value
        for key, value in known.items()
    }
