"""Rules that did nothing in the kept tree, and whether upstream speaks of what they name at all.

What only unreachable or removed modules ask is never folded, so that no decision rests on its rule. The rule has its
match all the same: it is a rule without one only when upstream has lost the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shrinker.ruleset import Absent, Fact, Pure, Rule
from shrinker.ruleset.models import Refusal
from shrinker.values.upstream import UpstreamTree, module_name

_WORD = re.compile(r"\w+")


def occurring(tree: UpstreamTree, rules: Iterable[Rule]) -> frozenset[str]:
    """Ids of those facts, refusals, `absent` and `pure` rules that name something which a Python file of upstream writes.

    A qualified name occurs in a file when its last component is a word of the text, and each of the others is one too or
    a component of the module's name.

    Args:
        tree: upstream, all of it: what the graph does not reach counts.
        rules: the rules to look for; of other kinds none is found.
    """
    sought = {rule.id: [_Name(p) for p in names] for rule in rules if (names := tuple(names_of(rule)))}
    found: set[str] = set()
    for file in tree.files:
        if not file.path.endswith(".py") or not sought:
            continue
        text = tree.read(file.path).decode("utf-8", "replace")
        parts = frozenset((module_name(file.path) or "").split("."))
        here = [rule for rule, names in sought.items() if any(name.is_in(text, parts) for name in names)]
        for rule in here:
            found.add(rule)
            del sought[rule]
    return frozenset(found)


def places_of(tree: UpstreamTree, patterns: Iterable[str]) -> dict[str, str]:
    """Those of some patterns over qualified names that a Python file of upstream writes, each with the first ``path:line``.

    Args:
        tree: upstream, all of it.
        patterns: as facts write them.
    """
    sought = {pattern: _Name(pattern) for pattern in patterns}
    found: dict[str, str] = {}
    for file in tree.files:
        if not file.path.endswith(".py") or not sought:
            continue
        text = tree.read(file.path).decode("utf-8", "replace")
        parts = frozenset((module_name(file.path) or "").split("."))
        for pattern in [p for p, name in sought.items() if name.is_in(text, parts)]:
            found[pattern] = f"{file.path}:{sought.pop(pattern).line_in(text)}"
    return found


def names_of(rule: Rule) -> Iterator[str]:
    """Patterns over qualified names of a fact, a refusal, an `absent` or a `pure` rule; none of another."""
    match rule:
        case Fact():
            yield from (*rule.calls, *rule.names, *rule.attributes, *rule.environment)
        case Absent():
            yield from (*rule.modules, *rule.attributes)
        case Pure():
            yield from rule.calls
        case Refusal():
            yield rule.function


class _Name:
    """A pattern over qualified names, to be looked for in texts."""

    def __init__(self, pattern: str) -> None:
        *before, last = pattern.replace("()", "").strip(".").split(".")
        self._before = [part for part in before if _WORD.fullmatch(part)]
        plain = last.partition("*")[0]
        self._plain = plain
        self._last = re.compile(r"\b" + re.escape(last).replace(r"\*", r"\w*") + r"\b")

    def is_in(self, text: str, parts: frozenset[str]) -> bool:
        """True when the text of a module writes the name; `parts` are the components of the module's own name."""
        return (
            # A plain search is many times as fast, and mostly the answer.
            self._plain in text
            and self._last.search(text) is not None
            and all(part in parts or re.search(rf"\b{part}\b", text) is not None for part in self._before)
        )

    def line_in(self, text: str) -> int:
        """Line of the last component, the first being 1; 0 when the text does not hold it."""
        found = self._last.search(text)
        return text.count("\n", 0, found.start()) + 1 if found is not None else 0
