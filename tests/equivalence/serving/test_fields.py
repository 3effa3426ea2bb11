"""What a server's document of its interface makes of requests."""

import json
from pathlib import Path

from equivalence.serving.script import Request, described

WRONG = {"no": ["such"]}


def test_every_field_by_values_of_its_types_and_by_a_wrong_one() -> None:
    document = json.loads(Path(__file__).with_name("openapi.json").read_text())
    found = [*described(document)]
    assert found[0] == Request("/ask", "/ask", {"how": "fast"})
    sent: dict[str, list[object]] = {}
    for request in found[1:]:
        name = request.name.split()[1]
        assert request.path == "/ask" and request.body and request.body.keys() == {"how", name}
        sent.setdefault(name, []).append(request.body[name])
    assert sent == {
        "text": ["x", ["x"], WRONG],
        "how": ["fast", "slow", WRONG],
        "deep": [[{"part": {"part": {}}}], [], WRONG],
        "free": ["x", 1, WRONG],
    }
    assert len({request.name for request in found}) == len(found)


def test_a_body_to_begin_with() -> None:
    schema = {
        "properties": {"query": {"type": "string"}, "k": {"type": "integer"}},
        "type": "object",
    }
    asks = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    bodies = [request.body for request in described({"paths": {"/v1/rerank": {"post": asks}}})]
    assert (
        bodies[0] == {"query": "q", "documents": ["a"]}
        and {"query": "q", "documents": ["a"], "k": 0} in bodies
    )


def test_a_field_that_is_left_out_of_one_endpoint() -> None:
    schema = {"properties": {"return_hidden_states": {"type": "boolean"}}, "type": "object"}
    asks = {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}
    paths = {"/generate": asks, "/v1/completions": asks}
    asked = [request.path for request in described({"paths": paths})]
    assert asked.count("/generate") == 1 < asked.count("/v1/completions")
