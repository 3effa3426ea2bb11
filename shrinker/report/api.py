"""What is offered otherwise than by upstream: public names that are not in the generated tree, by
module, and why; and the content of `interface.json` and `interface.md`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from shrinker.cache import Cache
from shrinker.check.capabilities.vocabulary import Vocabulary
from shrinker.program.definitions import Definition, read_public_names
from shrinker.program.written import Written
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import any_name_matches
from shrinker.values.graph import UNREACHABLE, Graph
from shrinker.values.interface import KEPT, Difference, Entries, Interface, Refused
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

IMPORTED = "only code that is gone imports it"
SAID = "only its own module says it, in code that is gone"
DROPPED = "nothing in upstream says it, and a word in it is of something that the profile drops"
INTERNAL = "nothing in upstream says it, and a person read that nobody outside takes it"
_HANDED = ("import", "star")
Lost = Mapping[str, Mapping[Definition, str]]
"""By path of a module its public names that are gone, with the rule that removed them or
``unreachable``.
"""


@dataclass(slots=True)
class ApiPage:
    """What the page shows; each row is a module, and names of it in the order of the alphabet."""

    ruled: list[tuple[str, str, list[str]]] = field(default_factory=list)
    """With the rule."""
    unread: list[tuple[str, list[str]]] = field(default_factory=list)
    """Names that nothing in upstream says but where they are defined, and of which nobody has said
    what they are for.
    """
    counts: Counter[str] = field(default_factory=Counter)
    """Those that need no reader, by why."""
    handed: int = 0
    """Names that a module only handed on from another one."""


def removed_definitions(
    tree: UpstreamTree, graph: Graph, cache: Cache
) -> dict[str, tuple[Definition, ...]]:
    """Return public names of modules that are not in the tree, by path."""
    hashes = {
        path: tree.by_path[path].sha256
        for path in sorted(graph.removed)
        if module_name(path) is not None
    }
    return read_public_names(hashes, tree.read, cache)


def api_page(
    tree: UpstreamTree,
    graph: Graph,
    lost: Lost,
    gone: Mapping[str, tuple[Definition, ...]],
    written: Written,
    rules: Ruleset,
) -> ApiPage:
    """Sort the names by why they went.

    A name is private where upstream's own code is who used it: that went by a rule, and the name
    with it. Of what nobody used, a name may be said to be `[[internal]]`, or hold a word of
    something that the profile drops.
    """
    page, vocabulary = ApiPage(), Vocabulary(rules.dropped)
    internal = tuple(name for rule in rules.internals for name in rule.names)
    imported = grouped((dotted, path) for path, rows in written.items() for _, dotted in rows)
    names: dict[str, Mapping[Definition, str]] = dict(lost)
    names |= {
        path: dict.fromkeys(found, graph.removed[path].rule)
        for path, found in gone.items()
        if found
    }
    for module, path in sorted((module_name(path) or path, path) for path in names):
        page.handed += sum(one.kind in _HANDED for one in names[path]) if path in lost else 0
        by_rule = grouped(
            (rule, one) for one, rule in names[path].items() if one.kind not in _HANDED
        )
        unreachable = by_rule.pop(UNREACHABLE, [])
        page.ruled += [
            (module, rule, sorted(one.name for one in found))
            for rule, found in sorted(by_rule.items())
        ]
        text = tree.read(path).decode("utf-8", "replace") if unreachable else ""
        around = module.split(".") if path in gone else []
        unread: list[str] = []
        for one in unreachable:
            qualified = f"{module}.{one.name}"
            if any(user != path for user in imported.get(qualified, ())):
                page.counts[IMPORTED] += 1
            elif _says(text, one):
                page.counts[SAID] += 1
            elif vocabulary.of((*around, one.name), False):
                page.counts[DROPPED] += 1
            elif any_name_matches(internal, qualified):
                page.counts[INTERNAL] += 1
            else:
                unread.append(
                    {"assign": "{}", "function": "{}()"}.get(one.kind, "class {}").format(one.name)
                )
        if unread:
            page.unread.append((module, sorted(unread)))
    return page


def _says(text: str, one: Definition) -> bool:
    """Tell whether a module says a name outside of the lines that define it, comments left out."""
    lines = text.split("\n")
    outside = "\n".join(
        line.partition("#")[0] for line in (*lines[: one.line - 1], *lines[one.end_line :])
    )
    return re.search(rf"\b{re.escape(one.name)}\b", outside) is not None


def definitions_data(
    gone: Mapping[str, tuple[Definition, ...]],
) -> dict[str, list[list[str | int]]]:
    """Return path and line of each function and class of removed modules, by its name, for
    `why-not`.
    """
    named = (
        (path, one)
        for path, names in gone.items()
        for one in names
        if one.kind in ("function", "class")
    )
    return grouped((one.name, [path, one.line]) for path, one in named)


def interface_groups(interface: Interface, entries: Entries, rules: Ruleset) -> dict[str, Any]:
    """Return what the page shows: the server's own flags apart from those of other programs."""
    classes = tuple(
        name for entry in rules.entries if entry.kind == "flag" for name in entry.classes
    )

    def own(row: Difference | Refused) -> bool:
        return any_name_matches(classes, row.where)

    refused = [row for row in interface.refused if row.subject.startswith("-")]
    return {
        "interface": interface,
        "server": [row for row in interface.flags if own(row)],
        "programs": [row for row in interface.flags if not own(row)],
        "refused": [row for row in refused if own(row)],
        "refused_programs": [row for row in refused if not own(row)],
        "refused_inside": [row for row in interface.refused if not row.subject.startswith("-")],
        "effects": [flag for flag in entries.flags if flag.effect != KEPT],
        "flags": len(entries.flags),
    }


def interface_data(interface: Interface, entries: Entries) -> dict[str, Any]:
    """Return the content of ``interface.json``."""
    effects = [asdict(flag) for flag in entries.flags if flag.effect != KEPT]
    return {
        "format": 1,
        "unexplained": len(interface.unexplained()),
        **asdict(interface),
        "effects": effects,
    }
