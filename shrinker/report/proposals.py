"""Rules in TOML that strict mode proposes: to be pasted into a file of `rules/`, and their `why` to be written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from shrinker.values.leftovers import Kind, Leftover
from shrinker.values.upstream import module_name

_INDENT = "    "
_WHY = "Say why: what makes this so on every NVIDIA machine?"


def propose_fact(text: str, kind: Kind = "predicates", path: str = "") -> str:
    """A `[[fact]]` that makes a name false.

    Args:
        text: as the code writes it; a call ends in ``()``.
        kind: of the leftover.
        path: file that holds it, for a name of its module.
    """
    name = text.removesuffix("()").lstrip("….")
    last = name.rpartition(".")[2]
    if kind == "environment":
        keys: dict[str, Sequence[str]] = {"environment": [last]}
    elif text.endswith("()"):
        keys = {"calls": [f".{last}" if "." in text else f"sglang.**.{last}"]}
    elif "." in name:
        keys = {"attributes": [f".{last}"]}
    else:
        keys = {"names": [f"{module_name(path) or 'sglang.**'}.{last}"]}
    return table("fact", f"platform-{_slug(last)}", {**keys, "value": False})


def propose_platform(name: str) -> str:
    """The words of a predicate of the platform that is served."""
    words = [word for word in name.strip("_").split("_") if word not in ("is", "available", "supported", "enabled")]
    return table("platform", f"words-{_slug(name)}", {"words": words[:1] or [name], "own": True})


def propose_leftover(leftover: Leftover) -> str:
    """A `[[leftover]]` that gives one leftover its reason."""
    keys = {"kind": [leftover.kind], "in": [leftover.position], "words": [leftover.text], "where": [leftover.where]}
    return table("leftover", f"leftover-{_slug(leftover.text)}", keys)


def propose_acceptance(module: str) -> str:
    """A `[[leftover]]` that accepts what folding could not decide in a module."""
    keys: Mapping[str, object] = {"in": ["construct"], "where": [module]}
    return table("leftover", f"leftover-{_slug(module.rpartition('.')[2])}-construct", keys)


def table(kind: str, name: str, keys: Mapping[str, object]) -> str:
    """A rule in TOML, its `why` to be written."""
    # JSON's strings, arrays and truth values are TOML's too.
    rows = [f"[[{kind}]]", f"id = {json.dumps(name)}", f"why = {json.dumps(_WHY)}"]
    rows += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    return "\n".join(_INDENT + row for row in rows)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "name"
