"""What is asked of a server, in which order: the script, whose requests stand in `requests.toml`,
and requests that the server's own OpenAPI document speaks of: each field of each body, with values
of each of its types and with a wrong one.

What a client may send is what upstream publishes, and not what the script thinks of. `fields.toml`
has bodies to begin with, and what is left out.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

TENSORS = "tensors.base64"
"""In a checkpoint's folder: some of its tensors, serialized as `/update_weights_from_tensor` takes
them.
"""
_DECLARED, _FIELDS = (
    tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
    for name in ("requests.toml", "fields.toml")
)
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


@dataclass(frozen=True)
class Request:
    """One request; no two of a script have the same name. `requests.toml` says what it may need."""

    name: str
    path: str
    body: Mapping[str, Any] | None = None
    """What is sent as JSON; None sends nothing."""
    method: str = "POST"
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Scale:
    """How much is asked."""

    tokens: int = 16
    """That each generating request makes, at most."""
    prompt: int = 3000
    """Tokens of the long prompt, where `long` is among the features."""
    features: frozenset[str] = frozenset()
    """Of what requests need, what this server has."""
    checkpoint: str = ""
    """Folder of the one that is served, to load its weights again; empty: that is not asked."""
    other: str = ""
    """Folder of another one of the same shape, whose weights are loaded before; empty: that is not
    asked.
    """
    adapter: str = ""
    """Folder of one, to load it under a second name."""


INTERFACE = frozenset({"openapi"})
"""Requests for the document of the interface: the level *imports* judges it, which knows what a
profile removes.
"""


def script(scale: Scale) -> tuple[Request, ...]:
    """Return the requests that a server of these features is asked, in order: requests for one
    thing leave nothing in the caches that later ones do not expect, since all servers get the same
    ones.
    """
    found = []
    for row in _DECLARED["request"]:
        declared = _merged(_DECLARED["like"].get(row.get("like"), {}), row)
        needs = frozenset(declared.get("needs", ()))
        if needs <= scale.features and all(
            getattr(scale, name) for name in declared.get("given", ())
        ):
            body = _body(declared, scale) if "body" in declared else None
            found.append(
                Request(row["name"], declared["path"], body, declared.get("method", "POST"), needs)
            )
    return tuple(found)


def _body(declared: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    body: dict[str, Any] = _merged({}, declared["body"])
    if "least" in declared:
        tokens = max(scale.tokens, declared["least"])
        _put(
            body,
            ("sampling_params", "max_new_tokens") if "sampling_params" in body else ("max_tokens",),
            tokens,
        )
    for place, what in declared.get("fill", {}).items():
        _put(body, place.split("."), _value(what, scale))
    return body


def _value(what: str, scale: Scale) -> Any:
    long = [(7 * i * i + 13 * i) % 5000 + 100 for i in range(scale.prompt)]
    match what:
        case "long prompt":
            return long
        case "longer prompt":
            return [*long, 7]
        case "prompt beyond all limits":
            return [5] * 200_000
        case "every other token":
            return list(range(0, 129280, 2))
        case "tensors of checkpoint" | "tensors of other":
            return [(Path(getattr(scale, what.rpartition(" ")[2])) / TENSORS).read_text("ascii")]
    return getattr(scale, what)


def _merged(wider: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, with the second one's values where both have one; tables within are merged, and
    none is shared.
    """
    both = {**wider, **own}
    return {
        key: _merged(wider.get(key, {}) if key in own else {}, value)
        if isinstance(value, Mapping)
        else value
        for key, value in both.items()
    }


def _put(body: dict[str, Any], place: Iterable[str], value: Any) -> None:
    *around, last = place
    for key in around:
        body = body[key]
    body[last] = value


def described(document: Mapping[str, Any]) -> Iterator[Request]:
    """Yield one request for each endpoint of an OpenAPI 3 document that takes JSON, then some for
    each of its fields; each with a name of its own.
    """
    schemas = document.get("components", {}).get("schemas", {})
    left_out = {*_FIELDS["leave_out"]["fields"]}
    for path, operations in document["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content", {})
        if path in _FIELDS["leave_out"]["paths"] or "application/json" not in content:
            continue
        schema = _resolved(content["application/json"].get("schema", {}), schemas)
        fields = schema.get("properties", {})
        if (body := _FIELDS["body"].get(path)) is None:
            body = {
                name: _admitted(fields[name], schemas)[0] for name in schema.get("required", ())
            }
        yield Request(path, path, body)
        for name in [name for name in fields if not {name, f"{path} {name}"} & left_out]:
            for number, value in enumerate([*_admitted(fields[name], schemas)[:_MOST], _WRONG]):
                yield Request(f"{path} {name} {number}", path, {**body, name: value})


def _resolved(schema: Any, schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    while isinstance(schema, Mapping) and "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema if isinstance(schema, Mapping) else {}


def _admitted(schema: Any, schemas: Mapping[str, Any], depth: int = 3) -> list[Any]:
    """Return some values that a schema admits, of each of its types; null is none of them, and
    below a depth only plain ones.
    """
    schema = _resolved(schema, schemas)
    if "const" in schema or "enum" in schema:
        return [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    if either := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        return [*chain.from_iterable(_admitted(one, schemas, depth)[:_MOST] for one in either)] or [
            "x"
        ]
    kind = schema.get("type")
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "array":
        items = _admitted(schema.get("items"), schemas, depth - 1) if depth else []
        return [*([[items[0]]] if items else []), []]
    if kind == "object":
        needed = schema.get("required", ()) if depth else ()
        return [
            {name: _admitted(schema["properties"][name], schemas, depth - 1)[0] for name in needed}
        ]
    return _ANY
