"""An upstream that the rules have not seen: what they do not know of it, each with its sites and a
rule to paste.

What strict mode refuses comes from a run that refuses nothing; what is new comes from comparing
inventories with those of an upstream that the rules were written for. So do names and modules that
rules speak of and that are gone: an optional rule, or one of several names of a rule, may lose its
match without a word in strict mode; what is new where the old name was defined may be its new name.
"""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from shrinker.cache import Cache
from shrinker.check.subsequence import is_subsequence
from shrinker.pipeline import Progress, Request, shrink
from shrinker.project import project_folder
from shrinker.report.effects import names_of, places_of
from shrinker.report.place import reports_beside, some
from shrinker.report.strict import propose_fact, slug, table
from shrinker.ruleset import Rule, Ruleset, load_profile
from shrinker.ruleset.match import any_path_matches, module_matches, path_matches
from shrinker.ruleset.models import Keep, Remove, Root, Walk
from shrinker.source import open_upstream
from shrinker.source.cache import default_folder
from shrinker.source.pins import load_pins
from shrinker.syntax.ranges import line_elsewhere
from shrinker.upgrade.census import Item, fresh_items, inventory
from shrinker.values.errors import InputError, ShrinkerError
from shrinker.values.outcome import Finding
from shrinker.values.relations import grouped
from shrinker.values.upstream import UpstreamTree, module_name

SECTIONS = {
    "generation": "The tree could not be generated",
    "unnamed-predicate": "Unknown predicates",
    "unmatched-rule": "Rules without a match",
    "lost": "Names of rules that are gone",
    "missing-root": "Roots that are not there",
    "undecided-fact": "Facts in constructs that folding leaves",
    "leftover": "Leftovers without a reason",
    "unsupported-construct": "Constructs that folding does not understand",
    "interface": "Differences of the interface that no rule explains",
    "rescued": "Files that a rule removes and that something needs",
    "platforms": "Names that may be platforms",
    "registries": "New registries",
    "walks": "New package walks",
    "entry points": "New entry points",
    "package data": "New package data",
    "folders": "New top-level folders",
}
"""Checks of strict mode, and kinds of the inventory, with their titles, in the order of the page.
"""
_MOST_SITES = 8
_MOST_FRESH = 5
_WORD = re.compile(r"\w+")
_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_OF_THE_TREE = frozenset({"unnamed-predicate", "undecided-fact", "leftover"})
"""Checks that name a line of the generated tree."""
_NAMES = {"unmatched-rule": r"rule (\S+)", "missing-root": "$^"}
"""Where a finding's text holds the name of what it is about, if not between its first backticks."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing to look at."""

    section: str
    """A key of `SECTIONS`."""
    name: str
    text: str
    sites: tuple[str, ...]
    """``path:line`` in upstream, or in the generated tree."""
    rule: str = ""
    """TOML to paste, and its `why` to be written; empty where none is asked for."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All of it."""

    upstream: str
    since: str
    """What it was compared with; empty when that could not be had."""
    symptoms: tuple[Symptom, ...]
    files: int
    """Of the generated tree; 0 when none could be made."""
    notes: tuple[str, ...] = ()


def diagnose(
    upstream: str,
    since: str | None,
    profile: str,
    jobs: int,
    progress: Progress,
    rules: Path | None = None,
) -> Diagnosis:
    """Look at an upstream, by one that the rules know: what `upstream.toml` pins, unless `since`
    names another. Nothing is written but to the cache. Raises InputError when the upstream or the
    rules cannot be read.
    """
    ruleset = load_profile(profile, rules)
    opened = partial(open_upstream, repository=project_folder(), progress=progress.note)
    tree = opened(upstream)
    cache = Cache(default_folder())
    before, lost, notes = tuple[Item, ...](), list[Symptom](), tuple[str, ...]()
    known = since or load_pins(project_folder()).default_spec
    try:
        other = opened(known)
    except InputError as error:
        if since is not None:
            raise
        notes = (f"{known} cannot be read, so that everything counts as new: {error.message}",)
        known = ""
    else:
        progress.phase("inventory")
        before = inventory(other, ruleset, cache)
        lost = [*_lost(ruleset, tree, other, known)]
    items = inventory(tree, ruleset, cache)
    with tempfile.TemporaryDirectory(prefix="shrinker-check-upstream-") as name:
        out = Path(name) / "tree"
        asked = Request(
            upstream, profile, out, jobs, reports=reports_beside(out), rules=rules, look=True
        )
        found, kept = _generated(tree, asked, progress)
    found += lost
    for item, places in fresh_items(items, before):
        below = (
            () if item.line else [path for path in kept if f"{path}/".startswith(f"{item.path}/")]
        )
        if told := _told(item, len(below), ruleset):
            text, rule = told
            found.append(Symptom(item.kind, item.name, text, some(places, _MOST_SITES), rule))
    found.sort(key=lambda symptom: [*SECTIONS].index(symptom.section))
    return Diagnosis(upstream, known, tuple(found), len(kept), notes)


