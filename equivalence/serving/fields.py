"""Requests that a server's own OpenAPI document speaks of: each field of each body, with values of each of its types and with a wrong one.

What a client may send is what upstream publishes, and not what the script thinks of. `fields.toml` has bodies to begin with, and what is left out.
"""

import tomllib
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from equivalence.serving.script import Request

_DECLARED = tomllib.loads((Path(__file__).parent / "fields.toml").read_text("utf-8"))
_PLAIN: Mapping[str, list[Any]] = {
    "string": ["x"],
    "integer": [1, 0],
    "number": [0.5],
    "boolean": [True, False],
    "null": [],
}
_ANY = ["x", 1, {"a": 1}]
_WRONG = {"no": ["such"]}
_MOST = 2
"""Values of a field, beside the wrong one."""


def described(document: Mapping[str, Any]) -> Iterator[Request]:
    """One request for each endpoint of an OpenAPI 3 document that takes JSON, then some for each of its fields; each with a name of its
    own."""
    schemas = document.get("components", {}).get("schemas", {})
    for path, operations in document["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content", {})
        if path in _DECLARED["leave_out"]["paths"] or "application/json" not in content:
            continue
        schema = _resolved(content["application/json"].get("schema", {}), schemas)
        fields = schema.get("properties", {})
        if (body := _DECLARED["body"].get(path)) is None:
            body = {name: _values(fields[name], schemas)[0] for name in schema.get("required", ())}
        yield Request(path, path, body)
        for name in [name for name in fields if name not in _DECLARED["leave_out"]["fields"]]:
            for number, value in enumerate([*_values(fields[name], schemas)[:_MOST], _WRONG]):
                yield Request(f"{path} {name} {number}", path, {**body, name: value})


def _resolved(schema: Any, schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    while isinstance(schema, Mapping) and "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema if isinstance(schema, Mapping) else {}


def _values(schema: Any, schemas: Mapping[str, Any], depth: int = 3) -> list[Any]:
    """Some values that a schema admits, of each of its types; null is none of them, and below a depth only plain ones."""
    schema = _resolved(schema, schemas)
    if "const" in schema or "enum" in schema:
        return [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    if either := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        return [*chain.from_iterable(_values(one, schemas, depth)[:_MOST] for one in either)] or ["x"]
    kind = schema.get("type")
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "array":
        items = _values(schema.get("items"), schemas, depth - 1) if depth else []
        return [*([[items[0]]] if items else []), []]
    if kind == "object":
        needed = schema.get("required", ()) if depth else ()
        return [{name: _values(schema["properties"][name], schemas, depth - 1)[0] for name in needed}]
    return _ANY
