"""Patterns over dotted names and paths.

`*` stands for any text within one component, `**` for any number of whole components.
"""

from __future__ import annotations

import re
from functools import cache


@cache
def _compile(pattern: str, separator: str) -> re.Pattern[str]:
    inner = f"[^{re.escape(separator)}]*"
    parts: list[str] = []
    components = pattern.split(separator)
    for index, component in enumerate(components):
        last = index == len(components) - 1
        if component == "**":
            parts.append(".*" if last else f"(?:{inner}{re.escape(separator)})*")
        else:
            text = "".join(inner if c == "*" else re.escape(c) for c in component)
            parts.append(text if last else text + re.escape(separator))
    return re.compile("".join(parts))


def module_matches(pattern: str, dotted: str) -> bool:
    """True when the pattern names `dotted` or a package that holds it."""
    compiled = _compile(pattern, ".")
    name = dotted
    while name:
        if compiled.fullmatch(name):
            return True
        name = name.rpartition(".")[0]
    return False


def name_matches(pattern: str, dotted: str) -> bool:
    """True when the pattern names exactly `dotted`."""
    return _compile(pattern, ".").fullmatch(dotted) is not None


def path_matches(pattern: str, path: str) -> bool:
    """True when the pattern names `path` or a folder that holds it."""
    compiled = _compile(pattern.rstrip("/"), "/")
    name = path
    while name:
        if compiled.fullmatch(name):
            return True
        name = name.rpartition("/")[0]
    return False
