"""Use a server as people do, with the OpenAI client; and what needs two requests at once. GIVEN.json RESULT.json."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import openai

from equivalence.processes import given, tell


def request(path: str, body: Any = None, method: str = "POST") -> urllib.request.Request:
    """A request with a body of JSON, or without one."""
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.Request(address + path, data, {"Content-Type": "application/json"}, method=method)


def answer(question: urllib.request.Request) -> tuple[int, str]:
    """Status and body, whatever the status is."""
    try:
        with urllib.request.urlopen(question, timeout=120) as found:
            return found.status, found.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def attempt(step: Callable[[], Any]) -> Any:
    """What a step gives, or how it fails."""
    try:
        return step()
    except openai.APIStatusError as error:
        return {"raised": type(error).__name__, "status": error.status_code, "body": error.body}
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error)[:300]}


def chat() -> Any:
    said = client.chat.completions.create(
        model="served", messages=messages, max_tokens=4, temperature=0, logprobs=True, seed=1
    )
    return said.model_dump(exclude={"id", "created"})


def stream() -> Any:
    parts = client.chat.completions.create(model="served", messages=messages, max_tokens=4, temperature=0, stream=True)
    return [part.model_dump(exclude={"id", "created"}) for part in parts]


def completion() -> Any:
    said = client.completions.create(model="served", prompt="One two", max_tokens=4, temperature=0)
    return said.model_dump(exclude={"id", "created"})


def models() -> Any:
    return [model.model_dump(exclude={"created"}) for model in client.models.list().data]


def no_embeddings() -> Any:
    return client.embeddings.create(model="served", input="text").model_dump()


def bad_temperature() -> None:
    client.chat.completions.create(model="served", messages=messages, temperature=-3)


def abort() -> Any:
    """A long request, ended by another one: why it ended, not when."""
    ended: list[Any] = []
    body = {
        "rid": "to-be-aborted",
        "text": "A long story:",
        "sampling_params": {"temperature": 0, "max_new_tokens": 400, "ignore_eos": True},
    }
    first = threading.Event()

    def ask() -> None:
        with urllib.request.urlopen(request("/generate", {**body, "stream": True}), timeout=200) as lines:
            for line in lines:
                if line.startswith(b"data: {"):
                    first.set()
                    ended.append(json.loads(line[6:])["meta_info"]["finish_reason"])
        first.set()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    first.wait(200)
    status, _ = answer(request("/abort_request", {"rid": "to-be-aborted"}))
    thread.join(200)
    last = ended[-1] if ended else None
    return {"status": status, "ended": not thread.is_alive(), "reason": last}


def metrics() -> Any:
    """Names of the metrics and of their labels; the values are times."""
    lines = answer(request("/metrics", method="GET"))[1].splitlines()
    kinds = [line for line in lines if line.startswith("# TYPE")]
    names = {line.partition("{")[0].partition(" ")[0] for line in lines if line and not line.startswith("#")}
    return {"types": sorted(kinds), "names": sorted(names)}


def removed() -> Any:
    """What the listed paths that were removed answer."""
    return {
        f"{method} {path}": answer(request(path, {} if method == "POST" else None, method))
        for method, path in asked["removed"]
    }


asked = given()
address = asked["address"]
client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=200)
messages = [{"role": "user", "content": "Say hi."}]
steps = (chat, stream, completion, models, no_embeddings, bad_temperature, abort, metrics, removed)
tell({step.__name__: attempt(step) for step in steps}, sort_keys=True)
