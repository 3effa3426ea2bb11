"""Evidence level *embedders*: what programs outside import of the package is there, or a rule says
that it is not.

Wheels of declared dependencies and known embedders, or a folder of somebody's own, are read, never
installed and never run. Checks, by kind of use:
    imports: of modules and names, submodules and star imports included.
    attributes: below an imported module, class or function.
    heritage: members that a class outside, which inherits from one of the package, asks of itself
        or overrides.
    texts: dotted paths in strings.
    members: names looked up on any object, that a kept class of upstream lost and no class of the
        tree has any more.

What the tree answers for without having it (`VALUES` and `HANDED` in its table) is there. What a
rule removes by name, or a word of a `[[dropped]]` rule speaks of, is not missed.

Limits: what upstream lacks as well is not looked at: it belongs to another release. A name that a
program computes, and an attribute of an object that only running code would tell, is not seen.
Parameters never go, and *references* lets no field go that a class is made with.
"""

import re
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shrinker.cache.workers import cached
from shrinker.check.capabilities.vocabulary import Vocabulary
from shrinker.check.embedders.uses import IMPORTS, KINDS, MEMBERS, Use, uses_of
from shrinker.check.outside import tables_of
from shrinker.check.resolve import Modules
from shrinker.check.trees import Trees
from shrinker.ruleset.match import any_name_matches
from shrinker.source.layout import PYPROJECT
from shrinker.syntax.imports import with_packages
from shrinker.values.outcome import Evidence, Finding, LevelResult
from shrinker.values.upstream import modules_of

LEVEL = "embedders"


@dataclass(frozen=True, slots=True)
class Read:
    """A program that is here: a wheel, or a folder."""

    name: str
    """Of the distribution, or of the folder."""
    sha256: str
    file: Path

    @property
    def release(self) -> str:
        """Name and version; the name of a folder."""
        return "-".join(self.file.name.split("-")[:2]) if self.file.suffix == ".whl" else self.name


def verify_embedders(trees: Trees, wheels: Sequence[Read], missing: Collection[str]) -> LevelResult:
    """Ask both trees for every name that the wheels use: nothing where none is here.

    What those use that are `missing`, by name, is not shown. Without rules no removal has a reason.
    An answer of the cache holds as long as trees, rules and wheels are the same.
    """
    start = time.monotonic()
    limits = tuple(f"what {name} uses: its wheel is not here" for name in sorted(missing))
    if not wheels:
        return LevelResult(Evidence(LEVEL, True, (), (), ()), (), limits)
    required = _required(trees.out)
    layer = trees.cache.layer("embedders judged")
    theirs = (
        f"{file.path} {file.sha256}" for file in trees.source.files if file.path.endswith(".py")
    )
    named = (f"{wheel.name} {wheel.sha256}" for wheel in wheels)
    key = layer.key(trees.stated.digest, trees.manifest.tree, *theirs, *named, *sorted(required))
    judged: LevelResult = cached(layer, key, lambda: _judge(trees, wheels, required))
    return replace(judged, limits=limits, seconds=time.monotonic() - start)


def _required(out: Path) -> frozenset[str]:
    """Return distributions that installing the tree installs."""
    try:
        declared = tomllib.loads((out / PYPROJECT).read_text("utf-8"))["project"].get(
            "dependencies", []
        )
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return frozenset()
    return frozenset(canonicalize_name(Requirement(each).name) for each in declared)


