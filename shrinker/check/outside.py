"""What comes into a server from outside, by upstream's text: flags, fields of requests, environment variables, enumerations that are made
of flags; and where the generated tree refuses them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from shrinker.check.entered import Asked, Choices, Entered
from shrinker.check.leftovers.vocabulary import foreign_words
from shrinker.ruleset import Ruleset
from shrinker.ruleset.match import name_matches, overlap
from shrinker.ruleset.models import Claim, Refusal

_DEPTH = 3
"""Short functions that are followed from one to the next."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is set from outside."""

    owner: str
    """Its class."""
    choices: tuple[str, ...] | None
    line: int


class Outside:
    """What comes in from outside, over all files."""

    def __init__(
        self, rules: Ruleset, files: Iterable[Entered], placed: frozenset[str], written: Callable[[str], bool]
    ) -> None:
        """Of files of upstream that the tree keeps. `placed` are ids of refusals at which the generated tree looks; `written` says whether one
        of the files of which a pattern may speak writes its last name."""
        self.rules = rules
        self._by_id = rules.by_id()
        self.written = written
        self.placed = placed
        kinds = [(pattern, entry.kind) for entry in rules.entries for pattern in entry.classes]
        self.flags: dict[str, Field] = {}
        self.requests: dict[str, Field] = {}
        self._fed: dict[str, set[str]] = defaultdict(set)
        self._gives: dict[str, set[str]] = defaultdict(set)
        self._enumerations: dict[str, list[Asked]] = defaultdict(list)
        self._sources: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        self.variables: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        files = [*files]
        self._lists: dict[str, list[Choices]] = defaultdict(list)
        for name, choices in (row for file in files for row in file.lists.items()):
            self._lists[name].append(choices)
        for file in files:
            for owner, name, annotated, line in file.fields:
                choices = annotated if any(annotated) else file.offered.get(name, annotated)
                field = Field(owner, tuple(sorted(self._texts(choices) or ())) or None, line)
                for kind in {kind for pattern, kind in kinds if name_matches(pattern, owner)}:
                    (self.flags if kind == "flag" else self.requests)[name] = field
            for made, flag in file.made:
                self._fed[made].add(flag)
            for function, given in file.gives:
                self._gives[function].add(given)
            for method, asked in ((method, each) for each in file.enumerations for method, _ in each.asks):
                self._enumerations[method].append(asked)
            for name, of, leaf in file.sources:
                self._sources[name].append((file.module, of, leaf))
            for name, how, yes in sorted(file.variables):
                self.variables[name].append((how, yes))
        self.refusals: dict[str, list[Refusal]] = defaultdict(list)
        """By the field that they look at."""
        for refusal in rules.refusals:
            for attribute in refusal.attributes if refusal.id in placed else ():
                self.refusals[attribute.rpartition(".")[2]].append(refusal)
        self.foreign = foreign_words(rules)

    def _texts(self, choices: Choices, seen: frozenset[str] = frozenset()) -> set[str] | None:
        """All of them, with those of lists that are anywhere; None where one of these is not known."""
        found = set(choices.texts)
        for name in choices.lists:
            lists = self._lists.get(name, ()) if name not in seen else ()
            more = [self._texts(each, seen | {name}) for each in lists]
            if not more or None in more:
                return None
            found.update(*(texts for texts in more if texts))
        return found

    def refused(self, name: str, text: str | None = None, any_case: bool = False) -> str:
        """The refusal of a field's value, of any value without one; empty for none."""
        for refusal in self.refusals[name]:
            cased = refusal.any_case or not any_case or refusal.only
            if refusal.set or (text is not None and cased and _covers(refusal, text)):
                return refusal.id
        return ""

    def dependent(self, flag: str) -> str:
        """The rule that says that a flag does nothing without another one, which is refused."""
        rules = (rule for rule in self.rules.dependents if self.placed.issuperset(rule.on))
        return next((rule.id for rule in rules if any(fnmatchcase(flag, pattern) for pattern in rule.flags)), "")

    def made_of(self, pattern: str) -> Iterator[tuple[Asked, str]]:
        """Enumerations that have the method of a pattern, each with a flag that it is made of."""
        before, _, method = pattern.rpartition(".")
        given = self._gives.get(before.rpartition(".")[2][:-2], set()) if before.endswith("()") else set()
        for asked in self._enumerations.get(method, ()):
            if not given or asked.name in given:
                yield from ((asked, flag) for flag in sorted(self._fed[asked.name]) if flag in self.flags)

    def leaves(self, pattern: str, depth: int = 0) -> set[tuple[str, str]]:
        """Kind and name of flags and variables from which a file that a pattern may speak of computes what it names."""
        found: set[tuple[str, str]] = set()
        if depth > _DEPTH:
            return found
        for module, kind, leaf in self._sources.get(pattern.rpartition(".")[2], ()):
            if pattern.startswith(".") or overlap(pattern, f"{module}.**"):
                found |= {(kind, leaf)} if kind != "call" else self.leaves(f".{leaf}", depth + 1)
        return found

    def stands(self, rule: str, seen: frozenset[str] = frozenset()) -> bool:
        """True when a rule from which another one follows holds by itself: a refusal that has its place, a removal, a claim."""
        found = self._by_id.get(rule)
        if found is None or rule in seen or (isinstance(found, Refusal) and rule not in self.placed):
            return False
        return not isinstance(found, Claim) or all(self.stands(each, seen | {rule}) for each in found.follows)


def _covers(refusal: Refusal, text: str) -> bool:
    if refusal.only:
        return text not in refusal.only
    return text in refusal.values or (refusal.any_case and text.upper() in map(str.upper, refusal.values))
