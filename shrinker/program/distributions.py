"""Which distributions the generated package still requires: those that kept code imports, and what these load.

A distribution goes only where it is known what it installs: by the table of `[[distribution]]` rules, or because some
file of upstream imports a module of its name. Of the others nothing tells what they are for, so that they stay.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.requirements import Requirement

from shrinker.program.nodes import distribution_name
from shrinker.program.written import Written
from shrinker.ruleset.match import any_module_matches, name_matches
from shrinker.ruleset.models import Distribution as Rule
from shrinker.ruleset.models import Ruleset
from shrinker.values.distributions import Distribution, Distributions
from shrinker.values.folded import FoldedModule, Uncertain
from shrinker.values.graph import Graph
from shrinker.values.upstream import DeclaredPackage, UpstreamTree, module_name

_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.\w+)*")
PYPROJECT = "python/pyproject.toml"
_SITES = 20
"""Sites that are remembered of a distribution; the rest say nothing new."""
Site = tuple[str, int]
_Named = dict[str, set[Site]]
"""Dotted names with their places."""


class _Code:
    """What kept code says of modules outside the tree, and where upstream imports them."""

    def __init__(
        self, tree: UpstreamTree, kept: Sequence[FoldedModule], written: Written, listings: tuple[str, ...]
    ) -> None:
        self._tree = tree
        self._kept = kept
        self.imports: _Named = {}
        """Modules, and what is imported from them."""
        self._bare: _Named = {}
        """Modules of which all is at hand: ``import a.b``, ``from a import *``."""
        self._strings: _Named = {}
        """Strings that may be the name of a module; the same strings, normalised, as names of distributions."""
        self._names: dict[str, set[Site]] = {}
        self.anywhere: dict[str, list[tuple[str, int, str]]] = {}
        """Top-level name to the places of upstream that import it: path, line and dotted name."""
        for path, rows in written.items():
            for line, dotted in rows:
                self.anywhere.setdefault(dotted.partition(".")[0], []).append((path, line, dotted))
        own, said = tree.declared.name, dict[str, set[Site]]()
        for module in kept:
            for site in module.imports:
                if site.module.partition(".")[0] != own:
                    whole = site.name is None or site.name == "*"
                    self._import(site.module, (module.path, site.line), whole)
                    if not whole:
                        self.imports.setdefault(f"{site.module}.{site.name}", set()).add((module.path, site.line))
            for call in module.dynamic:
                if call.mechanism == "import_module" and call.target and "*" not in call.target:
                    self._import(call.target, (module.path, call.line), True)
            for text in () if any_module_matches(listings, module.module) else module.strings:
                said.setdefault(text.text.partition(":")[0], set()).add((module.path, text.line))
        for dotted, places in said.items():
            if _DOTTED.fullmatch(dotted):
                self._strings[dotted] = places
                self._names.setdefault(distribution_name(dotted), set()).update(places)
        self.imported = {dotted.partition(".")[0] for dotted in self.imports}
        """Top-level names."""

    def _import(self, dotted: str, place: Site, whole: bool) -> None:
        for table in (self.imports, self._bare) if whole else (self.imports,):
            table.setdefault(dotted, set()).add(place)

    def users(self, module: str) -> set[Site]:
        """Places that import a module, or something in it."""
        found = [places for dotted, places in self.imports.items() if _is_in(module, dotted)]
        # `import a` and then `a.b`: which part it reads is not known.
        found += [places for dotted, places in self._bare.items() if _is_in(dotted, module)]
        return set().union(*found)

    def named(self, name: str, modules: Iterable[str]) -> set[Site]:
        """Places of strings that are a distribution's name, or that of a module that it installs: it may be imported, or looked for, by that."""
        found = [places for module in modules for text, places in self._strings.items() if _is_in(module, text)]
        return self._names.get(name, set()).union(*found)

    def starting(self, command: str) -> set[Site]:
        """Places that may run a program; a computed command line is no string that folding remembers, its words are."""
        words = set(re.findall(r"[A-Za-z_]\w*", command))
        whole = re.compile(rf"(?<![\w-]){re.escape(command)}(?![\w-])")
        found: set[Site] = set()
        for module in self._kept:
            if words <= set(module.summary.words):
                lines = self._tree.read(module.path).decode("utf-8", "replace").splitlines()
                quoted = ((n, line.partition("#")[0]) for n, line in enumerate(lines, 1) if '"' in line or "'" in line)
                found.update((module.path, number) for number, line in quoted if whole.search(line))
        return found