def _generated(
    tree: UpstreamTree, asked: Request, progress: Progress
) -> tuple[list[Symptom], frozenset[str]]:
    """Return what a run says, and the files that it keeps."""
    try:
        done = shrink(asked, progress)
    except ShrinkerError as error:
        return [Symptom("generation", asked.upstream or "", error.message, ())], frozenset()
    found = [_of_finding(finding, tree, asked.out) for finding in done.strict]
    for module, where in sorted(done.rescued.items()):
        found.append(
            Symptom(
                "rescued", module, f"a rule removes it, and {where}", (where.partition(" ")[0],)
            )
        )
    return found, frozenset(file.path for file in done.manifest.files)


def _lost(
    rules: Ruleset, tree: UpstreamTree, before: UpstreamTree, since: str
) -> Iterator[Symptom]:
    """Yield names that `before` has and `tree` has not, in the order of the rules."""
    known = places_of(
        before, sorted({name for rule in rules.all_rules() for name in names_of(rule)})
    )
    here = places_of(tree, known)
    gone = {pattern: place for pattern, place in known.items() if pattern not in here}
    fresh = _fresh({_last(pattern) for pattern in gone}, tree, before)
    for rule in rules.all_rules():
        place = f"rule {rule.id} ({rules.places.get(rule.id, 'rules')}) names it; {since} has it at"
        for name in dict.fromkeys(name for name in names_of(rule) if name in gone):
            text, sites, fact = f"{place} {gone[name]}", [gone[name]], ""
            if new := fresh.get(_last(name)):
                names, sites = [each for each, _ in new], [site for _, site in new]
                told = ", ".join(f"`{each}`" for each in names)
                text += f". New where it was defined: {told}. Of one that is its new name:"
                fact = propose_fact(f"{names[0]}()")
            yield Symptom("lost", name, text, tuple(sites), fact)
        for pattern, was in _lost_modules(rule, tree, before):
            yield Symptom("lost", pattern, f"{place} {was}", (was,))


def _lost_modules(
    rule: Rule, tree: UpstreamTree, before: UpstreamTree
) -> Iterator[tuple[str, str]]:
    """Yield patterns over modules and paths, each with a path of `before` that it means."""
    modules, paths = tuple[str, ...](), tuple[str, ...]()
    match rule:
        case Root(optional=False):
            # Strict mode tells of its modules.
            paths = rule.paths
        case Root() | Keep() | Remove():
            modules, paths = rule.modules, rule.paths
        case Walk():
            modules = (rule.package,)
    for matches, patterns in ((_module_matches, modules), (path_matches, paths)):
        for pattern in patterns:
            was = next((file.path for file in before.files if matches(pattern, file.path)), None)
            if was is not None and not any(matches(pattern, file.path) for file in tree.files):
                yield pattern, was


def _module_matches(pattern: str, path: str) -> bool:
    return module_matches(pattern, module_name(path) or "")


def _last(pattern: str) -> str:
    return pattern.replace("()", "").rpartition(".")[2]


def _fresh(
    names: set[str], tree: UpstreamTree, before: UpstreamTree
) -> dict[str, list[tuple[str, str]]]:
    """Return what is defined anew in the files that defined some names, by name, each with
    ``path:line``.
    """
    found: list[tuple[str, tuple[str, str]]] = []
    for path, file in before.by_path.items() if names else ():
        now = tree.by_path.get(path)
        if now is not None and now.sha256 != file.sha256 and path.endswith(".py"):
            old = _defined(before, path)
            if here := names & old.keys():
                more = [row for row in _defined(tree, path).items() if row[0] not in old]
                found += [(name, row) for name in here for row in more]
    return {name: rows[:_MOST_FRESH] for name, rows in grouped(found).items()}


