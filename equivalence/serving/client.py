"""Send a script of requests, one at a time, and keep what came back."""

import http.client
import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from equivalence.serving.record import NO_TIME, Answer, mask
from equivalence.serving.script import Request

_DATA = re.compile(r"data:\s*(?!\[DONE\]\s*$)[{\[]")
"""An event's line that holds JSON."""


def perform(
    address: str,
    requests: Iterable[Request],
    *,
    seconds: float = 600.0,
    each: float = 120.0,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Answer]:
    """Send each request after the answer to the one before, so that the server batches them the
    same way each time.

    Args:
        address: `http://host:port`. seconds, each: time for all, and for one; what is left over
            after the former is recorded as not answered.
        progress: told the name of each request before it is sent.
    """
    limit = time.monotonic() + seconds
    answers: dict[str, Answer] = {}
    for request in requests:
        answers[request.name] = Answer(0, "", None, error=NO_TIME)
        if (left := limit - time.monotonic()) > 0:
            progress(request.name)
            answers[request.name] = send(address, request, min(each, left))
    return answers


def send(address: str, request: Request, seconds: float) -> Answer:
    """Return one exchange of at most `seconds`, also where the server sends a little now and then;
    never raises for what it answers.
    """
    begin = time.monotonic()
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=seconds)
    try:
        body = None if request.body is None else json.dumps(request.body).encode()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(request.method, request.path, body, {**headers, "Connection": "close"})
        response = connection.getresponse()
        parts = []
        while part := response.read1(1 << 16):
            parts.append(part)
            if (left := begin + seconds - time.monotonic()) <= 0:
                raise TimeoutError("the answer did not end in time")
            if connection.sock is not None:
                connection.sock.settimeout(left)
        kind = (response.getheader("Content-Type") or "").partition(";")[0].strip()
        parsed = _parse(b"".join(parts).decode("utf-8", "replace"), kind)
        return Answer(
            response.status, kind, mask(parsed), seconds=round(time.monotonic() - begin, 4)
        )
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Answer(
            0, "", None, f"{type(error).__name__}: {error}", round(time.monotonic() - begin, 4)
        )
    finally:
        connection.close()


def _parse(text: str, kind: str) -> Any:
    lines = [line for line in text.splitlines() if line.strip()]
    if kind == "text/event-stream":
        return [json.loads(line[5:]) if _DATA.match(line) else line for line in lines]
    if kind == "application/x-ndjson":
        return [*map(json.loads, lines)]
    return json.loads(text) if kind.endswith("json") and text else text
