"""Strict mode: what a run refuses although the tree would be sound, each with sites and a rule in
TOML to paste, its `why` to be written.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent

from shrinker.check.trees import Trees
from shrinker.program.decided import Analysis
from shrinker.program.edges.modules import missing_roots
from shrinker.report.effects import RuleEffect, names_of, occurring, rule_effects
from shrinker.report.place import some
from shrinker.report.summary import measure
from shrinker.ruleset import Leftover, Rule, Ruleset
from shrinker.ruleset.match import any_module_matches
from shrinker.ruleset.models import Refusal
from shrinker.values.folded import FoldedModule
from shrinker.values.interface import Interface
from shrinker.values.leftovers import KINDS, Kind, Leftovers
from shrinker.values.leftovers import Leftover as Found
from shrinker.values.outcome import Finding
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

REFUSED: frozenset[Kind] = frozenset({"predicates", "flags", "environment", "absent imports"})
"""Kinds of leftovers that must have their reason.

Texts and names are listed by `shrinker leftovers` alone.
"""

_ORDER = ("unnamed-predicate", "undecided-fact", "leftover")
_SHOWN_SITES = 5
_WHY = "Say why: what makes this so on every NVIDIA machine?"


def find_refused(
    trees: Trees, analysis: Analysis, interface: Interface, left: Leftovers
) -> tuple[Finding, ...]:
    """Return what strict mode refuses of a generated tree, in which this is left of other
    platforms.
    """
    tree, rules = trees.source, trees.stated
    effects = rule_effects(
        rules, analysis.graph, analysis.folded, measure(tree, trees.manifest), analysis.cuts
    )
    found = strict_findings(tree, rules, effects, missing_roots(tree, rules), analysis.folded, left)
    return (*found, *interface.unexplained())


def strict_findings(
    tree: UpstreamTree,
    rules: Ruleset,
    effects: Sequence[RuleEffect],
    missing_roots: Sequence[tuple[str, str]],
    folded: Mapping[str, FoldedModule],
    left: Leftovers,
) -> list[Finding]:
    """Return what strict mode refuses.

    Args:
        tree: upstream: a rule that decides nothing has its match where upstream still writes what
            it names.
        missing_roots: rule id and module of each root that the tree does not have.
        folded: the kept modules, for what folding could not decide.
    """
    version = tree.identity.version
    optional = {rule.id for rule in rules.all_rules() if rule.may_idle(version)}
    mend = "is not in this upstream: rename it there, or mark the rule `optional = true`"
    roots = [(rule, module) for rule, module in missing_roots if rule not in optional]
    found = [
        Finding("missing-root", module, 0, f"root of rule {_place(rules, rule)} {mend}")
        for rule, module in roots
    ]
    about_constructs = [rule for rule in rules.leftovers if rule.positions == ("construct",)]
    accepted, open_constructs = _constructs(about_constructs, folded)
    idle = [effect.id for effect in effects if effect.idle and effect.id not in optional]
    idle += left.unmatched
    every = (*rules.all_rules(), *rules.leftovers)
    spoken = occurring(
        tree, (rule for rule in every if rule.id in set(idle) and _may_idle(rules, rule))
    )
    idle = [rule for rule in idle if rule not in spoken]
    idle += [
        rule.id
        for rule in about_constructs
        if rule.id not in accepted and not rule.may_idle(version)
    ]
    mend = "matches nothing in this upstream: mend it, mark it `optional = true`, or take it out"
    for rule in idle:
        file, _, line = rules.places.get(rule, "rules:0").rpartition(":")
        found.append(Finding("unmatched-rule", file, int(line), f"rule {rule} {mend}"))
    found += open_constructs
    for suspect in left.suspects:
        name = suspect.name
        # The words of a predicate of the platform that is served.
        words = [
            w
            for w in name.strip("_").split("_")
            if w not in ("is", "available", "supported", "enabled")
        ]
        own = table("platform", f"words-{slug(name)}", {"words": words[:1] or [name], "own": True})
        message = (
            f"`{name}` of {suspect.defined} stands beside {', '.join(suspect.beside)}, is asked in "
            f"{_sites(suspect.sites)}, and no rule names it. If it asks for another platform:\n"
            f"{propose_fact(f'{name}()')}\n    else:\n{own}"
        )
        found.append(Finding("unnamed-predicate", *suspect.sites[0], message))
    return [
        *found,
        *sorted(_unexplained(rules, left), key=lambda finding: _ORDER.index(finding.check)),
    ]


def _may_idle(rules: Ruleset, rule: Rule) -> bool:
    """False for a refusal that would look in a module which stays, or which nothing reaches: it
    enforces something.
    """
    removed = tuple(pattern for remove in rules.removes for pattern in remove.modules)
    return not isinstance(rule, Refusal) or any(
        any_module_matches(removed, name) for name in rule.functions
    )


def _place(rules: Ruleset, rule: str) -> str:
    return f"{rule} ({rules.places[rule]})" if rule in rules.places else rule


def _constructs(
    rules: Iterable[Leftover], folded: Mapping[str, FoldedModule]
) -> tuple[set[str], list[Finding]]:
    """Return rules that accept a construct which folding left undecided, and the constructs that
    none accepts.
    """
    accepted: set[str] = set()
    found: list[Finding] = []
    uncertain = (item for module in folded.values() for item in module.uncertain)
    for item in sorted(uncertain, key=lambda u: (u.path, u.line)):
        module = folded[item.path].module
        taken = [rule.id for rule in rules if any_module_matches(rule.where, module)]
        accepted.update(taken)
        if not taken:
            message = (
                f"{item.reason}. It stays as upstream wrote it, which is sound; to accept that:"
            )
            name = f"leftover-{slug(module.rpartition('.')[2])}-construct"
            rule = table("leftover", name, {"in": ["construct"], "where": [module]})
            found.append(
                Finding("unsupported-construct", item.path, item.line, f"{message}\n{rule}")
            )
    return accepted, found


def _unexplained(rules: Ruleset, left: Leftovers) -> Iterator[Finding]:
    """Yield one finding for each name."""
    named = _named(rules)
    refused = (each for each in left.unexplained if each.kind in REFUSED)
    groups = grouped(((each.kind, each.text.removesuffix("()")), each) for each in refused)
    for (kind, name), rows in sorted(
        groups.items(), key=lambda item: (KINDS.index(item[0][0]), item[0][1])
    ):
        # A condition is what the person should look at first, and its call what a fact would name.
        first = min(
            rows,
            key=lambda row: (
                row.position != "test",
                not row.text.endswith("()"),
                row.path,
                row.line,
            ),
        )
        text, sites = first.text, _sites([(row.path, row.line) for row in rows])
        known = named.get(name.rpartition(".")[2]) or named.get(name)
        if known is not None:
            check, says = (
                "undecided-fact",
                f"rule {_place(rules, known)} decides `{text}`, but not in this construct",
            )
            message = (
                f"{says} ({first.position}; {sites}). If it must stay:\n{propose_leftover(first)}"
            )
        elif kind == "predicates" and first.position == "test":
            check, says = (
                "unnamed-predicate",
                f"`{text}` looks like a platform test, and no rule names it",
            )
            message = f"{says} ({sites}):\n{propose_fact(text)}"
        else:
            check, says = (
                "leftover",
                f"`{text}` is left of another platform ({first.position}; {sites})",
            )
            rule = (
                propose_leftover(first)
                if kind == "absent imports"
                else propose_fact(text, kind, first.path)
            )
            message = f"{says}:\n{rule}"
        yield Finding(check, first.path, first.line, message)


def _named(rules: Ruleset) -> dict[str, str]:
    """Return last component, and whole name, of everything that a fact decides, with the rule."""
    named: dict[str, str] = {}
    for pattern, rule in ((pattern, fact.id) for fact in rules.facts for pattern in names_of(fact)):
        named.setdefault(pattern, rule)
        if pattern.startswith((".", "sglang.")):
            named.setdefault(pattern.rpartition(".")[2], rule)
    return named


def _sites(sites: Sequence[tuple[str, int]]) -> str:
    return ", ".join(some([f"{path}:{line}" for path, line in sites], _SHOWN_SITES))


def propose_fact(text: str, kind: Kind = "predicates", path: str = "") -> str:
    """Return a `[[fact]]` that makes a name false, as the code of a file writes it: a call ends in
    ``()``.
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
    return table("fact", f"platform-{slug(last)}", {**keys, "value": False})


def propose_leftover(leftover: Found) -> str:
    """Return a `[[leftover]]` that gives one leftover its reason."""
    keys = {
        "kind": [leftover.kind],
        "in": [leftover.position],
        "words": [leftover.text],
        "where": [leftover.where],
    }
    return table("leftover", f"leftover-{slug(leftover.text)}", keys)


def table(kind: str, name: str, keys: Mapping[str, object]) -> str:
    """Return a rule in TOML, its `why` to be written."""
    # JSON's strings, arrays and truth values are TOML's too.
    rows = [f"[[{kind}]]", f"id = {json.dumps(name)}", f"why = {json.dumps(_WHY)}"]
    rows += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    return indent("\n".join(rows), "    ")


def slug(text: str) -> str:
    """Return a text as the id of a rule may hold it."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "name"