def _judge(trees: Trees, wheels: Sequence[Read], required: frozenset[str]) -> LevelResult:
    layer = trees.cache.layer("embedders")
    calls = ((wheel, layer.key(wheel.sha256), partial(uses_of, wheel.file)) for wheel in wheels)
    used: dict[Read, tuple[Use, ...]] = {
        wheel: cached(layer, key, call) for wheel, key, call in calls
    }
    upstream, lost_members = _before(trees, chain.from_iterable(used.values()))
    answered, dropped = _answered(trees.out), Vocabulary(trees.stated.dropped)
    counts: Counter[str] = Counter(dict.fromkeys(("wheels", *KINDS), 0))
    findings: list[Finding] = []
    figures: list[tuple[str, str]] = []
    for wheel, uses in used.items():
        here = [
            use for use in uses if use.kind == MEMBERS or upstream.resolves(use.module, use.names)
        ]
        counts.update(["wheels", *(use.kind for use in here)])
        named: dict[str, str] = {}
        gone: set[str] = set()
        for use in sorted(here, key=lambda use: use.kind != IMPORTS):
            if use.kind == MEMBERS:
                what = lost_members.get(use.names[0], "")
            else:
                what = "" if trees.modules.resolves(use.module, use.names) else use.dotted
            if what and not answered.isdisjoint(_places(upstream, use, what)):
                continue
            # What is imported is said there.
            if not what or (use.kind != IMPORTS and not gone.isdisjoint(with_packages([what]))):
                continue
            rule = _removed_by(trees, _places(upstream, use, what)) or dropped.of(use.names, False)
            message = f"upstream has {what}, this tree has not, and no rule says so"
            if use.kind == IMPORTS:
                gone.add(what)
            if rule:
                if (
                    use.kind != IMPORTS
                    or not use.at_load
                    or canonicalize_name(wheel.name) not in required
                ):
                    named[what] = rule
                    continue
                message = (
                    f"the tree requires {wheel.name}, which cannot be loaded without {what} (rule "
                    f"{rule})"
                )
            findings.append(Finding(use.kind, f"{wheel.release}: {use.path}", use.line, message))
        listed = ", ".join(f"{what} ({rule})" for what, rule in sorted(named.items()))
        removed = f", {len(named)} of them removed by a rule: {listed}" if named else ""
        figures.append((wheel.release, f"{len(here):,} names{removed}"))
    evidence = Evidence(LEVEL, not findings, tuple(counts.items()), tuple(findings), ())
    return LevelResult(evidence, tuple(figures))


def _before(trees: Trees, uses: Iterable[Use]) -> tuple[Modules, dict[str, str]]:
    """Return modules of upstream; and public members that kept classes lost and no class has any
    more, each below a class that had it.
    """
    there, theirs = modules_of(trees.source.by_path), trees.source.by_path
    # A text may end in names, and a name may be a module.
    asked = with_packages(".".join((use.module, *use.names)) for use in uses if use.module)
    paths = sorted(there[name] for name in asked & there.keys())
    before = trees.before | trees.read(
        trees.source.root, {path: theirs[path].sha256 for path in paths}
    )
    kept = trees.kept.values()
    left = {name for symbols in kept for each in symbols.classes for name, _ in each.members}
    left = left.union(*(symbols.bound for symbols in kept))
    lost: dict[str, str] = {}
    for symbols, _, each in trees.classes():
        public = (name for name, _ in each.members if name not in left and re.match(r"[a-z]", name))
        lost |= {name: f"{symbols.module}.{each.name}.{name}" for name in public}
    return Modules(trees.source.root, there, before), lost


def _answered(out: Path) -> frozenset[str]:
    """Read the names of which the tree knows the value, or the module that still has them."""
    tables = tables_of(out)
    rows = (row for table in ("VALUES", "HANDED") for _, row in tables.get(table, ()))
    found: set[str] = set()
    module = ""
    for word in (word for _, words in rows for word in words.split()):
        if word.endswith(":"):
            module = word[:-1]
        else:
            found.add(f"{module}.{word.rstrip('()=')}")
    return frozenset(found)


def _places(upstream: Modules, use: Use, what: str) -> frozenset[str]:
    """Find the qualified names of what is asked for, and of what leads to it, where it is defined,
    too.
    """
    if not use.module:
        return frozenset({what})
    module, names = use.module, use.names
    places = {".".join((module, *names[:end])) for end in range(len(names) + 1)}
    if names:
        where, name = upstream.definition(module, names[0]) or (module, names[0])
        places |= {where, ".".join((where, name)), ".".join((where, name, *names[1:2]))}
    return frozenset(places)


def _removed_by(trees: Trees, places: Iterable[str]) -> str:
    """Id of the rule that removes one of these qualified names; empty for none."""
    for rule in trees.stated.removes:
        for place in sorted(places):
            path = f"python/{place.replace('.', '/')}"
            named = any_name_matches((*rule.definitions, *rule.members), place)
            if (
                named
                or rule.takes_module(place)
                or rule.takes_path(path)
                or rule.takes_path(f"{path}.py")
            ):
                return rule.id
    return ""
