"""Write `sglang/removed_features.py`: the table of what a generated tree refuses, and the function that looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from shrinker.ruleset.match import name_matches
from shrinker.ruleset.models import Refusal
from shrinker.values.edits import Refuse
from shrinker.values.folded import FoldedModule

_TEMPLATE = Path(__file__).with_name("removed_features.py")


def refusals_module(
    rules: Iterable[Refusal],
    switches: Iterable[tuple[str, str]],
    folded: Mapping[str, FoldedModule],
    kept: Iterable[str],
) -> str | None:
    """Text of the module; None when no kept function looks.

    Args:
        rules: in the order in which they count.
        switches: environment variables that the closed world says are off, and the rule that says so.
        folded: folded modules by path.
        kept: paths of the tree.
    """
    rows: dict[str, None] = {}
    looks = sorted(_looks(folded, kept))
    for rule in rules:
        for place in looks:
            if name_matches(rule.function, place):
                fields = (place, rule.attribute, rule.values, rule.only, rule.feature, rule.id, rule.instead)
                rows[f"    Refusal({', '.join(map(ascii, fields))}),\n"] = None
    if not looks:
        return None
    text = _TEMPLATE.read_text("utf-8")
    for name, kind, lines in (
        ("REFUSALS", "tuple[Refusal, ...]", rows),
        ("SWITCHES", "tuple[tuple[str, str], ...]", [f"    {pair!a},\n" for pair in switches]),
    ):
        empty = f"{name}: {kind} = ()"
        assert empty in text, "the template holds the empty tables"
        text = text.replace(empty, f"{name}: {kind} = (\n{''.join(lines)})")
    return text


def _looks(folded: Mapping[str, FoldedModule], kept: Iterable[str]) -> set[str]:
    return {edit.place for path in kept if path in folded for edit in folded[path].edits if isinstance(edit, Refuse)}
