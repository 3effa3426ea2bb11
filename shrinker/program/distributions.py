"""Which distributions the generated package still requires: those that kept code imports, and what
these load.

A distribution goes only where it is known what it installs: by the table of `[[distribution]]`
rules, or because some file of upstream imports a module of its name. Of the others nothing tells
what they are for, so that they stay.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.requirements import Requirement

from shrinker.program.nodes import distribution_name
from shrinker.program.written import Written
from shrinker.ruleset.match import any_module_matches, name_matches
from shrinker.ruleset.models import Distribution as Rule
from shrinker.ruleset.models import Ruleset
from shrinker.values.distributions import Distribution, Distributions
from shrinker.values.folded import Folded, FoldedModule, Uncertain
from shrinker.values.graph import Graph
from shrinker.values.relations import grouped
from shrinker.values.upstream import DeclaredPackage, UpstreamTree, module_name

_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.\w+)*")
PYPROJECT = "python/pyproject.toml"
_SITES = 20
"""Sites that are remembered of a distribution; the rest say nothing new."""
Site = tuple[str, int]


class _Code:
    """What kept code says of modules outside the tree, and where upstream imports them."""

    def __init__(
        self,
        tree: UpstreamTree,
        kept: Sequence[FoldedModule],
        written: Written,
        listings: tuple[str, ...],
    ) -> None:
        self._tree = tree
        self._kept = kept
        self.imports = defaultdict[str, set[Site]](set)
        """Modules, and what is imported from them, with the places."""
        self._bare = defaultdict[str, set[Site]](set)
        """Modules of which all is at hand: ``import a.b``, ``from a import *``."""
        self.anywhere = grouped(
            (dotted.partition(".")[0], (path, line, dotted))
            for path, rows in written.items()
            for line, dotted in rows
        )
        """Top-level name to the places of upstream that import it: path, line and dotted name."""
        for module in kept:
            for site in module.imports:
                if site.module.partition(".")[0] != tree.declared.name:
                    self._import(site.module, site.name, (module.path, site.line))
            for call in module.dynamic:
                if call.mechanism == "import_module" and call.target and "*" not in call.target:
                    self._import(call.target, None, (module.path, call.line))
        self.imported = {dotted.partition(".")[0] for dotted in self.imports}
        """Top-level names."""
        listing = (module for module in kept if not any_module_matches(listings, module.module))
        said = grouped(
            (s.text.partition(":")[0], (m.path, s.line)) for m in listing for s in m.strings
        )
        self._strings = {text: places for text, places in said.items() if _DOTTED.fullmatch(text)}
        """Strings that may be the name of a module."""
        self._names = grouped((distribution_name(text), text) for text in self._strings)
        """The same strings by the names of distributions that they may be."""

    def _import(self, dotted: str, name: str | None, place: Site) -> None:
        self.imports[dotted].add(place)
        if name in (None, "*"):
            self._bare[dotted].add(place)
        else:
            self.imports[f"{dotted}.{name}"].add(place)

    def users(self, module: str) -> set[Site]:
        """Return places that import a module, or something in it."""
        found = [places for dotted, places in self.imports.items() if _is_in(module, dotted)]
        # `import a` and then `a.b`: which part it reads is not known.
        found += [places for dotted, places in self._bare.items() if _is_in(dotted, module)]
        return set().union(*found)

    def named(self, name: str, modules: Iterable[str]) -> set[Site]:
        """Return places of strings that are a distribution's name, or that of a module that it
        installs: it may be imported, or looked for, by that.
        """
        texts = {
            *self._names.get(name, ()),
            *(t for module in modules for t in self._strings if _is_in(module, t)),
        }
        return {place for text in texts for place in self._strings[text]}

    def starting(self, command: str) -> set[Site]:
        """Return places that may run a program; a computed command line is no string that folding
        remembers, its words are.
        """
        words = set(re.findall(r"[A-Za-z_]\w*", command))
        whole = re.compile(rf"(?<![\w-]){re.escape(command)}(?![\w-])")
        found: set[Site] = set()
        for module in (module for module in self._kept if words.issubset(module.summary.words)):
            lines = self._tree.read(module.path).decode("utf-8", "replace").splitlines()
            quoted = (
                (n, line.partition("#")[0])
                for n, line in enumerate(lines, 1)
                if '"' in line or "'" in line
            )
            found.update((module.path, number) for number, line in quoted if whole.search(line))
        return found


def _is_in(package: str, dotted: str) -> bool:
    return dotted == package or dotted.startswith(package + ".")


def decide_distributions(
    tree: UpstreamTree, rules: Ruleset, graph: Graph, folded: Folded, written: Written
) -> Distributions:
    """Say of every distribution that upstream declares whether it stays, and why: by
    `[[distribution]]` rules, `[[remove]]` rules about extras, and the folded modules, by path, that
    the graph keeps.
    """
    # Of several rules the first.
    removes = ((rule, pattern) for rule in reversed(rules.removes) for pattern in rule.extras)
    taken = (
        (extra, rule)
        for rule, pattern in removes
        for extra in tree.declared.extras
        if name_matches(pattern, extra)
    )
    gone = {extra: f"{rule.feature} (rule {rule.id})" for extra, rule in taken}
    declared = replace(
        tree.declared, extras={e: rows for e, rows in tree.declared.extras.items() if e not in gone}
    )
    table = {distribution_name(rule.name): rule for rule in rules.distributions}
    # What travels beside the package declares its own.
    kept = [folded[path] for path in graph.kept if path in folded and module_name(path) is not None]
    code = _Code(tree, kept, written, tuple(m for rule in rules.listings for m in rule.modules))
    by_name = grouped(
        (distribution_name(Requirement(text).name), (extra, text))
        for extra, texts in {"": declared.dependencies, **declared.extras}.items()
        for text in texts
    )
    by_name.pop(declared.name, None)
    rows = {
        name: _decide(name, tuple(sorted(where)), table.get(name), code)
        for name, where in sorted(by_name.items())
    }
    _needed(rows, table, code)
    for name, row in rows.items():
        if row.state in ("dropped", "uncertain") and (places := code.named(name, row.imports)):
            reason = "a string of kept code is its name, and may be imported"
            rows[name] = replace(row, state="named", reason=reason, users=_first(places))
    # Once more: what a string names may load others too.
    _needed(rows, table, code)
    found = [
        row if row.kept else _explained(row, table.get(name), code) for name, row in rows.items()
    ]
    left = {row.name for row in found if row.kept}
    extras = _extras_left(declared, left)
    gone |= dict.fromkeys(
        declared.extras.keys() - extras.keys(), "nothing in it is used by kept code"
    )
    return Distributions(
        rows=tuple(found),
        dependencies=tuple(_self_narrowed(declared, declared.dependencies, left, extras)),
        extras=extras,
        dropped_extras=tuple(sorted(gone.items())),
    )


def with_uncertain(graph: Graph, distributions: Distributions) -> Graph:
    """Return the graph, with the distributions that stay only because nothing is known of them in
    its uncertain list.
    """
    uncertain = (row for row in distributions.rows if row.state == "uncertain")
    doubts = (Uncertain(PYPROJECT, 0, f"requires {row.name}: {row.reason}") for row in uncertain)
    return replace(graph, uncertain=tuple(sorted({*graph.uncertain, *doubts})))


def _decide(
    name: str, declared: tuple[tuple[str, str], ...], rule: Rule | None, code: _Code
) -> Distribution:
    """Return the answer without what others load, and what strings name."""
    # Upstream may write the name in any way that the index takes for the same.
    same = (top for top in {*code.anywhere, *code.imported} if distribution_name(top) == name)
    installs = rule.imports if rule is not None and rule.imports else tuple(sorted(same))
    row = Distribution(name, declared, installs, "dropped", "", rule.id if rule is not None else "")
    if users := {module: places for module in installs if (places := code.users(module))}:
        modules = ", ".join(f"`{module}`" for module in users)
        return replace(
            row,
            state="imported",
            reason=f"kept code imports {modules}",
            users=_first(*users.values()),
        )
    if rule is None:
        reason = (
            "nothing in upstream imports a module of its name, and no rule says what it installs"
        )
        return row if installs else replace(row, state="uncertain", reason=reason)
    for command in rule.commands:
        if places := code.starting(command):
            return replace(
                row, state="named", reason=f"kept code runs `{command}`", users=_first(places)
            )
    return replace(row, state="needed", reason=rule.why) if rule.always else row


def _first(*places: set[Site]) -> tuple[Site, ...]:
    return tuple(sorted(set().union(*places))[:_SITES])


def _needed(rows: dict[str, Distribution], table: Mapping[str, Rule], code: _Code) -> None:
    """Take back what something kept loads, until nothing more comes."""
    loading = {distribution_name(top) for top in code.imported} | {
        name for name, row in rows.items() if row.kept
    }
    before = -1
    while len(loading) != before:
        before = len(loading)
        for name, rule in [
            (name, table[name]) for name, row in rows.items() if not row.kept and name in table
        ]:
            loader = next(
                (each for each in rule.needed_by if distribution_name(each) in loading), None
            )
            if loader is not None:
                rows[name] = replace(rows[name], state="needed", reason=rule.why, needed_by=loader)
                loading.add(name)


def _explained(row: Distribution, rule: Rule | None, code: _Code) -> Distribution:
    places = (
        (module, place)
        for module in row.imports
        for place in code.anywhere.get(module.partition(".")[0], ())
    )
    importers = sorted(place for module, place in places if _is_in(module, place[2]))
    modules = (
        ", ".join(f"`{module}`" for module in row.imports) or f"a module of the name {row.name}"
    )
    reason = f"{'no kept file' if importers else 'nothing in upstream'} imports {modules}"
    if rule is not None and not importers:
        reason += f": {rule.why}"
    return replace(row, reason=reason, importers=tuple(importers))


def _extras_left(declared: DeclaredPackage, left: set[str]) -> Mapping[str, tuple[str, ...]]:
    """Extras with what is left in them, but for those in which nothing is."""
    extras, before = declared.extras, None
    while extras != before:
        before = extras
        found = {
            extra: tuple(_self_narrowed(declared, rows, left, before))
            for extra, rows in before.items()
        }
        extras = {extra: rows for extra, rows in found.items() if rows}
    return extras


def _self_narrowed(
    declared: DeclaredPackage,
    requirements: Iterable[str],
    left: set[str],
    extras: Mapping[str, object],
) -> Iterator[str]:
    """Requirements that stay; of one on the package's own extras, those that stay."""
    for text in requirements:
        requirement = Requirement(text)
        name = distribution_name(requirement.name)
        wanted = {extra for extra in requirement.extras if distribution_name(extra) in extras}
        if name == declared.name and (wanted or not requirement.extras):
            requirement.extras = wanted
            yield str(requirement)
        elif name in left:
            yield text
