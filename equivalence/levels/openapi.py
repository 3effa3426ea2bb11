"""OpenAPI documents of both trees: upstream's, less the listed endpoints and what only they use, is the generated one."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from equivalence.serving.record import MISSING, walk

_ENDPOINT = re.compile(r"([A-Z]+ /\S*)(?: or what \w+ names)?")


def removed_endpoints(listed: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Method and path of each endpoint that was removed, by both in one text, in the order of the rows.

    Where the environment may name another path it is the default; without one nothing can be asked for.

    Args:
        listed: rows of `interface.json`.
    """
    found = (_ENDPOINT.fullmatch(row["subject"]) for row in listed if row["kind"] == "removed")
    named = [match[1] for match in found if match is not None]
    return {text: (text.partition(" ")[0], text.partition(" ")[2]) for text in named}


def compare(
    upstream: Mapping[str, Any], generated: Mapping[str, Any], listed: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Place and what differs, for each difference that is not listed.

    Args:
        listed: rows of `interface.json`; `subject` is method and path.
    """
    removed = removed_endpoints(listed)
    expected = json.loads(json.dumps(upstream))
    paths = expected.get("paths", {})
    for path in list(paths):
        for method in list(paths[path]):
            if f"{method.upper()} {path}" in removed and method not in generated.get("paths", {}).get(path, {}):
                del paths[path][method]
        if not paths[path]:
            del paths[path]
    if removed:
        _prune(expected)
    for place, before, after in walk(expected, generated):
        if after is MISSING:
            said = "upstream's document has it, the generated tree's does not, and no rule is listed for it"
        elif before is MISSING:
            said = "the generated tree's document has it and upstream's does not"
        else:
            said = f"upstream {json.dumps(before)[:120]}, generated {json.dumps(after)[:120]}"
        yield "".join(f"/{part}" for part in place), said


def _prune(document: dict[str, Any]) -> None:
    """Take away the schemas that no endpoint leads to."""
    schemas = document.get("components", {}).get("schemas", {})
    reached: set[str] = set()
    pending = [document.get("paths", {})]
    while pending:
        for name in _references(pending.pop()):
            if name in schemas and name not in reached:
                reached.add(name)
                pending.append(schemas[name])
    for name in [name for name in schemas if name not in reached]:
        del schemas[name]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield str(item).rpartition("/")[2]
            else:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
