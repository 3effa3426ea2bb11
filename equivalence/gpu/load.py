"""A client that loads a server and tells tokens a second: `python -m equivalence.gpu.load`,
standard library only.

Upstream's own benchmark imports the package it measures, ten seconds a run; this one starts in a
tenth, so that a lease has room for enough rounds. All requests stream, so that tokenizer, scheduler
and detokenizer have all their work.
"""

import argparse
import json
import random
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from statistics import median

_HOST, _SECONDS = "127.0.0.1", 120.0
"""Of the server, and of patience with one request."""
_SMALLEST_ID, _LARGEST_ID = 1000, 100000
"""Token ids that each of DeepSeek's vocabularies has."""


@dataclass(frozen=True)
class Load:
    """What is sent: requests at a time and in all, and the tokens of each."""

    name: str
    concurrency: int
    requests: int
    prompt: int
    new: int


LOADS = {
    "serving": (
        Load("one", 1, 3, 128, 128),
        Load("eight", 8, 48, 256, 64),
        Load("sixteen", 16, 128, 256, 64),
    ),
    "paired": (
        Load("1", 1, 4, 512, 128),
        Load("16", 16, 32, 512, 128),
        Load("64", 64, 128, 512, 96),
    ),
}
"""By kind of cell. One request at a time is the host's work and a graph of one row; the last of
each are all that the cell's servers run at once."""


def loads(kind: str, part: float = 1.0) -> list[Load]:
    """Return the loads of a kind of cell, with a part of their requests."""
    return [replace(one, requests=max(1, round(one.requests * part))) for one in LOADS[kind]]


def send(port: int, load: Load, seed: int) -> dict[str, float]:
    """Send all requests of a load to a server of this machine.

    Raises OSError where one got no complete answer.

    Returns:
        `tokens_per_second` (new tokens over the time of all), `first_token_seconds` and
        `next_token_seconds` (medians over requests).
    """
    draw = random.Random(seed)
    prompts = [
        [draw.randint(_SMALLEST_ID, _LARGEST_ID) for _ in range(load.prompt)]
        for _ in range(load.requests)
    ]
    sampling = {"temperature": 0, "max_new_tokens": load.new, "ignore_eos": True}
    asks = [
        {"input_ids": prompt, "sampling_params": sampling, "stream": True} for prompt in prompts
    ]
    bodies = [json.dumps(each).encode() for each in asks]
    begin = time.perf_counter()
    with ThreadPoolExecutor(load.concurrency) as pool:
        asked = [pool.submit(_ask, port, body) for body in bodies]
        try:
            times = [one.result() for one in asked]
        except OSError:
            pool.shutdown(cancel_futures=True)
            raise
    took = time.perf_counter() - begin
    return {
        "tokens_per_second": load.requests * load.new / took,
        "first_token_seconds": median(found[1] - found[0] for found in times),
        "next_token_seconds": median((found[-1] - found[1]) / (load.new - 1) for found in times),
    }


def _ask(port: int, body: bytes) -> list[float]:
    """When the request was sent and each event came; the events are not parsed, so that the client
    costs little.
    """
    head = (
        f"POST /generate HTTP/1.1\r\nHost: {_HOST}\r\nContent-Type: "
        "application/json\r\nConnection: close\r\n"
    )
    with socket.create_connection((_HOST, port), _SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = [time.perf_counter()]
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        with connection.makefile("rb") as answer:
            status = answer.readline().split()
            if status[1:2] != [b"200"]:
                raise OSError(f"status {b' '.join(status).decode()}")
            for line in answer:
                if line.startswith(b"data: [DONE]"):
                    if len(times) < 3:
                        raise OSError(f"{len(times)} events")
                    return times
                if line.startswith(b"data: "):
                    times.append(time.perf_counter())
    raise OSError("the stream ended before it was done")


def main(arguments: list[str] | None = None) -> int:
    """Print the numbers of every load as one line of JSON; 1 where a request fails."""
    parser = argparse.ArgumentParser(prog="python -m equivalence.gpu.load", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0, help="of the prompts")
    parser.add_argument("--kind", choices=sorted(LOADS), default="serving", help="of the cell")
    parser.add_argument("--part", type=float, default=1.0, help="of the requests that are sent")
    given = parser.parse_args(arguments)
    found: dict[str, float] = {}
    for load in loads(given.kind, given.part):
        try:
            numbers = send(given.port, load, given.seed)
        except OSError as error:
            print(f"error: {load.name}: {error}", file=sys.stderr)
            return 1
        found |= {f"{quantity}@{load.name}": value for quantity, value in numbers.items()}
    print("@" + json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
