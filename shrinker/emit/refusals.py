"""Write `sglang/removed_features.py`: the table of what a generated tree refuses, and the function that looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import wrap

from shrinker.emit.removed_features import Endpoint, Option
from shrinker.ruleset.match import any_name_matches
from shrinker.ruleset.models import Refusal
from shrinker.values.edits import Guard, Refuse
from shrinker.values.folded import FoldedModule
from shrinker.values.graph import Removal
from shrinker.values.upstream import module_name

_WIDTH = 108
"""Of the names on one line."""
_TEMPLATE, _END = (Path(__file__).with_name(f"{name}.py") for name in ("removed_features", "refused_runs"))
_BEGINS = "# What is written into a tree begins here.\n"
_FOR_END = "  # noqa: F401 -- The end of the module does."


def refusals_module(
    rules: Iterable[Refusal],
    switches: Iterable[tuple[str, str]],
    folded: Mapping[str, FoldedModule],
    kept: Iterable[str],
    removed: Mapping[str, Removal] | None = None,
    features: Mapping[str, str] | None = None,
    endpoints: Iterable[Endpoint] = (),
    options: Iterable[Option] = (),
    names: Iterable[tuple[str, str]] = (),
) -> str | None:
    """Text of the module; None when no kept function looks and no kept module guards imports.

    Args:
        rules: in the order in which they count.
        switches: environment variables that the closed world says are off, and the rule that says so.
        folded: folded modules by path.
        kept: paths of the tree.
        removed: path of every other file of upstream to what removed it; for a guard of imports.
        features: rule to the feature that it removes.
        endpoints: what the server no longer answers.
        options: flags and choices that command lines no longer take.
        names: that kept modules have lost, below their modules, with their rules; for a guard of imports.
    """
    kept = sorted(kept)
    rows: dict[str, None] = {}
    edits = [edit for path in kept if path in folded for edit in folded[path].edits]
    looks = sorted({edit.place for edit in edits if isinstance(edit, Refuse)})
    for rule in rules:
        for place in looks:
            if any_name_matches(rule.functions, place):
                fields = (place, rule.attributes, rule.values, rule.only, rule.feature, rule.id, rule.instead)
                more = ", True" if rule.any_case else ""
                rows[f"    Refusal({', '.join(map(ascii, fields))}{more}),\n"] = None
    guards = any(isinstance(edit, Guard) for edit in edits)
    if not looks and not guards:
        return None
    gone = removed_modules(removed or {}, kept) if guards else {}
    modules = sorted(gone.items(), key=lambda row: row[0].rpartition(".")[0])

    def went(rows: Iterable[tuple[str, str]]) -> list[str]:
        return _by_rule((rule, f"{(features or {}).get(rule, '')!a}, ", word) for word, rule in _in_packages(rows))

    text = _TEMPLATE.read_text("utf-8").replace(_FOR_END, "") + _END.read_text("utf-8").partition(_BEGINS)[2]
    for name, kind, lines in (
        ("REFUSALS", "tuple[Refusal, ...]", rows),
        ("SWITCHES", "tuple[tuple[str, str], ...]", _by_rule((rule, "", name) for name, rule in switches)),
        ("ENDPOINTS", "tuple[Endpoint, ...]", [f"    Endpoint{tuple(row)!a},\n" for row in endpoints]),
        ("OPTIONS", "tuple[Option, ...]", [f"    Option{tuple(row)!a},\n" for row in options] if guards else []),
        ("GONE", "tuple[tuple[str, str, str], ...]", went(modules)),
        ("NAMES", "tuple[tuple[str, str, str], ...]", went(names) if guards else []),
    ):
        empty = f"{name}: {kind} = ()"
        assert empty in text, "the template holds the empty tables"
        text = text.replace(empty, f"{name}: {kind} = (\n{''.join(lines)})")
    return text


def _by_rule(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Rows of rule, more of it, and all names that have both: several names a line, so that the tables are shorter than what reads
    them."""
    by_rule: dict[tuple[str, str], list[str]] = {}
    for rule, more, name in rows:
        by_rule.setdefault((rule, more), []).append(name)
    found: list[str] = []
    for (rule, more), names in sorted(by_rule.items()):
        lines = wrap(" ".join(names), _WIDTH, break_on_hyphens=False)
        found.append(f"    ({rule!a}, {more}" + "\n        ".join(f"{line + ' '!a}" for line in lines) + "),\n")
    return found


def removed_modules(removed: Mapping[str, Removal], kept: Iterable[str]) -> dict[str, str]:
    """Removed modules to what removed them, sorted; what stands below one and went by the same rule goes with it.

    Args:
        removed: paths of removed files; those that are no modules of the package are left out.
        kept: paths of the tree.
    """
    gone = {name: removal.rule for path, removal in removed.items() if (name := module_name(path)) is not None}
    below: dict[str, set[str]] = {}
    for name, rule in [*gone.items(), *((name, "") for path in kept if (name := module_name(path)) is not None)]:
        # A package is also what only holds modules, without an `__init__`.
        while name:
            below.setdefault(name, set()).add(rule)
            name = name.rpartition(".")[0]
    found: dict[str, str] = {}
    for name in sorted(below):
        above = name.rpartition(".")[0]
        while above and above not in found:
            above = above.rpartition(".")[0]
        if name in gone or "" not in below[name]:
            # A folder without an `__init__` went by several rules: one that a person wrote says most.
            rule = gone.get(name) or min(below[name], key=lambda rule: (rule == "unreachable", rule))
            if not above or found[above] != rule:
                found[name] = rule
    return found


def _in_packages(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Words of the table and their rule: each package or module once, with a colon, before what of it went by the rule."""
    by_rule: dict[str, dict[str, list[str]]] = {}
    for dotted, rule in rows:
        package, _, name = dotted.rpartition(".")
        by_rule.setdefault(rule, {}).setdefault(package, []).append(name)
    return [
        (word, rule)
        for rule, packages in by_rule.items()
        for package, names in packages.items()
        for word in (f"{package}:", *sorted(names))
    ]
