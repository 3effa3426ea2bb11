"""What a server's document of its interface makes of requests."""

from equivalence.serving import Request
from equivalence.serving.fields import described

WRONG = {"no": ["such"]}


def _post(schema: object) -> dict[str, object]:
    return {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}


def test_every_field_by_values_of_its_types_and_by_a_wrong_one() -> None:
    schemas = {
        "Ask": {
            "properties": {
                "text": {
                    "anyOf": [{"type": "string"}, {"items": {"type": "string"}, "type": "array"}, {"type": "null"}]
                },
                "how": {"$ref": "#/components/schemas/How"},
                "deep": {"items": {"$ref": "#/components/schemas/Part"}, "type": "array"},
                "rid": {"type": "string"},
                "free": {},
            },
            "required": ["how"],
        },
        "How": {"enum": ["fast", "slow", "never"], "type": "string"},
        "Part": {"properties": {"part": {"$ref": "#/components/schemas/Part"}}, "required": ["part"], "type": "object"},
    }
    paths = {
        "/ask": _post({"$ref": "#/components/schemas/Ask"}),
        "/slow_down": _post({"$ref": "#/components/schemas/Ask"}),
        "/upload": {"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {}}}}}},
        "/look": {"get": {}},
    }
    found = [*described({"paths": paths, "components": {"schemas": schemas}})]
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
    schema = {"properties": {"query": {"type": "string"}, "k": {"type": "integer"}}, "type": "object"}
    bodies = [request.body for request in described({"paths": {"/v1/rerank": _post(schema)}})]
    assert bodies[0] == {"query": "q", "documents": ["a"]} and {"query": "q", "documents": ["a"], "k": 0} in bodies
