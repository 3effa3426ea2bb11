"""Use a server as people do, with the OpenAI client; and what needs two requests at once.

GIVEN.json RESULT.json.
"""

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib import request

import openai

from equivalence.processes import given, tell
from equivalence.serving.client import send
from equivalence.serving.record import Answer
from equivalence.serving.script import Request


def answer(path: str, body: Any = None, method: str = "POST") -> Answer:
    """Return the answer to one request, whatever its status is."""
    return send(address, Request(path, path, body, method), 120)


def attempt(step: Callable[[], Any]) -> Any:
    """Return what a step gives, or how it fails."""
    try:
        return step()
    except openai.APIStatusError as error:
        return {"raised": type(error).__name__, "status": error.status_code, "body": error.body}
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error)[:300]}


def said(found: Any) -> Any:
    """Return what the client makes of an answer, without what differs from run to run."""
    return found.model_dump(exclude={"id", "created"})


def abort() -> Any:
    """Return a long request, ended by another one: why it ended, not when."""
    ended: list[Any] = []
    sampling = {"temperature": 0, "max_new_tokens": 400, "ignore_eos": True}
    body = {
        "rid": "to-be-aborted",
        "text": "A long story:",
        "sampling_params": sampling,
        "stream": True,
    }
    question = request.Request(
        f"{address}/generate", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    first = threading.Event()

    def ask() -> None:
        try:
            with request.urlopen(question, timeout=200) as lines:
                for line in lines:
                    if line.startswith(b"data: {"):
                        first.set()
                        ended.append(json.loads(line[6:])["meta_info"]["finish_reason"])
        finally:
            # Nothing else comes of a server that is not there, either.
            first.set()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    first.wait(200)
    status = answer("/abort_request", {"rid": "to-be-aborted"}).status
    thread.join(200)
    return {
        "status": status,
        "ended": not thread.is_alive(),
        "reason": ended[-1] if ended else None,
    }


def metrics() -> Any:
    """Return names of the metrics and of their labels; the values are times."""
    lines = answer("/metrics", method="GET").body.splitlines()
    kinds = [line for line in lines if line.startswith("# TYPE")]
    names = {
        line.partition("{")[0].partition(" ")[0]
        for line in lines
        if line and not line.startswith("#")
    }
    return {"types": sorted(kinds), "names": sorted(names)}


def removed() -> Any:
    """Return what the listed paths that were removed answer: status and body."""
    found = {
        (verb, path): answer(path, {} if verb == "POST" else None, verb)
        for verb, path in asked["removed"]
    }
    return {" ".join(place): (one.status, json.dumps(one.body)) for place, one in found.items()}


asked = given()
address = asked["address"]
client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=200)
plain = {"model": "served", "max_tokens": 4, "temperature": 0}
chat = plain | {"messages": [{"role": "user", "content": "Say hi."}]}
steps: dict[str, Callable[[], Any]] = {
    "chat": lambda: said(client.chat.completions.create(**chat, logprobs=True, seed=1)),
    "stream": lambda: [said(part) for part in client.chat.completions.create(**chat, stream=True)],
    "completion": lambda: said(client.completions.create(**plain, prompt="One two")),
    "models": lambda: [
        model.model_dump(exclude={"created"}) for model in client.models.list().data
    ],
    "no_embeddings": lambda: client.embeddings.create(model="served", input="text").model_dump(),
    "bad_temperature": lambda: said(client.chat.completions.create(**chat | {"temperature": -3})),
    "abort": abort,
    "metrics": metrics,
    "removed": removed,
}
tell({name: attempt(step) for name, step in steps.items()}, sort_keys=True)
