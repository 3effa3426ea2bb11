"""What both trees offer, less what `interface.json` lists: the text of `--help`, option by option,
and OpenAPI documents.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from itertools import takewhile
from typing import Any

from equivalence.serving.record import MISSING, walk
from shrinker.values.relations import grouped, reached

_OPTION = re.compile(r"  (?P<names>-{1,2}[A-Za-z][^\n]*?)(?:  |$)")
_LISTS = re.compile(r"\[('[^\[\]]*')\]")
_CHOICES = re.compile(r"\{([^{}]*)\}")
_SOCKET = "WEBSOCKET"
_ENDPOINT = re.compile(r"([A-Z]+) (/\S*)(?: or what \w+ names)?")
_REFERENCE = re.compile(r'"\$ref": "(?:[^"]*/)?([^"/]*)"')


def options(text: str) -> dict[str, str]:
    """Return each option's entry by its longest name, blanks normalised; `(text)` is all that is no
    entry.

    The usage line is left out: it repeats the entries.
    """
    body = re.sub(
        r"\A.*?(?=^\S[^\n]*:$|^options:)", "", text, count=1, flags=re.DOTALL | re.MULTILINE
    )
    current, found = "(text)", defaultdict[str, list[str]](list, {"(text)": []})
    for line in body.splitlines():
        if _OPTION.match(line):
            current = max(
                re.findall(r"--?[A-Za-z][\w-]*", _CHOICES.sub("", line.partition("   ")[0])),
                key=len,
            )
        elif line and not line.startswith("    "):
            current = "(text)"
        found[current].append(line)
    return {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}


def compare_help(
    upstream: str,
    generated: str,
    listed: Iterable[Mapping[str, Any]],
    refused: Iterable[Mapping[str, Any]] = (),
) -> Iterator[tuple[str, str]]:
    """Option and what differs, for each difference that is not listed.

    Args:
        listed: rows of `interface.json`: `subject` is a flag, `kind` what differs, `before` and
            `after` the values.
        refused: its rows of refusals: a value that is refused may be no choice any more.
    """
    before, after = options(upstream), options(generated)
    rows = defaultdict[str, list[Mapping[str, Any]]](
        list, grouped((row["subject"], row) for row in listed)
    )
    for row in refused:
        name, values, only = row["subject"], row.get("values", ()), row.get("only") or ()
        for choice in _choices(before.get(name, "")):
            gone = choice in values or (only and choice not in only and choice != "auto")
            # Listed or refused: the choice may still be there.
            if gone and choice not in _choices(after.get(name, "")):
                rows[name].append({"kind": "choice removed", "before": choice, "after": ""})
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            if not any(row["kind"] == "removed" for row in rows[name]):
                yield (
                    name,
                    "upstream has it, the generated tree does not, and no rule is listed for it",
                )
        elif name not in before:
            yield name, "the generated tree has it and upstream does not"
        elif before[name] != after[name] and not _explained(before[name], after[name], rows[name]):
            # Both texts from where they part.
            alike = takewhile(
                lambda pair: pair[0] == pair[1], zip(before[name], after[name], strict=False)
            )
            start = max(0, len(list(alike)) - 20)
            theirs, ours = (side[name][start : start + 80] for side in (before, after))
            yield name, f"upstream says …{theirs}…, the generated tree …{ours}…"


def _explained(before: str, after: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether the listed rows turn upstream's entry into the generated one."""
    for row in rows:
        old, new = (str(row[name]).strip("'\"") for name in ("before", "after"))
        if row["kind"] == "choice removed":
            # A text may list the choices once more, as Python prints them.
            for pattern, gone in ((_CHOICES, old), (_LISTS, f"'{old}'")):
                before = pattern.sub(partial(_without, gone), before)
        elif row["kind"] == "default changed":
            before = before.replace(old, new)
        elif row["kind"] in ("changed", "choices changed"):
            return True
    # Line breaks within lists of choices move with their length.
    return re.sub(r"\s", "", before) == re.sub(r"\s", "", after)


def _without(gone: str, found: re.Match[str]) -> str:
    """Return a list of choices without one of them."""
    return (
        found[0][0]
        + ",".join(each for each in found[1].split(",") if each.strip() != gone).strip()
        + found[0][-1]
    )


def _choices(entry: str) -> list[str]:
    """Return the choices that an entry lists, the first time it does."""
    found = _CHOICES.search(entry)
    return [choice.strip() for choice in found[1].split(",")] if found else []


def removed_endpoints(listed: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Method and path of each endpoint that was removed, by both in one text, in the order of these
    rows of `interface.json`.

    Where the environment may name another path it is the default; without one nothing can be asked
    for. Sockets are none of them.
    """
    rows = (match.groups() for match in _removed(listed) if match[1] != _SOCKET)
    return {f"{method} {path}": (method, path) for method, path in rows}


def removed_sockets(listed: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return paths of the sockets that were removed, of the same rows."""
    return frozenset(match[2] for match in _removed(listed) if match[1] == _SOCKET)


def _removed(listed: Iterable[Mapping[str, Any]]) -> Iterator[re.Match[str]]:
    found = (_ENDPOINT.fullmatch(row["subject"]) for row in listed if row["kind"] == "removed")
    yield from filter(None, found)


def compare_documents(
    upstream: Mapping[str, Any], generated: Mapping[str, Any], listed: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Place and what differs, for each difference that is not listed in rows of `interface.json`,
    whose `subject` is method and path.
    """
    removed = removed_endpoints(listed)
    expected, theirs = deepcopy(dict(upstream)), generated.get("paths", {})
    paths = expected.get("paths", {})
    for path, methods in [*paths.items()]:
        for method in {*methods} - {*theirs.get(path, {})}:
            if f"{method.upper()} {path}" in removed:
                del methods[method]
        if not methods:
            del paths[path]
    if removed:
        _prune(expected)
    for place, before, after in walk(expected, generated):
        if after is MISSING:
            said = (
                "upstream's document has it, the generated tree's does not, and no rule is listed "
                "for it"
            )
        elif before is MISSING:
            said = "the generated tree's document has it and upstream's does not"
        else:
            said = f"upstream {json.dumps(before)[:120]}, generated {json.dumps(after)[:120]}"
        yield "".join(f"/{part}" for part in place), said


def _prune(document: dict[str, Any]) -> None:
    """Take away the schemas that no endpoint leads to."""
    schemas: dict[str, Any] = document.get("components", {}).get("schemas", {})

    def named(part: Any) -> set[str]:
        return {*_REFERENCE.findall(json.dumps(part))} & schemas.keys()

    for name in (
        schemas.keys()
        - reached(named(document.get("paths", {})), lambda name: named(schemas[name])).keys()
    ):
        del schemas[name]