def _is_in(package: str, dotted: str) -> bool:
    return dotted == package or dotted.startswith(package + ".")


def decide_distributions(
    tree: UpstreamTree, rules: Ruleset, graph: Graph, folded: Mapping[str, FoldedModule], written: Written
) -> Distributions:
    """Say of every declared distribution whether it stays, and why.

    Args:
        tree: upstream, with what it declares.
        rules: the `[[distribution]]` table, and `[[remove]]` rules about extras.
        graph: says which modules are kept.
        folded: folded modules by path.
        written: imports of all of upstream, see `written_imports`.
    """
    declared, gone = _without_extras(tree.declared, rules)
    table = {distribution_name(rule.name): rule for rule in rules.distributions}
    by_name: dict[str, list[tuple[str, str]]] = {}
    for extra, requirement in _requirements(declared):
        by_name.setdefault(_name(requirement), []).append((extra, requirement))
    by_name.pop(declared.name, None)
    # What travels beside the package declares its own.
    kept = [folded[path] for path in graph.kept if path in folded and module_name(path) is not None]
    code = _Code(tree, kept, written, tuple(m for rule in rules.listings for m in rule.modules))
    rows = {name: _decide(name, tuple(sorted(where)), table.get(name), code) for name, where in sorted(by_name.items())}
    _needed(rows, table, code)
    for name, row in rows.items():
        if row.state in ("dropped", "uncertain") and (places := code.named(name, row.imports)):
            reason = "a string of kept code is its name, and may be imported"
            rows[name] = replace(row, state="named", reason=reason, users=_first(places))
    # Once more: what a string names may load others too.
    _needed(rows, table, code)
    for name, row in rows.items():
        if row.state == "dropped":
            rows[name] = _explained(row, table.get(name), code)
    left = {name for name, row in rows.items() if row.kept}
    extras, empty = _extras_left(declared, left)
    return Distributions(
        rows=tuple(rows.values()),
        dependencies=tuple(_self_narrowed(declared, declared.dependencies, left, extras)),
        extras=extras,
        dropped_extras=tuple(sorted([*gone, *((extra, "nothing in it is used by kept code") for extra in empty)])),
    )


def with_uncertain(graph: Graph, distributions: Distributions) -> Graph:
    """The graph, with the distributions that stay only because nothing is known of them in its uncertain list."""
    doubts = [
        Uncertain(PYPROJECT, 0, f"requires {row.name}: {row.reason}")
        for row in distributions.rows
        if row.state == "uncertain"
    ]
    return replace(graph, uncertain=tuple(sorted({*graph.uncertain, *doubts})))


def _name(requirement: str) -> str:
    return distribution_name(Requirement(requirement).name)


def _requirements(declared: DeclaredPackage) -> Iterator[tuple[str, str]]:
    yield from (("", requirement) for requirement in declared.dependencies)
    for extra, requirements in declared.extras.items():
        yield from ((extra, requirement) for requirement in requirements)


