"""What comes into a server from outside, by upstream's text: flags, fields of requests, environment
variables, enumerations that are made of flags; and where the generated tree refuses them.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from shrinker.check.entered import Asked, Choices, Entered
from shrinker.check.leftovers.vocabulary import foreign_words
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import name_matches, overlap
from shrinker.ruleset.models import Claim, Refusal
from shrinker.syntax.names import assigned
from shrinker.syntax.parsing import parsed
from shrinker.values.edits import FILE
from shrinker.values.relations import grouped
from shrinker.values.upstream import PACKAGE_PREFIX

_DEPTH = 3
"""Short functions that are followed from one to the next."""
TABLE = f"{PACKAGE_PREFIX}{FILE}"
"""The file with the tables of what a generated tree refuses by name."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is set from outside."""

    owner: str
    """Its class."""
    choices: tuple[str, ...] | None
    line: int

    def takes(self, text: str) -> bool:
        """Tell whether the text may be chosen."""
        return self.choices is None or text in self.choices


class Outside:
    """What comes in from outside, over all files."""

    def __init__(
        self,
        rules: Ruleset,
        files: Sequence[Entered],
        placed: frozenset[str],
        written: Callable[[str], bool],
    ) -> None:
        """Of files of upstream that the tree keeps.

        `placed` are ids of refusals at which the generated tree looks; `written` says whether one
        of the files of which a pattern may speak writes its last name.
        """
        self.rules = rules
        self._by_id = rules.by_id()
        self.written = written
        self.placed = placed
        kinds = [(pattern, entry.kind) for entry in rules.entries for pattern in entry.classes]
        self._lists = grouped(row for file in files for row in file.lists.items())
        self.flags: dict[str, Field] = {}
        self.requests: dict[str, Field] = {}
        for file in files:
            for owner, name, annotated, line in file.fields:
                choices = annotated if any(annotated) else file.offered.get(name, annotated)
                field = Field(owner, tuple(sorted(self._texts(choices) or ())) or None, line)
                for kind in {kind for pattern, kind in kinds if name_matches(pattern, owner)}:
                    (self.flags if kind == "flag" else self.requests)[name] = field
        self._fed = grouped(row for file in files for row in file.made)
        self._gives = grouped(row for file in files for row in file.gives)
        self._enumerations = grouped(
            (method, e) for file in files for e in file.enumerations for method, _ in e.asks
        )
        self._sources = grouped(
            (name, (file.module, of, leaf)) for file in files for name, of, leaf in file.sources
        )
        self.variables = grouped(
            (name, (how, yes)) for file in files for name, how, yes in sorted(file.variables)
        )
        looked_at = (
            (each, name) for each in rules.refusals if each.id in placed for name in each.attributes
        )
        self.refusals = grouped((name.rpartition(".")[2], each) for each, name in looked_at)
        """By the field that they look at."""
        self._of_requests = grouped(self._refusals_of_requests())
        self.foreign = foreign_words(rules)

    def _texts(self, choices: Choices, seen: frozenset[str] = frozenset()) -> set[str] | None:
        """Return all of them, with those of lists that are anywhere; None where one of these is
        not known.
        """
        found = set(choices.texts)
        for name in choices.lists:
            lists = self._lists.get(name, ()) if name not in seen else ()
            more = [self._texts(each, seen | {name}) for each in lists]
            if not more or None in more:
                return None
            found.update(*(texts for texts in more if texts))
        return found

    def refused(self, name: str, text: str | None = None, any_case: bool = False) -> str:
        """Return the refusal of a field's value, of any value without one; empty for none."""
        for refusal in self.refusals.get(name, ()):
            if refusal.set or (text is not None and _covers(refusal, text, any_case)):
                return refusal.id
        return ""

    def refused_in_request(self, name: str, text: str | None = None) -> str:
        """Return the refusal of what a request says by the name of a flag; empty for none.

        Looking at ``ServerArgs.storage`` when the server starts does not see what
        ``attach(storage)`` is handed while it runs: only a refusal in that function does.
        """
        for refusal in self._of_requests.get(name, ()):
            if refusal.set or (text is not None and _covers(refusal, text, any_case=False)):
                return refusal.id
        return ""

    def _refusals_of_requests(self) -> Iterator[tuple[str, Refusal]]:
        """Yield the refusals that look in no method of a class of flags, by what they look at."""
        classes = [
            pattern
            for entry in self.rules.entries
            if entry.kind == "flag"
            for pattern in entry.classes
        ]
        for refusal in self.rules.refusals:
            owners = [function.rpartition(".")[0] for function in refusal.functions]
            of_flags = any(overlap(owner, pattern) for owner in owners for pattern in classes)
            if refusal.id not in self.placed or of_flags:
                continue
            for attribute in refusal.attributes:
                yield attribute.rpartition(".")[2] or refusal.argument, refusal

    def dependent(self, flag: str) -> str:
        """Return the rule that says that a flag does nothing without another one, which is
        refused.
        """
        rules = (rule for rule in self.rules.dependents if self.placed.issuperset(rule.on))
        return next(
            (
                rule.id
                for rule in rules
                if any(fnmatchcase(flag, pattern) for pattern in rule.flags)
            ),
            "",
        )

    def made_of(self, pattern: str) -> Iterator[tuple[Asked, str]]:
        """Enumerations that have the method of a pattern, each with a flag that it is made of."""
        before, _, method = pattern.rpartition(".")
        given = self._gives.get(before.rpartition(".")[2][:-2], []) if before.endswith("()") else []
        for asked in self._enumerations.get(method, ()):
            if not given or asked.name in given:
                made_of = sorted({*self._fed.get(asked.name, ())} & self.flags.keys())
                yield from ((asked, flag) for flag in made_of)

    def leaves(self, pattern: str, depth: int = 0) -> set[tuple[str, str]]:
        """Kind and name of flags and variables from which a file that a pattern may speak of
        computes what it names.
        """
        found: set[tuple[str, str]] = set()
        if depth > _DEPTH:
            return found
        for module, kind, leaf in self._sources.get(pattern.rpartition(".")[2], ()):
            if pattern.startswith(".") or overlap(pattern, f"{module}.**"):
                found |= {(kind, leaf)} if kind != "call" else self.leaves(f".{leaf}", depth + 1)
        return found

    def stands(self, rule: str, seen: frozenset[str] = frozenset()) -> bool:
        """Tell whether a rule from which another one follows holds by itself: a refusal that has
        its place, a removal, a claim.
        """
        found = self._by_id.get(rule)
        if (
            found is None
            or rule in seen
            or (isinstance(found, Refusal) and rule not in self.placed)
        ):
            return False
        return not isinstance(found, Claim) or all(
            self.stands(each, seen | {rule}) for each in found.follows
        )


