"""OpenAPI documents of both trees: upstream's, less the listed endpoints and what only they use, is the generated one."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from equivalence.serving.record import MISSING, walk

_ENDPOINT = re.compile(r"([A-Z]+) (/\S*)(?: or what \w+ names)?")
_REFERENCE = re.compile(r'"\$ref": "(?:[^"]*/)?([^"/]*)"')


def removed_endpoints(listed: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Method and path of each endpoint that was removed, by both in one text, in the order of these rows of `interface.json`.

    Where the environment may name another path it is the default; without one nothing can be asked for.
    """
    found = (_ENDPOINT.fullmatch(row["subject"]) for row in listed if row["kind"] == "removed")
    return {f"{match[1]} {match[2]}": (match[1], match[2]) for match in found if match}


def compare(
    upstream: Mapping[str, Any], generated: Mapping[str, Any], listed: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Place and what differs, for each difference that is not listed in rows of `interface.json`, whose `subject` is method and path."""
    removed = removed_endpoints(listed)
    expected, theirs = deepcopy(dict(upstream)), generated.get("paths", {})
    paths = expected.get("paths", {})
    for path in list(paths):
        for method in list(paths[path]):
            if f"{method.upper()} {path}" in removed and method not in theirs.get(path, {}):
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
        names = {*_REFERENCE.findall(json.dumps(pending.pop()))} & schemas.keys() - reached
        reached |= names
        pending += [schemas[name] for name in names]
    for name in schemas.keys() - reached:
        del schemas[name]
