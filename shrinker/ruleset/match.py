"""Patterns over dotted names and paths.

`*` stands for any text within one component, `**` for any number of whole components. In a dotted
name neither stands for a call: what ``Recorder().is_hip`` names is no definition that
``sglang.**.is_hip`` speaks of. A pattern writes the ``()`` itself
(``sglang.**.get_platform().is_hip``).
"""

import re
from collections.abc import Sequence
from functools import cache

from shrinker.values.upstream import enclosing


@cache
def _sorted_out(
    patterns: Sequence[str], separator: str, below: bool
) -> tuple[frozenset[str], re.Pattern[str] | None]:
    """Return the patterns without a star, and an expression for the others; `below` matches what
    lies below them, too.

    Most patterns have no star, and compiling an expression of all of them takes longer than asking
    it.
    """
    plain = frozenset(pattern.rstrip("/") for pattern in patterns if "*" not in pattern)
    texts = "|".join(
        f"(?:{_text(pattern.rstrip('/'), separator)})" for pattern in patterns if "*" in pattern
    )
    whole = rf"(?:{texts})(?:{re.escape(separator)}[\s\S]*)?" if below else texts
    return plain, re.compile(whole) if texts else None


def _any_matches(patterns: Sequence[str], text: str, separator: str) -> bool:
    """Tell whether one of the patterns names `text` or something that holds it."""
    plain, others = _sorted_out(patterns, separator, True)
    if plain and not plain.isdisjoint((text, *enclosing(text, separator))):
        return True
    return others is not None and others.fullmatch(text) is not None


def _text(pattern: str, separator: str) -> str:
    """Return the regular expression of a pattern."""
    inner, rest = (r"[^.()]*", r"[^()]*") if separator == "." else (f"[^{separator}]*", ".*")
    *folders, last = pattern.split(separator)
    end = re.escape(separator)
    parts = [
        f"(?:{inner}{end})*" if part == "**" else _component(part, inner) + end for part in folders
    ]
    return "".join(parts) + (rest if last == "**" else _component(last, inner))


def _component(text: str, inner: str) -> str:
    return inner.join(map(re.escape, text.split("*")))


def module_matches(pattern: str, dotted: str) -> bool:
    """Tell whether the pattern names `dotted` or a package that holds it."""
    return any_module_matches((pattern,), dotted)


def any_module_matches(patterns: tuple[str, ...], dotted: str) -> bool:
    """Tell whether one of the patterns names `dotted` or a package that holds it."""
    return _any_matches(patterns, dotted, ".")


def name_matches(pattern: str, dotted: str) -> bool:
    """Tell whether the pattern names exactly `dotted`."""
    return pattern == dotted if "*" not in pattern else any_name_matches((pattern,), dotted)


def any_name_matches(patterns: tuple[str, ...], dotted: str) -> bool:
    """Tell whether one of the patterns names exactly `dotted`."""
    plain, others = _sorted_out(patterns, ".", False)
    return dotted in plain or (others is not None and others.fullmatch(dotted) is not None)


def path_matches(pattern: str, path: str) -> bool:
    """Tell whether the pattern names `path` or a folder that holds it."""
    return any_path_matches((pattern,), path)


def any_path_matches(patterns: tuple[str, ...], path: str) -> bool:
    """Tell whether one of the patterns names `path` or a folder that holds it."""
    return _any_matches(patterns, path, "/")


def overlap(pattern: str, other: str) -> bool:
    """Tell whether some dotted name matches both patterns (for a ``*`` within a component: when it
    may).
    """
    return _overlap(tuple(pattern.split(".")), tuple(other.split(".")))


@cache
def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if not one or not other:
        return all(component == "**" for component in (*one, *other))
    if one[0] == "**":
        return _overlap(one[1:], other) or ("(" not in other[0] and _overlap(one, other[1:]))
    if other[0] == "**":
        return _overlap(one, other[1:]) or ("(" not in one[0] and _overlap(one[1:], other))
    return _component_overlap(one[0], other[0]) and _overlap(one[1:], other[1:])


def _component_overlap(one: str, other: str) -> bool:
    if "*" not in one or "*" not in other:
        return name_matches(other, one) or name_matches(one, other)
    if one.endswith("()") is not other.endswith("()"):
        return False
    heads = sorted((one.partition("*")[0], other.partition("*")[0]), key=len)
    tails = sorted((one.rpartition("*")[2], other.rpartition("*")[2]), key=len)
    return heads[1].startswith(heads[0]) and tails[1].endswith(tails[0])