def _covers(refusal: Refusal, text: str, any_case: bool) -> bool:
    if refusal.only:
        return text not in refusal.only
    if refusal.any_case:
        return text.upper() in map(str.upper, refusal.values)
    return text in refusal.values and not any_case


class Refused(NamedTuple):
    """A row: attributes of an argument, or variables; the values that are refused, or all that are
    not (`only`), else any; and the rule.
    """

    line: int
    names: tuple[str, ...]
    values: tuple[str, ...]
    only: tuple[str, ...]
    rule: str

    def ends(self, text: str, others: Iterable[str]) -> bool:
        """Tell whether it ends a run by a text that stands in a table with others."""
        return text in self.values or (
            text not in self.only and not {*self.only}.isdisjoint(others)
        )


def tables_of(out: Path) -> dict[str, list[tuple[int, tuple[Any, ...]]]]:
    """By name the rows of each table, with their lines; none of a file that is not there, or no
    Python, which the level *form* finds.
    """
    found: dict[str, list[tuple[int, tuple[Any, ...]]]] = {}
    tree = parsed((out / TABLE).read_bytes()) if (out / TABLE).is_file() else None
    for target, value in map(assigned, tree.body if tree is not None else ()):
        if isinstance(target, ast.Name) and isinstance(value, ast.Tuple):
            cells = (
                (row.lineno, getattr(row, "args", getattr(row, "elts", []))) for row in value.elts
            )
            found[target.id] = [
                (line, tuple(map(ast.literal_eval, parts))) for line, parts in cells
            ]
    return found


def refused_rows(out: Path) -> Iterator[Refused]:
    """Yield the rows about arguments, and those about environment variables."""
    tables = tables_of(out)
    for line, (_, attributes, values, only, _, rule, *_) in tables.get("REFUSALS", ()):
        yield Refused(line, attributes, values, only, rule)
    for line, (rule, variables) in tables.get("SWITCHES", ()):
        yield Refused(line, tuple(name.rstrip("=") for name in variables.split()), (), (), rule)
