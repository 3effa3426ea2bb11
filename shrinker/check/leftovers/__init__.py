"""What is left of other platforms in the kept Python of a generated tree, judged by its text alone.

The scan shares nothing with folding: it knows the words of the rules and the syntax tree of each
file, and gives every leftover its kind and its place. Whether it is right is for the `[[leftover]]`
rules to say.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import NamedTuple

from shrinker.cache.workers import map_files
from shrinker.check.leftovers.scan import Scanner
from shrinker.check.leftovers.vocabulary import Vocabulary, companies, suspects
from shrinker.check.trees import Trees
from shrinker.ruleset import Leftover as Reason
from shrinker.ruleset.match import any_module_matches
from shrinker.syntax.imports import with_packages
from shrinker.syntax.parsing import decode
from shrinker.syntax.ranges import Lines
from shrinker.values.errors import InputError
from shrinker.values.leftovers import Leftover, Leftovers, Suspect
from shrinker.values.outcome import EmittedFile
from shrinker.values.relations import grouped
from shrinker.values.upstream import module_name

_DEFINING = frozenset({"definition", "environment-declaration"})


class _Look(NamedTuple):
    """What one file holds."""

    leftovers: tuple[Leftover, ...]
    uses: frozenset[tuple[str, str]]
    companies: tuple[Suspect, ...]
    asked: frozenset[tuple[str, str, int]]


def find_leftovers(trees: Trees, among: Collection[str] | None = None) -> Leftovers:
    """Find what is left of other platforms.

    `among` are paths of the files to look at, all by default: what is written in others, too, is
    judged by these alone. Raises InputError: a file of the tree cannot be read or parsed;
    ShrinkerError: a worker process was killed.
    """
    tree, out, rules = trees.source, trees.out, trees.stated
    # A file of shrinker's own names what it refuses, and is no code that upstream left.
    entries = [
        entry
        for entry in trees.manifest.files
        if entry.path.endswith(".py") and entry.path in tree.by_path
    ]
    vocabulary = Vocabulary(rules)
    kept = frozenset(name for entry in entries if (name := module_name(entry.path)) is not None)
    entries = [entry for entry in entries if among is None or entry.path in among]
    look = partial(_look, out, tree.root, vocabulary, kept)
    looks = map_files(look, entries, [entry.lines_after for entry in entries], jobs=trees.jobs)
    found = _mark_idle(
        [s for each in looks for s in each.leftovers], {use for each in looks for use in each.uses}
    )
    found.sort(key=lambda s: (s.path, s.line, s.kind, s.text))
    explained = tuple(
        replace(s, rule=next((r.id for r in rules.leftovers if _holds(r, s)), "")) for s in found
    )
    wanted = [r.id for r in rules.leftovers if not r.optional and r.positions != ("construct",)]
    matched = {s.rule for s in explained}
    beside = suspects(
        (c for each in looks for c in each.companies), (a for each in looks for a in each.asked)
    )
    return Leftovers(
        len(entries),
        explained,
        tuple(beside),
        tuple(rule for rule in wanted if rule not in matched),
    )


def _look(
    out: Path, upstream: Path, vocabulary: Vocabulary, kept: frozenset[str], entry: EmittedFile
) -> _Look:
    """Look at one file; what upstream has of it is read only where folding changed it."""
    file, scanner = out / entry.path, Scanner(entry.path, vocabulary, kept)
    text = _text(file)
    beside = tuple(
        companies(
            scanner.module, _text(upstream / entry.path) if entry.changed else text, vocabulary
        )
    )
    try:
        leftovers = scanner.scan(text)
    except (SyntaxError, ValueError) as error:
        if entry.changed:
            raise InputError(
                f"{file}: cannot be parsed: {error}", "generate the tree again"
            ) from error
        # Upstream's own file that is no Python: what it says is not run.
        leftovers = ()
    return _Look(leftovers, frozenset(scanner.uses), beside, frozenset(scanner.asked))


def _text(file: Path) -> str:
    try:
        # Line numbers are those of the parser, which knows no other line ends.
        return Lines(decode(file.read_bytes())[0]).text
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        again = "generate the tree again, then look at what is left in it"
        raise InputError(f"{file}: {getattr(error, 'strerror', None) or error}", again) from error


def _holds(reason: Reason, leftover: Leftover) -> bool:
    """Tell whether every key that the rule gives is met."""
    names = {leftover.text, *leftover.text.removesuffix("()").split(".")}
    return (
        (not reason.kind or leftover.kind in reason.kind)
        and (not reason.positions or leftover.position in reason.positions)
        and (not reason.where or any_module_matches(reason.where, leftover.where))
        and reason.idle in (None, leftover.idle)
        and (
            not reason.words
            or any(fnmatchcase(name, pattern) for pattern in reason.words for name in names)
        )
    )


def _mark_idle(found: Collection[Leftover], uses: Iterable[tuple[str, str]]) -> list[Leftover]:
    """Mark definitions that nothing kept names, and what stands inside them.

    What only an idle definition names is idle too. Names are compared as they are written, so a
    definition that shares its name with one in use is not idle, and one that is asked for by a
    computed name is. `uses` are foreign identifiers that are read, each with the qualified
    definition that reads them.
    """
    users = grouped(uses)
    candidates = {_defined(s) for s in found if s.position in _DEFINING}
    idle: set[str] = set()
    more = candidates
    while more:
        waiting = ((where, users.get(where.rpartition(".")[2], ())) for where in candidates - idle)
        more = {
            where
            for where, using in waiting
            if all(_inside(user, idle | {where}) for user in using)
        }
        idle |= more
    return [replace(s, idle=_inside(_defined(s), idle)) for s in found]


def _defined(leftover: Leftover) -> str:
    # A definition stands inside itself; a variable is declared in the class of them.
    declared = leftover.position == "environment-declaration"
    return f"{leftover.where}.{leftover.text}" if declared else leftover.where


def _inside(where: str, definitions: set[str]) -> bool:
    return not with_packages([where]).isdisjoint(definitions)
