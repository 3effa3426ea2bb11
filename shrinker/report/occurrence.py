"""Rules that did nothing in the kept tree, and whether upstream speaks of what they name at all.

What only unreachable or removed modules ask is never folded, so that no decision rests on its rule. The rule has its
match all the same: it is a rule without one only when upstream has lost the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shrinker.ruleset import Absent, Fact, Leftover, Pure, Rule
from shrinker.ruleset.models import Refusal
from shrinker.values.upstream import UpstreamTree, module_name

_WORD = re.compile(r"\w+")


def occurring(tree: UpstreamTree, rules: Iterable[Rule]) -> frozenset[str]:
    """Ids of those facts, refusals, `absent`, `pure` and `leftover` rules that name something which a Python file of upstream writes.

    A qualified name occurs in a file when its last component is a word of the text, and each of the others is one too or
    a component of the module's name.

    Args:
        tree: upstream, all of it: what the graph does not reach counts.
        rules: the rules to look for; of other kinds none is found.
    """
    named = {rule.id: rule.words if isinstance(rule, Leftover) else tuple(names_of(rule)) for rule in rules}
    sought = {rule: [_Name(pattern) for pattern in names] for rule, names in named.items() if names}
    return frozenset(rule for rule, _, _, _ in _first_files(tree, sought))


def places_of(tree: UpstreamTree, patterns: Iterable[str]) -> dict[str, str]:
    """Those of some patterns over qualified names that a Python file of upstream writes, each with the first ``path:line``."""
    sought = {pattern: [_Name(pattern)] for pattern in patterns}
    return {pattern: f"{path}:{name.line_in(text)}" for pattern, name, path, text in _first_files(tree, sought)}


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
            yield from rule.functions


def _first_files(tree: UpstreamTree, sought: dict[str, list[_Name]]) -> Iterator[tuple[str, _Name, str, str]]:
    """Each key with the first of its names that a Python file writes, and path and text of the first such file."""
    left = dict(sought)
    for file in tree.files:
        if not left:
            return
        if not file.path.endswith(".py"):
            continue
        text = tree.read(file.path).decode("utf-8", "replace")
        parts = frozenset((module_name(file.path) or "").split("."))
        for key, names in list(left.items()):
            name = next((name for name in names if name.is_in(text, parts)), None)
            if name is not None:
                del left[key]
                yield key, name, file.path, text


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
