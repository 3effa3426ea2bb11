"""Send a script of requests, one at a time, and keep what came back."""

import http.client
import json
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from equivalence.serving.record import NO_TIME, Answer, mask
from equivalence.serving.script import Request


def perform(
    address: str,
    requests: Iterable[Request],
    *,
    seconds: float = 600.0,
    each: float = 120.0,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Answer]:
    """Send each request after the answer to the one before, so that the server batches them the same way each time.

    Args:
        address: `http://host:port`.
        requests: the script.
        seconds: time for all; what is left over then is recorded as not answered.
        each: time for one.
        progress: told the name of each request before it is sent.
    """
    limit = time.monotonic() + seconds
    answers: dict[str, Answer] = {}
    for request in requests:
        left = limit - time.monotonic()
        if left <= 0:
            answers[request.name] = Answer(0, "", None, error=NO_TIME)
            continue
        progress(request.name)
        answers[request.name] = send(address, request, min(each, left))
    return answers


def send(address: str, request: Request, seconds: float) -> Answer:
    """One exchange of at most `seconds`, also where the server sends a little now and then; never raises for what it
    answers."""
    begin = time.monotonic()
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=seconds)
    try:
        body = None if request.body is None else json.dumps(request.body).encode()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(request.method, request.path, body, {**headers, "Connection": "close"})
        response = connection.getresponse()
        raw = _read(response, connection, begin + seconds)
        kind = (response.getheader("Content-Type") or "").partition(";")[0].strip()
        parsed = _parse(raw.decode("utf-8", "replace"), kind)
        return Answer(response.status, kind, mask(parsed), seconds=round(time.monotonic() - begin, 4))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Answer(0, "", None, f"{type(error).__name__}: {error}", round(time.monotonic() - begin, 4))
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse, connection: http.client.HTTPConnection, limit: float) -> bytes:
    parts = []
    while part := response.read1(1 << 16):
        parts.append(part)
        left = limit - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer did not end in time")
        if connection.sock is not None:
            connection.sock.settimeout(left)
    return b"".join(parts)


def _parse(text: str, kind: str) -> Any:
    if kind == "text/event-stream":
        return [_event(line) for line in text.splitlines() if line.strip()]
    if kind == "application/x-ndjson":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if kind.endswith("json") and text:
        return json.loads(text)
    return text


def _event(line: str) -> Any:
    name, colon, value = line.partition(":")
    value = value.strip()
    if colon and name == "data" and value.startswith(("{", "[")) and value != "[DONE]":
        return json.loads(value)
    return line