def _without_extras(declared: DeclaredPackage, rules: Ruleset) -> tuple[DeclaredPackage, list[tuple[str, str]]]:
    """Take the extras away that a rule removes."""
    gone: dict[str, str] = {}
    for extra in declared.extras:
        for rule in rules.removes:
            if any(name_matches(pattern, extra) for pattern in rule.extras):
                gone.setdefault(extra, f"{rule.feature} (rule {rule.id})")
    extras = {extra: rows for extra, rows in declared.extras.items() if extra not in gone}
    left = DeclaredPackage(declared.name, declared.requires_python, declared.dependencies, extras, declared.scripts)
    return left, list(gone.items())


def _decide(name: str, declared: tuple[tuple[str, str], ...], rule: Rule | None, code: _Code) -> Distribution:
    """The answer without what others load, and what strings name."""
    if rule is not None and rule.imports:
        installs = rule.imports
    else:
        # Upstream may write the name in any way that the index takes for the same.
        installs = tuple(sorted(t for t in {*code.anywhere, *code.imported} if distribution_name(t) == name))
    row = Distribution(name, declared, installs, "dropped", "", rule.id if rule is not None else "")
    if users := {module: places for module in installs if (places := code.users(module))}:
        modules = ", ".join(f"`{module}`" for module in users)
        return replace(row, state="imported", reason=f"kept code imports {modules}", users=_first(*users.values()))
    for command in rule.commands if rule is not None else ():
        if places := code.starting(command):
            return replace(row, state="named", reason=f"kept code runs `{command}`", users=_first(places))
    if rule is not None and rule.always:
        return replace(row, state="needed", reason=rule.why)
    if not installs and rule is None:
        reason = "nothing in upstream imports a module of its name, and no rule says what it installs"
        return replace(row, state="uncertain", reason=reason)
    return row


def _first(*places: set[Site]) -> tuple[Site, ...]:
    return tuple(sorted(set().union(*places))[:_SITES])


def _needed(rows: dict[str, Distribution], table: Mapping[str, Rule], code: _Code) -> None:
    """Take back what something kept loads, until nothing more comes."""
    imported = {distribution_name(top) for top in code.imported}
    changed = True
    while changed:
        changed = False
        for name, row in rows.items():
            rule = table.get(name)
            if row.kept or rule is None:
                continue
            for loader in rule.needed_by:
                other = rows.get(distribution_name(loader))
                if (other is not None and other.kept) or distribution_name(loader) in imported:
                    rows[name] = replace(row, state="needed", reason=rule.why, needed_by=loader)
                    changed = True
                    break


def _explained(row: Distribution, rule: Rule | None, code: _Code) -> Distribution:
    importers = [
        site
        for module in row.imports
        for site in code.anywhere.get(module.partition(".")[0], ())
        if _is_in(module, site[2])
    ]
    modules = ", ".join(f"`{module}`" for module in row.imports) or f"a module of the name {row.name}"
    reason = f"{'no kept file' if importers else 'nothing in upstream'} imports {modules}"
    if rule is not None and not importers:
        reason += f": {rule.why}"
    return replace(row, reason=reason, importers=tuple(sorted(importers)))


def _extras_left(declared: DeclaredPackage, left: set[str]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Extras with what is left in them, and those in which nothing is."""
    extras = dict(declared.extras)
    while True:
        narrowed = {extra: tuple(_self_narrowed(declared, rows, left, extras)) for extra, rows in extras.items()}
        narrowed = {extra: rows for extra, rows in narrowed.items() if rows}
        if narrowed == extras:
            return narrowed, [extra for extra in declared.extras if extra not in narrowed]
        extras = narrowed


def _self_narrowed(
    declared: DeclaredPackage, requirements: Iterable[str], left: set[str], extras: Mapping[str, object]
) -> Iterator[str]:
    """Requirements that stay; of one on the package's own extras, those that stay."""
    for text in requirements:
        requirement = Requirement(text)
        name = distribution_name(requirement.name)
        if name != declared.name:
            if name in left:
                yield text
            continue
        wanted = {extra for extra in requirement.extras if distribution_name(extra) in extras}
        if wanted or not requirement.extras:
            requirement.extras = wanted
            yield str(requirement)