def _defined(tree: UpstreamTree, path: str) -> dict[str, str]:
    """Return functions and classes of a file, each with its first place."""
    text = tree.read(path).decode("utf-8", "replace")
    rows = ((_DEFINITION.match(row), line) for line, row in enumerate(text.split("\n"), 1))
    places = grouped((found[1], f"{path}:{line}") for found, line in rows if found is not None)
    return {name: lines[0] for name, lines in places.items()}


def _of_finding(finding: Finding, tree: UpstreamTree, out: Path) -> Symptom:
    text, _, rule = finding.message.partition("\n")
    name = re.search(_NAMES.get(finding.check, "`([^`]+)`"), text)
    line = finding.line
    if finding.check in _OF_THE_TREE and finding.path in tree.by_path:
        generated = (out / finding.path).read_text("utf-8", "replace")
        line = upstream_line(generated, tree.read(finding.path).decode("utf-8", "replace"), line)
    place = f"{finding.path}:{line}" if line else finding.path
    return Symptom(finding.check, name[1] if name else finding.path, text, (place,), rule)


def upstream_line(generated: str, upstream: str, line: int) -> int:
    """Return line of upstream's file that became a line of the generated one: the only one of its
    text, else the one in its place.
    """
    rows, before = generated.split("\n"), upstream.split("\n")
    if not 0 < line <= len(rows):
        return line
    text = rows[line - 1].strip()
    same = [number for number, row in enumerate(before, 1) if row.strip() == text]
    found = same[0] if len(same) == 1 else line_elsewhere(line, generated, upstream)
    if found:
        return found
    # A line that lost a part still has its words in their order.
    above, words = line_elsewhere(line - 1, generated, upstream), _WORD.findall(text)
    places = enumerate(before[above:], above + 1)
    return next(
        (n for n, row in places if words and is_subsequence(words, _WORD.findall(row))), line
    )


def _told(item: Item, kept: int, rules: Ruleset) -> tuple[str, str] | None:
    """Return what to make of an item, and a rule to paste; nothing of what a rule speaks of
    already.
    """
    name, keys = slug(item.name), dict[str, object]()
    match item.kind:
        case "platforms":
            words = {word.lower() for rule in rules.platforms for word in rule.words}
            if item.name in words or any(item.name in (*d.never, *d.only) for d in rules.domains):
                return None
            text = (
                f"`{item.name}` stands beside {item.beside}; if it is another platform's, strict "
                "mode should know the word"
            )
            return text, table("platform", f"words-{name}", {"words": [item.name]})
        case "registries":
            text = (
                f"`{item.name}` may file things under texts; where those name platforms or removed "
                "features, a domain decides them"
            )
            keys = {"registers": [f"sglang.**.{item.name}"], "never": ["a removed one"]}
            return text, table("domain", f"registers-{name}", keys)
        case "walks":
            text = "imports every module that it finds; without a rule all of the package stays"
            return text, table(
                "walk", f"walk-{name[-40:]}", {"package": "sglang.THE.PACKAGE", "keep": []}
            )
        case "entry points" if "=" in item.name:
            module = item.name.partition("=")[2].partition(":")[0].strip()
            return "a command that upstream installs", table(
                "root", f"root-{name[:40]}", {"modules": [module]}
            )
        case "entry points":
            return "reads what other packages install; what it may load is not in the tree", ""
        case "package data":
            if any(any_path_matches(rule.paths, item.path) for rule in rules.keeps):
                return None
            folder, suffix = item.path.rpartition("/")[0], item.path.rpartition(".")[2]
            text = (
                f"{'kept' if kept else 'not kept'}: a file that code finds by a computed name "
                "needs a keep rule"
            )
            return text, table("keep", f"keep-{name[-40:]}", {"paths": [f"{folder}/*.{suffix}"]})
    dotted = item.path.removeprefix("python/").replace("/", ".")
    text = f"{kept:,} files of it are kept; if it is a removed feature's, say so"
    keys = {"feature": "What it is for", "modules": [f"{dotted}.**", dotted]}
    return text, table("remove", f"remove-{name[-40:]}", keys)
